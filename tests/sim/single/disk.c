#include "sim/single/single.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static struct disk *disk_of(dw_store *store)
{
	return (struct disk *)store;
}

/* ---- Owning -------------------------------------------------------------------------------- */

/* check_owner: when another owner took over the store, the parked operation is answered before all
 * others. */
static void check_owner(struct disk *disk)
{
	if (!ownership_check(&disk->own) || !disk->parked)
		return;
	disk->parked->status = ownership_refusal(&disk->own);
	op_queue_push(&disk->answers, disk->parked);
	disk->parked = NULL;
	instance_wake(&disk->single->instance);
}

static void disk_turn(dw_store *store, dw_usec steady)
{
	struct disk *disk = disk_of(store);

	if (steady < disk->own.renew_at || disk->sim->at_work->dead || disk->stopped)
		return;
	check_owner(disk);
	/* In the engine's turn: an engine that stands still loses its lease. */
	ownership_renew(&disk->own);
}

static dw_usec disk_due(const dw_store *store)
{
	return ((const struct disk *)store)->own.renew_at;
}

static dw_usec disk_lease(const dw_store *store, unsigned shard)
{
	const struct disk *disk = (const struct disk *)store;

	(void)shard; /* there is one */
	/* Due timers leave their schedule until the lease is renewed, and come back behind others
	 * of the same deadline. */
	if (disk->sim->clocks.steady >= disk->own.told)
		order_forget(disk->sim);
	return disk->sim->bug == BUG_AFTER_LEASE ? DW_NEVER : disk->own.told;
}

/* remember a put that was done and is answered DW_EUNKNOWN: the engine may send it again. */
static void remember(struct disk *disk, const dw_op *op)
{
	struct sim *sim = disk->sim;

	if (op->kind == DW_OP_PUT && op->status == DW_OK && chance(sim, 7000))
		disk->done[promises_name(sim, op->id)->number] =
		    calls_of_body(sim, op->body, op->body_size);
}

/* ---- Applying ------------------------------------------------------------------------------ */

/* forget removes all results from the answer. */
static void forget(const struct alloc *alloc, dw_op *op, const dw_head *wanted)
{
	rows_free(alloc, op->rows);
	alloc_free(alloc, op->store_status);
	op->rows = NULL;
	op->row_count = 0;
	op->store_status = NULL;
	op->head = *wanted;
}

/* take_over makes the process the owner, unless the second owner is. */
static bool take_over(struct disk *disk, dw_op *op)
{
	struct sim *sim = disk->sim;

	op->status = disk->single->second_owner.owns ? DW_EOWNED : DW_OK;
	trace(sim, "own", "", op->status, 0);
	if (op->status == DW_OK)
		ownership_begin(&disk->own);
	return true;
}

/* answer_done: the store remembers that it did this put before. */
static bool answer_done(struct disk *disk, dw_op *op)
{
	struct sim *sim = disk->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct table_caller caller = {.token = disk->own.token, .role = DW_OWNER};
	dw_op *get;

	if (op->kind != DW_OP_PUT || !(op->flags & DW_OP_AGAIN) ||
	    disk->done[promises_name(sim, op->id)->number] !=
		calls_of_body(sim, op->body, op->body_size))
		return false;
	get = op_new(&alloc, DW_OP_GET, op->id, NULL, 0);
	(void)table_apply(disk->single->table, get, &caller);
	op->flags |= DW_OP_DONE;
	op->status = DW_OK;
	op->rows = get->rows;
	op->row_count = get->row_count;
	get->rows = NULL;
	op_free(&alloc, get);
	trace(sim, "done before", op->id, op->row_count > 0, 0);
	return true;
}

/* apply carries out one operation. False: it is an INBOX that has to wait. */
static bool apply(struct disk *disk, dw_op *op)
{
	struct sim *sim = disk->sim;
	dw_role role = disk->own.standing == STANDING_OWNER ? DW_OWNER : DW_CLIENT;
	struct table_caller caller = {
	    .token = disk->own.token, .role = role, .now = clocks_wall(sim)};
	dw_head wanted = op->head;

	if (op->kind == DW_OP_OWN)
		return take_over(disk, op);
	if (answer_done(disk, op))
		return true;
	if (op->kind == DW_OP_SCAN && op->limit > disk->single->knobs.page)
		op->limit = disk->single->knobs.page;
	if (!table_bugs_apply(disk->single, op, &caller))
		return false;
	trace(sim, "apply", op->id ? op->id : "", op->kind, op->status);
	operation_applied(sim, op, &wanted, role);
	return true;
}

static bool may_park(struct disk *disk, dw_op *op)
{
	if (op->kind != DW_OP_INBOX || disk->parked)
		return false;
	disk->parked = op;
	return true;
}

/* take carries out one operation of a group, or fails it. */
static void take(struct disk *disk, struct group *group, dw_op *op, bool unknown)
{
	struct sim *sim = disk->sim;
	struct alloc alloc = memory_alloc(&disk->single->instance.account);
	dw_head wanted = op->head;

	if (!ownership_permits(&disk->own, op)) {
		trace(sim, "fenced", op->id ? op->id : "", op->kind, 0);
		op->status = ownership_refusal(&disk->own);
		op_queue_push(&group->ops, op);
		return;
	}
	if (chance(sim, sim->knobs.fail)) {
		op->status = op->kind == DW_OP_PUT && chance(sim, 5000) ? DW_ELIMIT : DW_ESTORE;
		trace(sim, "fail", op->id ? op->id : "", op->kind, op->status);
		faults_disturb(sim, sim->clocks.steady);
	} else if (!apply(disk, op)) {
		if (may_park(disk, op))
			return;
		op->status = DW_EBUSY;
	}
	if (unknown) {
		remember(disk, op);
		forget(&alloc, op, &wanted);
		op->status = DW_EUNKNOWN;
	}
	op_queue_push(&group->ops, op);
}

/* lose: the operation was not applied, and its caller cannot know. */
static void lose(struct disk *disk, struct group *group, dw_op *op)
{
	trace(disk->sim, "not applied", op->id ? op->id : "", op->kind, 0);
	op->status = DW_EUNKNOWN;
	op_queue_push(&group->ops, op);
}

/* delay of one way: usually short, sometimes long. */
static dw_usec delay(struct disk *disk)
{
	struct sim *sim = disk->sim;
	dw_usec time;

	if (!chance(sim, sim->knobs.slow))
		return 20 + (dw_usec)draw(sim, chance(sim, 500) ? 5000 : 600);
	time = (dw_usec)draw(sim, (uint64_t)DW_MILLISECONDS(1500));
	trace(sim, "slow", "", time, 0);
	faults_disturb(sim, sim->clocks.steady + time);
	return time;
}

static struct group *new_group(struct disk *disk)
{
	uint32_t last = (disk->group_first + disk->group_count) % GROUPS_MAX;
	dw_usec earliest = disk->sim->clocks.steady;

	assert(disk->group_count < GROUPS_MAX);
	if (disk->group_count > 0)
		earliest = usec_max(earliest,
				    disk->groups[(last + GROUPS_MAX - 1) % GROUPS_MAX].answer_at);
	disk->groups[last] = (struct group){.answer_at = earliest + delay(disk)};
	disk->group_count++;
	return &disk->groups[last];
}

static void schedule(struct disk *disk)
{
	disk->apply_at = DW_NEVER;
	if (disk->submitted.first)
		disk->apply_at = disk->sim->clocks.steady + delay(disk);
}

/* commit_group applies all submitted operations, or the first part of them. */
static void commit_group(struct disk *disk)
{
	struct sim *sim = disk->sim;
	struct group *group = new_group(disk);
	bool unknown = chance(sim, disk->single->knobs.unknown);
	bool done = !unknown || chance(sim, 5000);
	size_t count = disk->submitted.count;

	if (chance(sim, 2000))
		count = 1 + (size_t)draw(sim, count);
	if (unknown) {
		trace(sim, "unknown", "", done, (int64_t)count);
		faults_disturb(sim, sim->clocks.steady);
	}
	for (size_t i = 0; i < count; i++) {
		dw_op *op = op_queue_pop(&disk->submitted);

		if (done)
			take(disk, group, op, unknown);
		else
			lose(disk, group, op);
	}
	schedule(disk);
}

/* commit applies a group, unless the store is out of reach. */
static void commit(struct disk *disk)
{
	check_owner(disk);
	if (disk->sim->clocks.steady < disk->single->lease.away_until)
		disk->apply_at = disk->single->lease.away_until;
	else
		commit_group(disk);
}

void disk_news(struct disk *disk)
{
	dw_op *op = disk ? disk->parked : NULL;

	if (!op || !ownership_holds(&disk->own) || disk->group_count == GROUPS_MAX ||
	    !apply(disk, op))
		return;
	disk->parked = NULL;
	op_queue_push(&new_group(disk)->ops, op);
}

/* ---- Time ---------------------------------------------------------------------------------- */

static bool can_commit(const struct disk *disk)
{
	return disk->group_count < GROUPS_MAX && disk->submitted.first;
}

dw_usec disk_next(const struct disk *disk)
{
	dw_usec at = can_commit(disk) ? disk->apply_at : DW_NEVER;

	if (disk->group_count > 0)
		at = usec_min(at, disk->groups[disk->group_first].answer_at);
	return at;
}

static void deliver(struct disk *disk)
{
	struct group *group = &disk->groups[disk->group_first];

	trace(disk->sim, "answers", "", (int64_t)group->ops.count, 0);
	op_queue_append(&disk->answers, op_queue_take(&group->ops));
	disk->group_first = (disk->group_first + 1) % GROUPS_MAX;
	disk->group_count--;
	if (disk->answers.first)
		instance_wake(&disk->single->instance);
}

void disk_work(struct disk *disk)
{
	dw_usec now = disk->sim->clocks.steady;

	if (disk->group_count > 0 && disk->groups[disk->group_first].answer_at <= now)
		deliver(disk);
	else if (can_commit(disk) && disk->apply_at <= now)
		commit(disk);
	disk_news(disk);
}

bool disk_idle(const struct disk *disk)
{
	return !disk->submitted.first && disk->group_count == 0 && !disk->answers.first;
}

/* ---- The engine's side --------------------------------------------------------------------- */

static void disk_submit(dw_store *store, dw_op *batch)
{
	struct disk *disk = disk_of(store);

	if (disk->sim->at_work->dead) {
		struct alloc alloc = memory_alloc(&disk->single->instance.account);

		while (batch) {
			dw_op *next = batch->next;

			op_free(&alloc, batch);
			batch = next;
		}
		return;
	}
	for (dw_op *op = batch; op; op = op->next) {
		op->level = DW_STORED;
		order_submitted(disk->sim, op);
		terms_sent(&disk->own.terms, op);
	}
	op_queue_append(&disk->submitted, batch);
	if (disk->apply_at == DW_NEVER)
		schedule(disk);
}

static dw_op *disk_collect(dw_store *store)
{
	struct disk *disk = disk_of(store);

	for (dw_op *op = disk->answers.first; op; op = op->next) {
		if (op->status == DW_EFENCED)
			ownership_told(&disk->own);
		order_collected(disk->sim, op, terms_is_current(&disk->own.terms, op));
	}
	return op_queue_take(&disk->answers);
}

/* disk_stop finishes what has begun; sometimes that takes longer than the caller waits. */
static int disk_stop(dw_store *store, dw_usec patience)
{
	struct disk *disk = disk_of(store);
	bool late = chance(disk->sim, 2000);
	dw_op *op;

	(void)patience;
	disk->stopped = true;
	ownership_release(&disk->own);
	if (late)
		return DW_ETIMEOUT;
	if (can_commit(disk) && chance(disk->sim, 5000))
		commit(disk);
	while (disk->group_count > 0)
		deliver(disk);
	if (disk->parked)
		op_queue_push(&disk->submitted, disk->parked);
	disk->parked = NULL;
	while ((op = op_queue_pop(&disk->submitted))) {
		op->status = DW_ECLOSED;
		op_queue_push(&disk->answers, op);
	}
	return DW_OK;
}

/* ---- Beginning and end --------------------------------------------------------------------- */

static void free_queue(struct disk *disk, struct op_queue *queue)
{
	struct alloc alloc = memory_alloc(&disk->single->instance.account);
	dw_op *op;

	while ((op = op_queue_pop(queue)))
		op_free(&alloc, op);
}

/* disk_crash: a running commit is completed or not, and its operations get no answer. */
void disk_crash(struct disk *disk)
{
	if (can_commit(disk) && chance(disk->sim, 5000))
		commit(disk);
}

void disk_free(struct disk *disk)
{
	struct alloc alloc = memory_alloc(&disk->sim->table_account);

	free_queue(disk, &disk->submitted);
	free_queue(disk, &disk->answers);
	for (uint32_t i = 0; i < GROUPS_MAX; i++)
		free_queue(disk, &disk->groups[i].ops);
	if (disk->parked)
		op_queue_push(&disk->answers, disk->parked);
	free_queue(disk, &disk->answers);
	alloc_free(&alloc, disk);
}

static void disk_free_store(dw_store *store)
{
	disk_free(disk_of(store));
}

struct disk *disk_open(struct single *single)
{
	struct sim *sim = single->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct disk *disk = alloc_new(&alloc, sizeof *disk);

	disk->type = (dw_store_class){.size = sizeof disk->type,
				      .name = "simulated",
				      .submit = disk_submit,
				      .collect = disk_collect,
				      .stop = disk_stop,
				      .free = disk_free_store,
				      .turn = disk_turn,
				      .due = disk_due,
				      .lease = disk_lease,
				      .loads_by_generation = 1};
	if (single->knobs.takeover == 0) /* a store without the newer members of the class */
		disk->type.size = offsetof(dw_store_class, descriptor);
	disk->store.type = &disk->type;
	disk->single = single;
	disk->sim = sim;
	disk->own = (struct ownership){.single = single, .standing = STANDING_CLIENT};
	disk->apply_at = disk->own.renew_at = DW_NEVER;
	if (!single->second_owner.owns)
		ownership_begin(&disk->own);
	return disk;
}
