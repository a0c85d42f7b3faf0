/* One seed: a program, its clients and its store go through faults. Then all faults end, and every
 * promise must be kept. */
#include "sim/single/single.h"
#include "store/memory/table_scan.h"

#define EVENTS_MAX 500000u /* a lease is renewed for hours */

/* ---- What the promises ask ----------------------------------------------------------------- */

static dw_row *single_stored(void *user, const char *id)
{
	const struct single *single = user;
	struct table_caller caller = {.role = DW_OWNER};
	dw_op get = {.kind = DW_OP_GET, .id = id};

	(void)table_apply(single->table, &get, &caller);
	return get.rows;
}

static dw_row *single_ended(void *user, const char *id)
{
	const struct single *single = user;
	struct alloc alloc = memory_alloc(&single->sim->table_account);
	const struct stored_end *end = ends_find(&single->table->ends, id, INT64_MIN);

	return end ? row_new(&alloc, id, end->bytes, end->size) : NULL;
}

static bool single_may_start(void *user, const char *id)
{
	(void)id;
	return ownership_may_start(&((const struct single *)user)->disk->own);
}

static bool single_is_lost(void *user)
{
	return ownership_is_lost(&((const struct single *)user)->disk->own);
}

/* ---- Faults -------------------------------------------------------------------------------- */

/* disturb draws the faults before the next event. */
static void disturb(struct single *single)
{
	struct sim *sim = single->sim;
	const struct knobs *knobs = &sim->knobs;

	if (chance(sim, knobs->step))
		instance_step_clock(sim);
	if (chance(sim, knobs->memory))
		memory_disturb(sim);
	if (!single->instance.engine)
		return;
	if (chance(sim, knobs->crash))
		single_crash(single);
	else if (chance(sim, knobs->close) && !single->instance.closing)
		single_close(single);
	else if (chance(sim, knobs->stall))
		instance_stall(&single->instance, (dw_usec)draw(sim, DW_SECONDS(2)));
	else if (chance(sim, knobs->spurious))
		single_turn(single);
}

/* ---- What happens next --------------------------------------------------------------------- */

static dw_usec pause(struct sim *sim)
{
	return 1 + (dw_usec)draw(sim, sim->knobs.pause_max_us);
}

static void act(struct single *single)
{
	struct sim *sim = single->sim;

	sim->program.action_at = sim->clocks.steady + pause(sim);
	if (single->instance.engine && single->instance.stalled_until <= sim->clocks.steady)
		program_act(sim);
	else
		program_pass(sim);
	if (sim->program.actions_left == 0)
		sim->program.action_at = DW_NEVER;
}

static void write(struct single *single)
{
	struct sim *sim = single->sim;

	single->client_at = sim->clocks.steady + pause(sim) * 10;
	if (sim->program.actions_left == 0)
		single->client_at = DW_NEVER;
	else if (chance(sim, single->knobs.client))
		client_act(single);
}

/* step lets time pass until the next event and does it. False: there will never be one. */
static bool step(struct single *single)
{
	struct sim *sim = single->sim;
	dw_usec turn_time =
	    single->instance.engine ? instance_next(&single->instance, DW_NEVER) : DW_NEVER;
	dw_usec disk_time = single->disk ? disk_next(single->disk) : DW_NEVER;
	dw_usec other_time = second_owner_next(single);
	dw_usec at = usec_min(usec_min(turn_time, disk_time), single->instance.open_at);

	at = usec_min(at, other_time);
	at = usec_min(at, usec_min(sim->program.action_at, single->client_at));
	if (at == DW_NEVER)
		return false;
	if (at > sim->clocks.steady) {
		clocks_pass(sim, at - sim->clocks.steady);
		if (at != turn_time)
			single->instance.idle_turns = 0;
	}
	if (at == single->instance.open_at)
		single_open(single);
	else if (at == disk_time)
		disk_work(single->disk);
	else if (at == turn_time)
		single_turn(single);
	else if (at == other_time)
		second_owner_act(single);
	else if (at == sim->program.action_at)
		act(single);
	else
		write(single);
	if (!sim->faults.over)
		disturb(single);
	return true;
}

static void compare(const struct single *single)
{
	table_check(single->table);
	compare_all(single->sim);
}

/* watch checks now and then what does not belong to one event. */
static void watch(struct single *single, uint32_t round)
{
	struct sim *sim = single->sim;

	if (round % 64 == 0)
		watch_overdue(single);
	if (round % 512 == 0)
		compare(single);
	if (round % 32 == 0 && single->instance.engine &&
	    engine_check(single->instance.engine) != 0)
		broken(sim, "engine_check", "invariant %d", engine_check(single->instance.engine));
	if (sim->trace.event_count > EVENTS_MAX)
		broken(sim, "livelock", "more than %u events", EVENTS_MAX);
}

/* ---- A seed -------------------------------------------------------------------------------- */

static void choose_knobs(struct single *single)
{
	struct sim *sim = single->sim;
	struct knobs *knobs = &sim->knobs;

	knobs->crash = some(sim, 60);
	knobs->crash_inside = some(sim, 100);
	knobs->close = some(sim, 30);
	knobs->step = some(sim, 40);
	knobs->stall = some(sim, 50);
	knobs->spurious = some(sim, 300);
	knobs->memory = some(sim, 60);
	single->knobs.client = some(sim, 10000);
	knobs->fail = some(sim, 600);
	single->knobs.unknown = some(sim, 300);
	knobs->slow = some(sim, 300);
	single->knobs.takeover = some(sim, 10000);
	single->knobs.lapse = 1 + (uint32_t)draw(sim, 4000);
	single->knobs.lease_ms = 1000 + (uint32_t)draw(sim, 3000);
	knobs->id_count = 2 + (uint32_t)draw(sim, chance(sim, 5000) ? 10 : 60);
	knobs->action_count = 50 + (uint32_t)draw(sim, chance(sim, 2000) ? 3000 : 600);
	single->knobs.page = 1 + (uint32_t)draw(sim, chance(sim, 5000) ? 8 : 300);
	knobs->hold_ms = 20 + (uint32_t)draw(sim, 2000);
	knobs->pause_max_us = any_pause(sim);
	knobs->recurring = some(sim, 2000);
	knobs->timers_max = chance(sim, 1000) ? 1 + (uint32_t)draw(sim, 20) : 1000000;
}

static void begin(struct single *single)
{
	struct sim *sim = single->sim;
	struct alloc alloc;

	choose_knobs(single);
	clocks_init(sim, DW_HOURS(1));
	promises_name_all(sim, sim->knobs.id_count);
	single->instance = (struct instance){.sim = sim, .account = {.sim = sim, .may_fail = true}};
	sim->at_work = &single->instance;
	alloc = memory_alloc(&sim->table_account);
	single->table = table_new(&alloc);
	second_owner_init(single);
	sim->program.actions_left = sim->knobs.action_count;
	single->instance.open_at = sim->program.action_at = single->client_at = sim->clocks.steady;
	bug_wheel(sim->bug);
	recurrence_plant(sim);
}

/* become_calm ends all faults; from now on the program only answers. */
static void become_calm(struct single *single)
{
	struct sim *sim = single->sim;
	struct knobs *knobs = &sim->knobs;

	sim->faults.over = true;
	sim->memory.fail_in = 0;
	sim->program.actions_left = 0;
	sim->program.action_at = single->client_at = DW_NEVER;
	knobs->fail = single->knobs.unknown = knobs->slow = single->knobs.lapse = 0;
	single->lease.away_until = 0;
	trace(sim, "calm", "", 0, 0);
	if (single->instance.engine && !single->instance.closing && chance(sim, 3000))
		single_crash(single);
	if (single->instance.engine && !single->instance.closing)
		program_register_all(sim);
	faults_disturb(sim, sim->clocks.steady);
}

static void finish(struct single *single)
{
	struct sim *sim = single->sim;

	if (single->instance.engine && !sim->trace.broken[0]) {
		single_close(single);
		while (single->instance.engine && !sim->trace.broken[0] && step(single))
			;
	}
	single->instance.dead = true; /* the rest is only freed */
	if (single->instance.engine) {
		disk_free(single->disk);
		engine_free(single->instance.engine);
	}
	single->instance.engine = NULL;
	table_free(single->table);
	single->instance.dead = false;
	if (sim->table_account.block_count != 0)
		broken(sim, "leak", "%zu blocks of the store are left",
		       sim->table_account.block_count);
	recurrence_plant(NULL);
}

void single_run(struct sim *sim)
{
	struct single all = {.sim = sim};
	struct single *single = &all;
	uint32_t round = 0;

	sim->view = (struct store_view){.user = single,
					.stored = single_stored,
					.ended = single_ended,
					.may_start = single_may_start,
					.is_lost = single_is_lost};
	begin(single);
	while (!sim->trace.broken[0] && sim->program.actions_left > 0 && step(single))
		watch(single, round++);
	if (!sim->trace.broken[0])
		become_calm(single);
	while (!sim->trace.broken[0] && step(single)) {
		watch(single, round++);
		if (single->instance.engine && !single->instance.closing && compare_is_over(sim))
			break;
	}
	if (!sim->trace.broken[0]) {
		compare(single);
		if (!compare_is_over(sim))
			broken(sim, "I2", "no event is left, but a timer or a call is");
	}
	finish(single);
}
