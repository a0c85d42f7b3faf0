/* The store: the durable part is a table that outlives every process, the rest is on its way. What
 * was submitted and not applied is lost in a crash, and so is an answer that was not delivered. A
 * group of operations is applied at one moment, together or not at all. */
#include "sim/sim.h"

#include <assert.h>
#include <string.h>

static struct disk *disk_of(dw_store *store)
{
	return (struct disk *)store;
}

/* ---- Applying ------------------------------------------------------------------------------ */

/* forget makes the answer say nothing of what was done. */
static void forget(const struct alloc *alloc, dw_op *op, const dw_head *wanted)
{
	rows_free(alloc, op->rows);
	alloc_free(alloc, op->store_status);
	op->rows = NULL;
	op->row_count = 0;
	op->store_status = NULL;
	op->head = *wanted;
}

/* apply carries one operation out; false: it is parked. */
static bool apply(struct disk *disk, dw_op *op)
{
	struct sim *sim = disk->sim;
	struct table_caller caller = {
	    .token = disk->token, .role = DW_OWNER, .now = clocks_wall(sim)};
	dw_head wanted = op->head;

	if (op->kind == DW_OP_SCAN && op->limit > sim->knobs.page)
		op->limit = sim->knobs.page;
	if (!bug_apply(sim, op, &caller))
		return false;
	trace(sim, "apply", op->id ? op->id : "", op->kind, op->status);
	model_applied(sim, op, &wanted, DW_OWNER);
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
	struct alloc alloc = memory_alloc(disk->account);
	dw_head wanted = op->head;

	if (chance(sim, sim->knobs.fail)) {
		op->status = op->kind == DW_OP_PUT && chance(sim, 5000) ? DW_ELIMIT : DW_ESTORE;
		trace(sim, "fail", op->id ? op->id : "", op->kind, op->status);
		world_disturbed(sim, sim->clocks.steady);
	} else if (!apply(disk, op)) {
		if (may_park(disk, op))
			return;
		op->status = DW_EBUSY;
	}
	if (unknown) {
		forget(&alloc, op, &wanted);
		op->status = DW_EUNKNOWN;
	}
	op_queue_push(&group->ops, op);
}

/* lose: the operation was not applied, and nobody knows. */
static void lose(struct disk *disk, struct group *group, dw_op *op)
{
	trace(disk->sim, "not applied", op->id ? op->id : "", op->kind, 0);
	op->status = DW_EUNKNOWN;
	op_queue_push(&group->ops, op);
}

/* delay of one way: mostly short, sometimes long. */
static dw_usec delay(struct disk *disk)
{
	struct sim *sim = disk->sim;
	dw_usec time;

	if (!chance(sim, sim->knobs.slow))
		return 20 + (dw_usec)draw(sim, chance(sim, 500) ? 5000 : 600);
	time = (dw_usec)draw(sim, (uint64_t)DW_MILLISECONDS(1500));
	trace(sim, "slow", "", time, 0);
	world_disturbed(sim, sim->clocks.steady + time);
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

/* commit applies a group: all that was submitted, or the first part of it. */
static void commit(struct disk *disk)
{
	struct sim *sim = disk->sim;
	struct group *group = new_group(disk);
	bool unknown = chance(sim, sim->knobs.unknown);
	bool done = !unknown || chance(sim, 5000);
	size_t count = disk->submitted.count;

	if (chance(sim, 2000))
		count = 1 + (size_t)draw(sim, count);
	if (unknown) {
		trace(sim, "unknown", "", done, (int64_t)count);
		world_disturbed(sim, sim->clocks.steady);
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

void disk_news(struct disk *disk)
{
	dw_op *op = disk ? disk->parked : NULL;

	if (!op || disk->group_count == GROUPS_MAX || !apply(disk, op))
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

static void wake(struct sim *sim)
{
	if (sim->woken)
		return;
	sim->woken = true;
	sim->wake_at = sim->clocks.steady + (dw_usec)draw(sim, 30);
}

static void deliver(struct disk *disk)
{
	struct group *group = &disk->groups[disk->group_first];

	trace(disk->sim, "answers", "", (int64_t)group->ops.count, 0);
	op_queue_append(&disk->answers, op_queue_take(&group->ops));
	disk->group_first = (disk->group_first + 1) % GROUPS_MAX;
	disk->group_count--;
	if (disk->answers.first)
		wake(disk->sim);
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

static void submit(dw_store *store, dw_op *batch)
{
	struct disk *disk = disk_of(store);

	if (disk->sim->dead) {
		struct alloc alloc = memory_alloc(disk->account);

		while (batch) {
			dw_op *next = batch->next;

			op_free(&alloc, batch);
			batch = next;
		}
		return;
	}
	for (dw_op *op = batch; op; op = op->next)
		order_submitted(disk->sim, op);
	op_queue_append(&disk->submitted, batch);
	if (disk->apply_at == DW_NEVER)
		schedule(disk);
}

static dw_op *collect(dw_store *store)
{
	struct disk *disk = disk_of(store);

	for (dw_op *op = disk->answers.first; op; op = op->next)
		order_collected(disk->sim, op);
	return op_queue_take(&disk->answers);
}

/* stop: what has begun is finished; sometimes that takes longer than anybody waits. */
static int stop(dw_store *store, dw_usec patience)
{
	struct disk *disk = disk_of(store);
	bool late = chance(disk->sim, 2000);
	dw_op *op;

	(void)patience;
	disk->stopped = true;
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
	struct alloc alloc = memory_alloc(disk->account);
	dw_op *op;

	while ((op = op_queue_pop(queue)))
		op_free(&alloc, op);
}

/* disk_crash: a commit that was under way is done, or not; nobody is told. */
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

static void free_store(dw_store *store)
{
	disk_free(disk_of(store));
}

struct disk *disk_open(struct sim *sim)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct disk *disk = alloc_new(&alloc, sizeof *disk);

	disk->type = (dw_store_class){.size = sizeof disk->type,
				      .name = "simulated",
				      .level = DW_STORED,
				      .submit = submit,
				      .collect = collect,
				      .stop = stop,
				      .free = free_store};
	disk->store.type = &disk->type;
	disk->sim = sim;
	disk->account = &sim->engine_account;
	disk->token = rng_next(&sim->rng) | 1;
	disk->apply_at = DW_NEVER;
	(void)table_own(sim->table, "the simulation", clocks_wall(sim)); /* its memory is endless */
	return disk;
}
