/* The store: the durable part is a table that outlives every process, the rest is on its way. What
 * was submitted and not applied is lost in a crash, and so is an answer that was not delivered. A
 * group of operations is applied at one moment, together or not at all. */
#include "sim/core/sim.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static struct disk *disk_of(dw_store *store)
{
	return (struct disk *)store;
}

/* ---- Owning -------------------------------------------------------------------------------- */

/* owns: what is applied now is an owner's. */
static bool owns(const struct disk *disk)
{
	return disk->reign == REIGN_OWNER && disk->rivals == disk->sim->rival.count;
}

bool disk_may_start(const struct disk *disk)
{
	const struct sim *sim = disk->sim;

	return sim->knobs.rival == 0 || (owns(disk) && sim->clocks.steady < sim->leased_until);
}

bool disk_is_lost(const struct disk *disk)
{
	return disk->reign != REIGN_CLIENT && !owns(disk);
}

static dw_usec lease_time(const struct disk *disk)
{
	return DW_MILLISECONDS(disk->sim->knobs.lease_ms);
}

/* extend: the lease is taken, or renewed. What the engine is told ends earlier, as no clock of two
 * machines goes like the other one. */
static void extend(struct disk *disk)
{
	struct sim *sim = disk->sim;

	disk->leased_told = disk->renew_at = DW_NEVER;
	if (sim->knobs.rival == 0)
		return;
	sim->leased_until = sim->clocks.steady + lease_time(disk);
	disk->leased_told = sim->leased_until - DW_MILLISECONDS(2);
	disk->renew_at = sim->clocks.steady + lease_time(disk) / 3;
}

static void become_owner(struct disk *disk)
{
	struct sim *sim = disk->sim;

	disk->reign = REIGN_OWNER;
	disk->rivals = sim->rival.count;
	disk->token = rng_next(&sim->rng) | 1;
	extend(disk);
	(void)table_own(sim->table, "the simulation", clocks_wall(sim)); /* its memory is endless */
}

static void wake(struct sim *sim)
{
	if (sim->woken)
		return;
	sim->woken = true;
	sim->wake_at = sim->clocks.steady + (dw_usec)draw(sim, 30);
}

static int fenced_status(const struct disk *disk)
{
	return disk->sim->bug == BUG_FENCE_UNSEEN ? DW_ESTORE : DW_EFENCED;
}

/* watch_rival finds out that the store is another owner's, or was. */
static void watch_rival(struct disk *disk)
{
	if (disk->reign != REIGN_OWNER || owns(disk))
		return;
	trace(disk->sim, "lost", "", 0, 0);
	disk->reign = REIGN_FENCED;
	faults_disturb(disk->sim, disk->sim->clocks.steady);
	if (!disk->parked)
		return;
	disk->parked->status = fenced_status(disk);
	op_queue_push(&disk->answers, disk->parked); /* before what is on its way */
	disk->parked = NULL;
	wake(disk->sim);
}

/* renew: in the engine's turn, so an engine that stands still loses its lease. */
static void renew(struct disk *disk)
{
	struct sim *sim = disk->sim;

	watch_rival(disk);
	disk->renew_at = sim->clocks.steady + lease_time(disk) / 3;
	if (disk->reign == REIGN_CLIENT) {
		disk->renew_at = DW_NEVER;
	} else if (disk->reign == REIGN_FENCED) {
		if (sim->bug == BUG_FENCE_UNSEEN && !sim->rival.owns)
			become_owner(disk);
	} else if (sim->clocks.steady < sim->away_until) {
		trace(sim, "not renewed", "", 0, 0);
	} else if (chance(sim, sim->knobs.lapse)) {
		sim->away_until =
		    sim->clocks.steady + (dw_usec)draw(sim, 3 * (uint64_t)lease_time(disk));
		trace(sim, "away", "", sim->away_until, 0);
		faults_disturb(sim, sim->away_until + lease_time(disk));
	} else {
		extend(disk);
	}
}

static void turn(dw_store *store, dw_usec steady)
{
	struct disk *disk = disk_of(store);

	if (steady >= disk->renew_at && !disk->sim->dead && !disk->stopped)
		renew(disk);
}

static dw_usec due(const dw_store *store)
{
	return ((const struct disk *)store)->renew_at;
}

static dw_usec lease(const dw_store *store)
{
	const struct disk *disk = (const struct disk *)store;

	return disk->sim->bug == BUG_AFTER_LEASE ? DW_NEVER : disk->leased_told;
}

static bool is_owners(const dw_op *op)
{
	return op->kind == DW_OP_CLAIM || op->kind == DW_OP_SETTLE || op->kind == DW_OP_RETRY ||
	       op->kind == DW_OP_BURY || op->kind == DW_OP_INBOX || op->kind == DW_OP_ACK ||
	       op->kind == DW_OP_REPORT || op->kind == DW_OP_PURGE ||
	       op->flags & (DW_OP_CLAIMED | DW_OP_WITHDRAWN);
}

static bool is_fenced(const struct disk *disk, const dw_op *op)
{
	return disk->reign == REIGN_FENCED || (disk->reign == REIGN_CLIENT && is_owners(op));
}

/* remember: what the put has done is not told; it may be sent again. */
static void remember(struct disk *disk, const dw_op *op)
{
	struct sim *sim = disk->sim;

	if (op->kind == DW_OP_PUT && op->status == DW_OK && chance(sim, 7000))
		disk->done[model_name(sim, op->id)] =
		    model_asked_of(sim, op->body, op->body_size) + 1;
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

/* own: an owner from now on, unless the other one is. */
static bool take_over(struct disk *disk, dw_op *op)
{
	struct sim *sim = disk->sim;

	op->status = sim->rival.owns ? DW_EOWNED : DW_OK;
	trace(sim, "own", "", op->status, 0);
	if (op->status == DW_OK)
		become_owner(disk);
	return true;
}

/* answer_done: a put that was done before and is sent again; the store remembers. */
static bool answer_done(struct disk *disk, dw_op *op)
{
	struct sim *sim = disk->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct table_caller caller = {.token = disk->token, .role = DW_OWNER};
	dw_op *get;

	if (op->kind != DW_OP_PUT || !(op->flags & DW_OP_AGAIN) ||
	    disk->done[model_name(sim, op->id)] != model_asked_of(sim, op->body, op->body_size) + 1)
		return false;
	get = op_new(&alloc, DW_OP_GET, op->id, NULL, 0);
	(void)table_apply(sim->table, get, &caller);
	op->flags |= DW_OP_DONE;
	op->status = DW_OK;
	op->rows = get->rows;
	op->row_count = get->row_count;
	get->rows = NULL;
	op_free(&alloc, get);
	trace(sim, "done before", op->id, op->row_count > 0, 0);
	return true;
}

/* apply carries one operation out; false: it is parked. */
static bool apply(struct disk *disk, dw_op *op)
{
	struct sim *sim = disk->sim;
	dw_role role = disk->reign == REIGN_OWNER ? DW_OWNER : DW_CLIENT;
	struct table_caller caller = {.token = disk->token, .role = role, .now = clocks_wall(sim)};
	dw_head wanted = op->head;

	if (op->kind == DW_OP_OWN)
		return take_over(disk, op);
	if (answer_done(disk, op))
		return true;
	if (op->kind == DW_OP_SCAN && op->limit > sim->knobs.page)
		op->limit = sim->knobs.page;
	if (!bug_apply(sim, op, &caller))
		return false;
	trace(sim, "apply", op->id ? op->id : "", op->kind, op->status);
	model_applied(sim, op, &wanted, role);
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

	if (is_fenced(disk, op)) {
		trace(sim, "fenced", op->id ? op->id : "", op->kind, 0);
		op->status = fenced_status(disk);
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

/* commit_group: all that was submitted, or the first part of it. */
static void commit_group(struct disk *disk)
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
	struct sim *sim = disk->sim;

	watch_rival(disk);
	if (sim->clocks.steady < sim->away_until)
		disk->apply_at = sim->away_until;
	else
		commit_group(disk);
}

void disk_news(struct disk *disk)
{
	dw_op *op = disk ? disk->parked : NULL;

	if (!op || !owns(disk) || disk->group_count == GROUPS_MAX || !apply(disk, op))
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

	for (dw_op *op = disk->answers.first; op; op = op->next) {
		if (op->status == DW_EFENCED && disk->reign == REIGN_FENCED) {
			disk->reign = REIGN_CLIENT;
			disk->losses++;
		}
		order_collected(disk->sim, op, op->reign == disk->losses);
	}
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
	if (owns(disk))
		disk->sim->leased_until = disk->sim->clocks.steady;
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
				      .free = free_store,
				      .turn = turn,
				      .due = due,
				      .lease = lease,
				      .loads_by_generation = 1};
	if (sim->knobs.rival == 0) /* an older store */
		disk->type.size = offsetof(dw_store_class, descriptor);
	disk->store.type = &disk->type;
	disk->sim = sim;
	disk->account = &sim->engine_account;
	disk->apply_at = disk->renew_at = DW_NEVER;
	disk->reign = REIGN_CLIENT;
	if (!sim->rival.owns)
		become_owner(disk);
	return disk;
}
