#include "engine/heal/giving.h"

#include "engine/core.h"
#include "engine/due/urgent.h"
#include "port/driven.h"

#define DRAIN DW_MILLISECONDS(50)  /* a shard is kept from starting timers for this long */
#define FREEZE DW_MILLISECONDS(50) /* calls about ids of the shard wait for this long */
#define AGAIN DW_MILLISECONDS(100) /* time between two attempts */
#define AGAIN_BUSY DW_SECONDS(1)   /* time between two attempts if deliveries run in every shard */

/* If no shard was given for this time, shards drain for as long as a usual delivery takes. If that
 * does not help, one shard drains for long. */
#define FAILING DW_SECONDS(2)
#define DRAIN_USUAL DW_SECONDS(6)
#define FAILING_LONG DW_SECONDS(10)
#define DRAIN_LONG DW_SECONDS(30)
#define LONG_PAUSE DW_MINUTES(5) /* pause between two long drains; it doubles each time */
#define LONG_PAUSE_MAX DW_HOURS(1)

/* ---- Which shards -------------------------------------------------------------------------- */

static bool may_give(const struct engine_shard *shard)
{
	return shard->owned && !shard->refused && !shard->drops;
}

/* choose returns the shard with the fewest deliveries that does not drain yet, or NULL. Among equal
 * shards it is the first one behind the shard that was chosen last. */
static struct engine_shard *choose(struct engine *engine)
{
	struct shards *shards = &engine->shards;
	struct giving *giving = &engine->ownership.giving;
	struct engine_shard *best = NULL;

	for (unsigned i = 0; i < shards->count; i++) {
		struct engine_shard *shard = &shards->all[(giving->next + i) % shards->count];

		if (may_give(shard) && shard->giving == GIVING_NOT &&
		    (!best || shard->running < best->running))
			best = shard;
	}
	if (best)
		giving->next = (unsigned)(best - shards->all) + 1;
	return best;
}

/* ---- For how long -------------------------------------------------------------------------- */

/* choose_patience returns for how long the next attempt drains. */
static dw_usec choose_patience(const struct giving *giving, dw_usec steady)
{
	if (giving->failing == 0 || steady < usec_add(giving->failing, FAILING))
		return DRAIN;
	if (!giving->needs_long)
		return DRAIN_USUAL;
	if (steady < usec_add(giving->failing, FAILING_LONG) || steady < giving->long_at)
		return DRAIN;
	return DRAIN_LONG;
}

/* note_end changes the patience of later attempts by the result of this attempt. */
static void note_end(struct giving *giving, dw_usec steady)
{
	if (giving->patience == DRAIN_LONG) {
		giving->long_pause = giving->long_pause
					 ? usec_min(2 * giving->long_pause, LONG_PAUSE_MAX)
					 : LONG_PAUSE;
		giving->long_at = usec_add(steady, giving->long_pause);
	} else if (giving->has_given) {
		giving->needs_long = false;
	} else if (giving->patience == DRAIN_USUAL && steady >= giving->until) {
		giving->needs_long = true;
	}
}

/* ---- An attempt ---------------------------------------------------------------------------- */

static void drain(struct giving *giving, struct engine_shard *shard)
{
	shard->giving = GIVING_DRAINS;
	giving->draining++;
}

static void drain_all(struct engine *engine)
{
	struct shards *shards = &engine->shards;

	for (unsigned i = 0; i < shards->count; i++)
		if (may_give(&shards->all[i]) && shards->all[i].giving == GIVING_NOT)
			drain(&engine->ownership.giving, &shards->all[i]);
}

static void begin(struct engine *engine, dw_usec steady)
{
	struct giving *giving = &engine->ownership.giving;
	struct engine_shard *shard;
	bool is_alone;
	unsigned count;

	giving->patience = choose_patience(giving, steady);
	giving->until = usec_add(steady, giving->patience);
	giving->has_given = false;
	is_alone = giving->patience == DRAIN || giving->patience == DRAIN_LONG;
	count = is_alone ? 1 : driven_surplus(engine->store);
	while (giving->draining < count && (shard = choose(engine)))
		drain(giving, shard);
	if (giving->draining == 0)
		giving->at = usec_add(steady, AGAIN);
}

/* end is called when no shard drains, and each GIVE is answered. */
static void end(struct engine *engine, bool is_busy)
{
	struct giving *giving = &engine->ownership.giving;
	dw_usec steady = engine_steady(engine);

	note_end(giving, steady);
	if (giving->has_given) {
		/* If more shards must be given, they are probably as busy as these shards were. So
		 * `failing` stays, and the next attempt is as long as this one. */
		if (giving->patience != DRAIN_USUAL || driven_surplus(engine->store) == 0)
			giving->failing = 0;
		giving->at = steady;
		return;
	}
	if (giving->failing == 0)
		giving->failing = steady;
	giving->at = usec_add(steady, is_busy ? AGAIN_BUSY : AGAIN);
}

/* leave_out ends the giving of a shard: its timers start again. The turn looks at the timers in its
 * list again. */
static void leave_out(struct shards *shards, struct engine_shard *shard)
{
	shard->giving = GIVING_NOT;
	shards->more = true;
}

/* ---- Draining ------------------------------------------------------------------------------ */

/* may_return returns true if the timer has not started, and no operation or call of the timer is
 * under way. A put with DW_NEW may be under way for a timer that stays in its list. If the store
 * has failed, the timer waits for a later attempt. A hold whose cancel came too late is not
 * delivered again, so it must start here. */
static bool may_return(const struct timer *timer)
{
	return (timer->state == TIMER_CLAIMED || timer->unstarted) && !timer->busy &&
	       !timer->calls && timer->failures == 0 && !timer->no_retry;
}

static void return_each(struct engine *engine, struct timer *first)
{
	for (struct timer *timer = first, *next; timer; timer = next) {
		const struct engine_shard *shard = &engine->shards.all[timer->shard];

		next = timer->next;
		if (shard->giving == GIVING_DRAINS && shard->running == 0 && may_return(timer))
			urgent_give_back(engine, timer);
	}
}

static void return_each_of_topic(struct topic *topic, void *user)
{
	return_each(user, topic->ready);
	return_each(user, topic->gathered);
}

/* has_unstarted returns true if claims or holds must be given back before the shard can be given.
 * If a delivery runs, its end comes first. */
static bool has_unstarted(const struct engine_shard *shard)
{
	return shard->giving == GIVING_DRAINS && shard->running == 0 && shard->unstarted > 0;
}

/* give_back gives back the timers that have not started in the shards that drain. Suspended timers
 * are in the list of their shard, and other timers in the lists of their topics. */
static void give_back(struct engine *engine)
{
	struct shards *shards = &engine->shards;
	bool any = false;

	for (unsigned i = 0; i < shards->count; i++) {
		if (!has_unstarted(&shards->all[i]))
			continue;
		return_each(engine, shards->all[i].suspended.first);
		any = true;
	}
	if (any)
		topics_each(&engine->topics, return_each_of_topic, engine);
}

static void ask(struct engine *engine, unsigned number, dw_usec steady)
{
	struct giving *giving = &engine->ownership.giving;
	dw_op *op = op_new(&engine->alloc, DW_OP_GIVE, NULL, NULL, 0);

	if (!op) {
		giving->at = usec_add(steady, AGAIN);
		return;
	}
	op->limit = number;
	engine->shards.all[number].giving = GIVING_ASKED;
	giving->draining--;
	giving->asked++;
	submit_push(&engine->submit, op, true);
}

/* is_given_up returns true if the shard stays with this peer. Either it had no quiet moment in
 * time, or it cannot be given now, or this peer has no longer too many shards. */
static bool is_given_up(const struct engine *engine, const struct engine_shard *shard,
			dw_usec steady)
{
	const struct giving *giving = &engine->ownership.giving;

	if (giving->is_leaving || !may_give(shard))
		return !may_give(shard);
	return steady >= giving->until || giving->draining > driven_surplus(engine->store) ||
	       (shard->giving == GIVING_WAITS && steady >= shard->give_until);
}

/* is_last returns true if this peer leaves, and no other peer can take its shards. Then the store
 * releases the leases when it stops. */
static bool is_last(const struct ownership *ownership)
{
	return ownership->giving.is_leaving && ownership->sharing.last.members == 1;
}

static void go_on(struct engine *engine, unsigned number, dw_usec steady)
{
	struct giving *giving = &engine->ownership.giving;
	struct engine_shard *shard = &engine->shards.all[number];

	if (is_given_up(engine, shard, steady)) {
		giving->draining--;
		leave_out(&engine->shards, shard);
		return;
	}
	if (shard->running > 0 || shard->unstarted > 0 || steady < giving->at)
		return;
	if (shard->giving == GIVING_DRAINS) {
		shard->giving = GIVING_WAITS;
		shard->give_until = usec_add(steady, FREEZE);
	}
	if (shard->busy == 0 && !is_last(&engine->ownership))
		ask(engine, number, steady);
}

static void go_on_with_each(struct engine *engine, dw_usec steady)
{
	struct giving *giving = &engine->ownership.giving;
	struct shards *shards = &engine->shards;
	bool is_busy = false;

	give_back(engine);
	for (unsigned i = 0; giving->draining > 0 && i < shards->count; i++) {
		if (shards->all[i].giving != GIVING_DRAINS && shards->all[i].giving != GIVING_WAITS)
			continue;
		is_busy |= shards->all[i].running > 0;
		go_on(engine, i, steady);
	}
	if (giving->draining + giving->asked == 0)
		end(engine, is_busy);
}

/* ---- The turn ------------------------------------------------------------------------------ */

/* wants_to_begin returns true if shards should be given as soon as the last attempt is over. */
static bool wants_to_begin(const struct engine *engine)
{
	const struct giving *giving = &engine->ownership.giving;

	return engine->env.is_peer && engine->ownership.role == DW_OWNER && !giving->is_leaving &&
	       giving->draining + giving->asked == 0 && driven_surplus(engine->store) > 0;
}

void giving_round(struct engine *engine)
{
	struct giving *giving = &engine->ownership.giving;
	bool wants = wants_to_begin(engine);
	dw_usec steady;

	if (giving->is_leaving && engine->ownership.role == DW_OWNER &&
	    driven_has_members(engine->store))
		drain_all(engine);
	if (!wants && giving->draining == 0)
		return;
	steady = engine_steady(engine);
	if (wants && steady >= giving->at)
		begin(engine, steady);
	if (giving->draining > 0)
		go_on_with_each(engine, steady);
}

/* end_of_drain returns when the shards that drain are looked at again; steady. */
static dw_usec end_of_drain(const struct engine *engine, dw_usec steady)
{
	const struct giving *giving = &engine->ownership.giving;
	dw_usec at = giving->until;

	if (giving->at > steady)
		at = usec_min(at, giving->at);
	for (unsigned i = 0; !giving->is_leaving && i < engine->shards.count; i++)
		if (engine->shards.all[i].giving == GIVING_WAITS)
			at = usec_min(at, engine->shards.all[i].give_until);
	return at;
}

dw_usec giving_wake(const struct engine *engine, dw_usec now)
{
	const struct giving *giving = &engine->ownership.giving;
	bool drains = giving->draining > 0;
	dw_usec steady, at;

	if (walk_is_on(&engine->walk) || (!drains && !wants_to_begin(engine)))
		return DW_NEVER; /* a turn follows the end of the walk */
	steady = engine_steady(engine);
	at = drains ? end_of_drain(engine, steady) : giving->at;
	return at == DW_NEVER ? at : usec_add(now, usec_max(usec_sub(at, steady), 0));
}

/* If the GIVE has failed and the peer leaves, the shard drains further, so it starts nothing
 * more. */
void giving_answered(struct engine *engine, const dw_op *op)
{
	struct giving *giving = &engine->ownership.giving;
	struct engine_shard *shard = &engine->shards.all[op->limit];

	giving->asked--;
	if (op->status == DW_OK) {
		leave_out(&engine->shards, shard);
		shards_lose(engine, (unsigned)op->limit);
		giving->has_given = true;
	} else if (giving->is_leaving) {
		shard->giving = GIVING_DRAINS;
		giving->draining++;
		giving->at = usec_add(engine_steady(engine), AGAIN);
	} else {
		leave_out(&engine->shards, shard);
	}
	if (giving->draining + giving->asked == 0)
		end(engine, false);
}

void giving_leave(struct engine *engine)
{
	engine->ownership.giving.is_leaving = true;
	engine->ownership.giving.until = DW_NEVER; /* an attempt that is under way has no limit */
	driven_leave(engine->store);
	engine_touch(engine);
}
