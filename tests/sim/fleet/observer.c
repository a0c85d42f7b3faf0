#include "sim/fleet/observer.h"

#include <string.h>

#include "sim/fleet/fleet.h"
#include "sim/fleet/newer.h"

#define GIVES DW_MILLISECONDS(200) /* one attempt to give a shard may last so long */

static struct observer *observer_of(dw_store *store)
{
	return (struct observer *)store;
}

static const struct observer *const_observer_of(const dw_store *store)
{
	return (const struct observer *)store;
}

static void note_loss(struct process *process)
{
	struct knowledge *knowledge = &process->observer.knowledge;

	terms_lost(&knowledge->terms);
	memset(knowledge->known, 0, sizeof knowledge->known);
	memset(knowledge->owned, 0, sizeof knowledge->owned);
	losses_owner_told(process);
}

static bool is_owner(const struct observer *observer)
{
	return engine_is_owner(observer->process->instance.engine);
}

/* lose_shard: the engine learns that another process has a shard, or had it. */
static void lose_shard(const struct observer *observer, unsigned shard)
{
	struct process *process = observer->process;
	struct sim *sim = process->instance.sim;

	trace(sim, "lost shard", "", shard, process->instance.number);
	process->observer.knowledge.owned[shard] = false;
	for (struct name *name = sim->promises.first; name; name = name->next) {
		if (observer->real->type->shard_of(observer->real, name->id) != shard)
			continue;
		process->observer.knowledge.known[name->number] = 0;
		deliveries_lost_of(sim, name);
	}
	losses_shard_given_up(process->fleet, shard);
}

/* lose_fenced: so it does by an answer DW_EFENCED, of all shards that are not its own. One that is
 * refused has no lease, and is still its own. */
static void lose_fenced(const struct observer *observer, const dw_op *op)
{
	const dw_store *real = observer->real;
	unsigned shard = op->id ? real->type->shard_of(real, op->id) : 0;

	if (!is_owner(observer))
		return;
	for (unsigned i = 0; i < real->type->shards(real); i++)
		if ((!observer->refused[i] && real->type->lease(real, i) == INT64_MIN) ||
		    (op->id && i == shard))
			lose_shard(observer, i);
}

static void observer_submit(dw_store *store, dw_op *batch)
{
	struct observer *observer = observer_of(store);
	struct sim *sim = observer->process->instance.sim;

	for (dw_op *op = batch; op; op = op->next) {
		trace(sim, "submit", op->id ? op->id : "",
		      op->kind * 10 + observer->process->instance.number,
		      (int64_t)op->head.generation);
		order_submitted(sim, op);
		terms_sent(&observer->knowledge.terms, op);
		shard_bugs_submit(&observer->bugs, op);
		apart_submitted(observer->process->fleet, op);
		if (op->kind == DW_OP_DISOWN)
			note_loss(observer->process);
		if (op->kind == DW_OP_GIVE) {
			peers_gives(observer->process->fleet, observer->process);
			data_faults_given(observer->process->fleet, (unsigned)op->limit);
		}
		if (op->kind == DW_OP_LOSS)
			rebuild_done(observer->process, observer->real);
	}
	observer->real->type->submit(observer->real, batch);
	observer->knowledge.store_worked_at = sim->clocks.steady;
}

static void learn_of(struct process *process, const char *id, uint64_t generation)
{
	uint64_t *known =
	    &process->observer.knowledge.known[promises_name(process->instance.sim, id)->number];

	if (*known < generation)
		*known = generation;
}

/* note_own: a peer owns these shards from now on. */
static void note_own(const struct observer *observer)
{
	bool *owned = observer->process->observer.knowledge.owned;

	for (unsigned i = 0; i < observer->real->type->shards(observer->real); i++)
		owned[i] = observer->real->type->lease(observer->real, i) != INT64_MIN;
}

/* is_current: its engine takes what the answer tells of that timer. A peer is a client of the
 * shards that others have, and forgets what it is told of their timers. */
static bool is_current(const struct process *process, const dw_op *op, const char *id)
{
	const struct knowledge *knowledge = &process->observer.knowledge;
	unsigned shard = server_shard(&process->fleet->server, id);

	return ticket_of_const(op)->term >= knowledge->since[shard] &&
	       (knowledge->owned[shard] || !process->instance.sim->peers);
}

/* learn: the answer tells the engine, as the owner, about stored timers. */
static void learn(struct process *process, const dw_op *op)
{
	struct knowledge *knowledge = &process->observer.knowledge;
	struct sim *sim = process->instance.sim;
	/* The engine does not learn from a program's page or from an audit, which has a subject. */
	bool listed =
	    op->kind == DW_OP_SCAN ? ticket_of_const(op)->call != NULL : op->kind == DW_OP_GET;

	if (!engine_is_owner(process->instance.engine) ||
	    !terms_is_current(&knowledge->terms, op) || listed || op->kind == DW_OP_DEAD_SCAN)
		return;
	for (const dw_row *row = op->rows; row; row = row->next) {
		if (!is_current(process, op, row->id))
			continue;
		newer_met(process, row);
		learn_of(process, row->id, row->head.generation);
		if (row->gone)
			knowledge->ended[promises_name(sim, row->id)->number] =
			    row->head.generation;
	}
	if (op->id && op->status == DW_OK && op->kind != DW_OP_ACK &&
	    is_current(process, op, op->id))
		learn_of(process, op->id, op->head.generation);
	if (op->kind == DW_OP_LOSS && op->status == DW_OK) {
		knowledge->told_of_loss_at = knowledge->store_worked_at;
		order_forget(sim);
	}
	if ((op->status == DW_OK ||
	     (op->status == DW_ENOENT && (op->kind == DW_OP_SETTLE || op->kind == DW_OP_BURY))) &&
	    (op->kind == DW_OP_SETTLE || op->kind == DW_OP_BURY || op->kind == DW_OP_CANCEL))
		knowledge->ended[promises_name(sim, op->id)->number] = op->head.generation;
	if (op->status == DW_OK && op->kind == DW_OP_PURGE)
		memcpy(knowledge->ended, knowledge->known, sizeof knowledge->ended);
}

/* given: the engine learns that a shard is another peer's. */
static void given(struct observer *observer, dw_op *op)
{
	if (observer->process->instance.sim->bug == BUG_GIVEN_KEPT) {
		observer->kept[op->limit] = true;
		op->status = DW_EBUSY;
		return;
	}
	lose_shard(observer, (unsigned)op->limit);
}

/* observer_collect: the engine loses the ownership by an answer DW_EFENCED of this term. */
static dw_op *observer_collect(dw_store *store)
{
	struct observer *observer = observer_of(store);
	struct sim *sim = observer->process->instance.sim;
	dw_op *all =
	    shard_bugs_collect(&observer->bugs, observer->real->type->collect(observer->real));

	for (dw_op *op = all; op; op = op->next) {
		shard_bugs_answer(&observer->bugs, op);
		trace(sim, "answer", op->id ? op->id : "",
		      op->kind * 10 + observer->process->instance.number, op->status);
		for (dw_row *r = op->rows; r; r = r->next) {
			trace(sim, "row", r->id, (int64_t)r->head.generation, r->gone);
			if (sim->bug == BUG_NEWER_DAMAGED && r->status == DW_ENEWER)
				r->status = DW_ECORRUPT;
		}
		if (op->status == DW_EFENCED && terms_is_current(&observer->knowledge.terms, op)) {
			lose_fenced(observer, op);
			note_loss(observer->process);
		}
		if (op->kind == DW_OP_OWN && op->status == DW_OK)
			note_own(observer);
		learn(observer->process, op);
		if (op->kind == DW_OP_GIVE && op->status == DW_OK)
			given(observer, op);
		order_collected(sim, op,
				terms_is_current(&observer->knowledge.terms, op) &&
				    (!op->id || is_current(observer->process, op, op->id)));
	}
	return all;
}

static int observer_stop(dw_store *store, dw_usec patience)
{
	struct observer *observer = observer_of(store);

	return observer->real->type->stop(observer->real, patience);
}

static void observer_free_store(dw_store *store)
{
	struct observer *observer = observer_of(store);

	observer->real->type->free(observer->real);
	observer->real = NULL;
}

static void observer_turn(dw_store *store, dw_usec steady)
{
	struct observer *observer = observer_of(store);

	observer->real->type->turn(observer->real, steady);
	observer->knowledge.store_worked_at = steady;
}

static dw_usec observer_due(const dw_store *store)
{
	const struct observer *observer = const_observer_of(store);

	return observer->real->type->due(observer->real);
}

/* note_leases notes when the first lease ends. */
static void note_leases(const struct observer *observer)
{
	const dw_store *real = observer->real;
	dw_usec first = DW_NEVER;

	for (unsigned i = 0; i < real->type->shards(real); i++) {
		dw_usec until = real->type->lease(real, i);

		if (until != INT64_MIN)
			first = usec_min(first, until);
	}
	if (first != DW_NEVER)
		observer->process->observer.knowledge.leased = first;
}

/* touch_shard: the timers of the shard wait until it is in use again. */
static void touch_shard(const struct observer *observer, unsigned shard)
{
	const dw_store *real = observer->real;

	for (struct name *name = observer->process->instance.sim->promises.first; name;
	     name = name->next)
		if (real->type->shard_of(real, name->id) == shard)
			order_touched(name);
}

static dw_usec observer_lease(const dw_store *store, unsigned shard)
{
	const struct observer *observer = const_observer_of(store);
	dw_usec until = observer->real->type->lease(observer->real, shard);

	if (observer->process->instance.sim->clocks.steady < observer->gives_until)
		order_forget(observer->process->instance.sim);
	if (observer->process->instance.sim->bug == BUG_LATE_START || observer->kept[shard] ||
	    shard_bugs_begin(observer->process->instance.sim))
		return DW_NEVER;
	if (until == 0 && observer->process->instance.sim->bug == BUG_BEFORE_WRITTEN)
		return DW_NEVER;
	note_leases(observer);
	if (until <= observer->process->instance.sim->clocks.steady && is_owner(observer))
		touch_shard(observer, shard);
	return until;
}

static int observer_is_lost(const dw_store *store, const char *id)
{
	const struct observer *observer = const_observer_of(store);

	return observer->real->type->is_lost(observer->real, id);
}

static int observer_is_whole(dw_store *store)
{
	struct observer *observer = observer_of(store);

	return observer->real->type->is_whole(observer->real);
}

static int observer_trouble(const dw_store *store, char *ret_words, size_t size)
{
	const struct observer *observer = const_observer_of(store);

	return observer->real->type->trouble(observer->real, ret_words, size);
}

static unsigned observer_shards(const dw_store *store)
{
	const struct observer *observer = const_observer_of(store);

	return observer->real->type->shards(observer->real);
}

static unsigned observer_shard_of(const dw_store *store, const char *id)
{
	const struct observer *observer = const_observer_of(store);

	return observer->real->type->shard_of(observer->real, id);
}

static int observer_take_shard(dw_store *store, dw_shard_news *ret_news)
{
	struct observer *observer = observer_of(store);

	if (!shard_bugs_take(&observer->bugs, observer->real, ret_news))
		return false;
	observer->refused[ret_news->number] = ret_news->state == DW_SHARD_REFUSED;
	if (!is_owner(observer))
		return true;
	if (ret_news->state == DW_SHARD_FOREIGN)
		lose_shard(observer, ret_news->number);
	if (ret_news->state == DW_SHARD_OWNED)
		observer->knowledge.owned[ret_news->number] = true;
	if (ret_news->state != DW_SHARD_REFUSED)
		observer->knowledge.since[ret_news->number] = observer->knowledge.terms.sent + 1;
	return true;
}

/* observer_surplus: timers of a shard that is about to be given wait. */
static unsigned observer_surplus(const dw_store *store)
{
	const struct observer *observer = const_observer_of(store);
	struct sim *sim = observer->process->instance.sim;
	unsigned surplus = observer->real->type->surplus(observer->real);

	if (surplus > 0)
		observer->process->observer.gives_until = usec_add(sim->clocks.steady, GIVES);
	if (surplus > 0)
		shard_bugs_surplus(&observer->process->observer.bugs, observer->real);
	return surplus;
}

static void observer_sharing(const dw_store *store, dw_sharing *ret_sharing)
{
	const struct observer *observer = const_observer_of(store);

	observer->real->type->sharing(observer->real, ret_sharing);
}

void observer_init(struct observer *observer, struct process *process, dw_store *real)
{
	*observer = (struct observer){.real = real, .process = process};
	observer->bugs.process = process;
	observer->type = (dw_store_class){.size = sizeof observer->type,
					  .name = "spied on",
					  .submit = observer_submit,
					  .collect = observer_collect,
					  .stop = observer_stop,
					  .free = observer_free_store,
					  .turn = observer_turn,
					  .due = observer_due,
					  .lease = observer_lease,
					  .is_lost = observer_is_lost,
					  .is_whole = observer_is_whole,
					  .trouble = observer_trouble,
					  .shards = observer_shards,
					  .shard_of = observer_shard_of,
					  .take_shard = observer_take_shard,
					  .surplus = observer_surplus,
					  .sharing = observer_sharing};
	observer->store.type = &observer->type;
}
