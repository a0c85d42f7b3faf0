/* One seed: a program, its clients and its store live through faults; then everything is quiet, and
 * all that was promised must be done. */
#include "sim/core/sim.h"

#include <string.h>

#define EVENTS_MAX 500000u /* a lease is renewed for hours */
#define IDLE_TURNS_MAX 3000u

/* ---- The loop's port ----------------------------------------------------------------------- */

static void arm(void *user, dw_usec at)
{
	((struct sim *)user)->armed = at;
}

static void wake(void *user)
{
	struct sim *sim = user;

	if (sim->woken)
		return;
	sim->woken = true;
	sim->wake_at = sim->clocks.steady + (dw_usec)draw(sim, 30);
}

/* ---- A process ----------------------------------------------------------------------------- */

static void process_start(struct sim *sim)
{
	struct engine_env env = {.handle = (dw *)(void *)sim,
				 .alloc = memory_alloc(&sim->engine_account),
				 .clock = clocks_port(sim),
				 .loop = {.arm = arm, .wake = wake, .user = sim},
				 .role = sim->rival.owns ? DW_CLIENT : DW_OWNER,
				 .standby = sim->rival.owns,
				 .seed = rng_next(&sim->rng),
				 .timers_max = sim->knobs.timers_max,
				 .data_max = 1024,
				 .hold = DW_MILLISECONDS(sim->knobs.hold_ms),
				 .on_event = program_event};

	sim->open_at = DW_NEVER;
	if (engine_new(&sim->engine, &env) != DW_OK) {
		sim->engine = NULL;
		sim->open_at = sim->clocks.steady + 1000;
		return;
	}
	sim->life++;
	sim->woken = sim->dead = sim->closing = false;
	sim->armed = DW_NEVER;
	sim->stalled_until = 0;
	trace(sim, "process", "", (int64_t)sim->life, 0);
	sim->disk = disk_open(sim);
	engine_attach(sim->engine, &sim->disk->store);
	program_begin(sim);
	faults_disturb(sim, sim->clocks.steady);
}

/* process_gone: nothing of it is left. */
static void process_gone(struct sim *sim)
{
	engine_free(sim->engine);
	sim->engine = NULL;
	sim->disk = NULL;
	sim->dead = sim->closing = false;
	if (sim->engine_account.block_count != 0)
		broken(sim, "leak", "%zu blocks of the engine are left",
		       sim->engine_account.block_count);
	sim->open_at = sim->clocks.steady;
	if (!sim->faults.over)
		sim->open_at += (dw_usec)draw(sim, chance(sim, 1000) ? 60000000 : 500000);
	faults_disturb(sim, sim->open_at);
}

static void process_crash(struct sim *sim)
{
	sim->dead = false;
	trace(sim, "crash", "", 0, 0);
	disk_crash(sim->disk);
	model_process_ended(sim);
	disk_free(sim->disk);
	process_gone(sim);
}

static void process_close(struct sim *sim)
{
	trace(sim, "close", "", 0, 0);
	sim->closing = true;
	sim->close_until = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(2));
	engine_begin_close(sim->engine);
}

static void process_closed(struct sim *sim)
{
	int status = sim->disk->store.type->stop(&sim->disk->store, 0);

	trace(sim, "closed", "", status, (int64_t)sim->model.unanswered);
	engine_abandon(sim->engine);
	if (sim->dead) {
		process_crash(sim);
		return;
	}
	if (sim->model.unanswered > 0)
		broken(sim, "once", "%llu calls were never answered",
		       (unsigned long long)sim->model.unanswered);
	if (status != DW_OK)
		disk_crash(sim->disk); /* it goes on for a while, alone */
	model_process_ended(sim);
	sim->disk->store.type->free(&sim->disk->store);
	process_gone(sim);
}

/* ---- A turn -------------------------------------------------------------------------------- */

static dw_usec turn_at(const struct sim *sim)
{
	dw_usec at = clocks_steady_at(sim, sim->armed);

	if (sim->woken)
		at = usec_min(at, sim->wake_at);
	if (sim->closing)
		at = usec_min(at, sim->close_until);
	return usec_max(at, sim->stalled_until);
}

static void turn(struct sim *sim)
{
	uint64_t starts = sim->start_count;

	sim->woken = false;
	sim->armed = DW_NEVER;
	sim->turn_starts = 0;
	if (engine_turn(sim->engine) != DW_OK)
		broken(sim, "busy", "a turn was refused");
	clocks_pass(sim, 1 + (dw_usec)draw(sim, 10));
	trace(sim, "turn", "", sim->armed, sim->turn_starts);
	if (sim->dead) {
		process_crash(sim);
		return;
	}
	model_armed(sim);
	sim->idle_turns = starts == sim->start_count ? sim->idle_turns + 1 : 0;
	if (sim->idle_turns > IDLE_TURNS_MAX)
		broken(sim, "livelock", "%u turns did nothing", IDLE_TURNS_MAX);
	if (sim->closing && (engine_settled(sim->engine) || sim->clocks.steady >= sim->close_until))
		process_closed(sim);
}

/* ---- Faults -------------------------------------------------------------------------------- */

static void stall(struct sim *sim)
{
	sim->stalled_until = sim->clocks.steady + (dw_usec)draw(sim, DW_SECONDS(2));
	trace(sim, "stall", "", sim->stalled_until, 0);
	faults_disturb(sim, sim->stalled_until);
}

/* disturb: what goes wrong before the next event. */
static void disturb(struct sim *sim)
{
	const struct knobs *knobs = &sim->knobs;

	if (chance(sim, knobs->step))
		clocks_disturb(sim);
	if (chance(sim, knobs->memory)) {
		sim->fail_in = 1 + (uint32_t)draw(sim, 20);
		sim->fail_run = chance(sim, 3000) ? (uint32_t)draw(sim, 30) : 0;
	}
	if (!sim->engine)
		return;
	if (chance(sim, knobs->crash))
		process_crash(sim);
	else if (chance(sim, knobs->close) && !sim->closing)
		process_close(sim);
	else if (chance(sim, knobs->stall))
		stall(sim);
	else if (chance(sim, knobs->spurious))
		turn(sim);
}

/* ---- What happens next --------------------------------------------------------------------- */

static dw_usec pause(struct sim *sim)
{
	return 1 + (dw_usec)draw(sim, sim->knobs.pause_max_us);
}

static void act(struct sim *sim)
{
	sim->action_at = sim->clocks.steady + pause(sim);
	if (sim->engine && sim->stalled_until <= sim->clocks.steady)
		program_act(sim);
	else if (sim->actions_left > 0)
		sim->actions_left--;
	if (sim->actions_left == 0)
		sim->action_at = DW_NEVER;
}

static void write(struct sim *sim)
{
	sim->writer_at = sim->clocks.steady + pause(sim) * 10;
	if (sim->actions_left == 0)
		sim->writer_at = DW_NEVER;
	else if (chance(sim, sim->knobs.writer))
		writer_act(sim);
}

/* step lets time pass until the next event, and has it. False: nothing will ever happen. */
static bool step(struct sim *sim)
{
	dw_usec turn_time = sim->engine ? turn_at(sim) : DW_NEVER;
	dw_usec disk_time = sim->disk ? disk_next(sim->disk) : DW_NEVER;
	dw_usec rival_time = rival_next(sim);
	dw_usec at = usec_min(usec_min(turn_time, disk_time), sim->open_at);

	at = usec_min(at, rival_time);
	at = usec_min(at, usec_min(sim->action_at, sim->writer_at));
	if (at == DW_NEVER)
		return false;
	if (at > sim->clocks.steady) {
		clocks_pass(sim, at - sim->clocks.steady);
		if (at != turn_time)
			sim->idle_turns = 0;
	}
	if (at == sim->open_at)
		process_start(sim);
	else if (at == disk_time)
		disk_work(sim->disk);
	else if (at == turn_time)
		turn(sim);
	else if (at == rival_time)
		rival_act(sim);
	else if (at == sim->action_at)
		act(sim);
	else
		write(sim);
	if (!sim->faults.over)
		disturb(sim);
	return true;
}

/* watch checks what does not belong to one event, every so often. */
static void watch(struct sim *sim, uint32_t round)
{
	if (round % 64 == 0)
		model_watch(sim);
	if (round % 512 == 0)
		model_compare(sim);
	if (round % 32 == 0 && sim->engine && engine_check(sim->engine) != 0)
		broken(sim, "engine_check", "invariant %d", engine_check(sim->engine));
	if (sim->event_count > EVENTS_MAX)
		broken(sim, "livelock", "more than %u events", EVENTS_MAX);
}

/* ---- A seed -------------------------------------------------------------------------------- */

static void choose_knobs(struct sim *sim)
{
	static const uint32_t pauses[] = {300, 3000, 30000, 300000};
	struct knobs *knobs = &sim->knobs;

	knobs->crash = some(sim, 60);
	knobs->crash_inside = some(sim, 100);
	knobs->close = some(sim, 30);
	knobs->step = some(sim, 40);
	knobs->stall = some(sim, 50);
	knobs->spurious = some(sim, 300);
	knobs->memory = some(sim, 60);
	knobs->writer = some(sim, 10000);
	knobs->fail = some(sim, 600);
	knobs->unknown = some(sim, 300);
	knobs->slow = some(sim, 300);
	knobs->rival = some(sim, 10000);
	knobs->lapse = 1 + (uint32_t)draw(sim, 4000);
	knobs->lease_ms = 1000 + (uint32_t)draw(sim, 3000);
	knobs->id_count = 2 + (uint32_t)draw(sim, chance(sim, 5000) ? 10 : 60);
	knobs->action_count = 50 + (uint32_t)draw(sim, chance(sim, 2000) ? 3000 : 600);
	knobs->page = 1 + (uint32_t)draw(sim, chance(sim, 5000) ? 8 : 300);
	knobs->hold_ms = 20 + (uint32_t)draw(sim, 2000);
	knobs->pause_max_us = pauses[draw(sim, 4)];
	knobs->timers_max = chance(sim, 1000) ? 1 + (uint32_t)draw(sim, 20) : 1000000;
}

static void begin(struct sim *sim)
{
	char id[8] = "t00";
	struct alloc alloc;

	sim->rng.state = sim->seed;
	sim->hash = sim->seed;
	choose_knobs(sim);
	clocks_init(sim);
	model_init(sim);
	for (uint32_t i = 0; i < sim->knobs.id_count; i++) {
		id[1] = (char)('0' + i / 10);
		id[2] = (char)('0' + i % 10);
		(void)model_name(sim, id);
	}
	sim->engine_account = (struct account){.sim = sim, .may_fail = true};
	sim->table_account = (struct account){.sim = sim};
	alloc = memory_alloc(&sim->table_account);
	sim->table = table_new(&alloc);
	rival_init(sim);
	sim->actions_left = sim->knobs.action_count;
	sim->open_at = sim->action_at = sim->writer_at = sim->clocks.steady;
	bug_wheel(sim->bug);
}

/* become_calm ends all faults; the program only answers from now on. */
static void become_calm(struct sim *sim)
{
	struct knobs *knobs = &sim->knobs;

	sim->faults.over = true;
	sim->fail_in = 0;
	sim->actions_left = 0;
	sim->action_at = sim->writer_at = DW_NEVER;
	knobs->fail = knobs->unknown = knobs->slow = knobs->lapse = 0;
	sim->away_until = 0;
	trace(sim, "calm", "", 0, 0);
	if (sim->engine && !sim->closing && chance(sim, 3000))
		process_crash(sim);
	if (sim->engine && !sim->closing)
		program_register_all(sim);
	faults_disturb(sim, sim->clocks.steady);
}

static void finish(struct sim *sim)
{
	if (sim->engine && !sim->broken[0]) {
		process_close(sim);
		while (sim->engine && !sim->broken[0] && step(sim))
			;
	}
	sim->dead = true; /* whatever is left is only freed */
	if (sim->engine) {
		disk_free(sim->disk);
		engine_free(sim->engine);
	}
	sim->engine = NULL;
	table_free(sim->table);
	sim->dead = false;
	if (sim->table_account.block_count != 0)
		broken(sim, "leak", "%zu blocks of the store are left",
		       sim->table_account.block_count);
}

bool world_run(struct sim *sim)
{
	uint32_t round = 0;

	begin(sim);
	while (!sim->broken[0] && sim->actions_left > 0 && step(sim))
		watch(sim, round++);
	if (!sim->broken[0])
		become_calm(sim);
	while (!sim->broken[0] && step(sim)) {
		watch(sim, round++);
		if (sim->engine && !sim->closing && model_all_over(sim))
			break;
	}
	if (!sim->broken[0]) {
		model_compare(sim);
		if (!model_all_over(sim))
			broken(sim, "I2", "nothing is left to happen and something to do");
	}
	finish(sim);
	return !sim->broken[0];
}
