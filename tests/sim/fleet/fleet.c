/* One seed of the town: processes, a server and the wires between them live through faults; then
 * everything is quiet, and all that was promised must be done. */
#include "sim/fleet/fleet.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/store.h"
#include "store/redis/value.h"

#define EVENTS_MAX 400000u
#define IDLE_TIME 500
#define CALM_MAX DW_MINUTES(10)

/* ---- What the model asks ------------------------------------------------------------------- */

unsigned town_shard(const struct town *town, const char *id)
{
	return crc16_of(id) % town->shard_count;
}

bool town_has_lease(const struct process *process, unsigned shard)
{
	struct town *town = process->sim->town;
	char key[32];
	size_t size;
	const char *token;
	const char *colon;

	server_time(town);
	(void)snprintf(key, sizeof key, "{t:%02u}:l", shard);
	token = twin_lease(town->twin, key, &size);
	colon = token ? strchr(token, ':') : NULL;
	return colon && strncmp(colon + 1, process->nonce, strlen(process->nonce)) == 0;
}

bool town_may_start(const struct sim *sim, const char *id)
{
	unsigned shard = town_shard(sim->town, id);

	return town_has_lease(sim->town->at_work, shard) ||
	       hand_is_in_grace(sim->town->at_work, shard);
}

bool town_is_replaced(const struct sim *sim, const char *id)
{
	unsigned shard = town_shard(sim->town, id);

	return !town_has_lease(sim->town->at_work, shard) || sim->town->at_work->shaken[shard];
}

bool town_is_lost(const struct sim *sim)
{
	for (unsigned i = 0; i < sim->town->shard_count; i++)
		if (!town_has_lease(sim->town->at_work, i))
			return true;
	return false;
}

unsigned town_losses(const struct sim *sim)
{
	return sim->town->at_work->losses;
}

dw_row *town_stored(struct sim *sim, const char *id)
{
	struct alloc alloc = memory_alloc(&sim->table_account);
	char key[32];
	size_t size;
	const char *value;

	(void)snprintf(key, sizeof key, "{t:%02u}:h", town_shard(sim->town, id));
	value = twin_value(sim->town->twin, key, id, &size);
	return value ? value_row(&alloc, id, strlen(id), value, size) : NULL;
}

/* ---- Faults -------------------------------------------------------------------------------- */

static struct process *any_process(struct town *town)
{
	return &town->processes[draw(town->sim, PROCESSES)];
}

static void cut_any(struct town *town)
{
	struct process *process = any_process(town);
	struct wire *wire = chance(town->sim, 2000) ? process->ear : process->wire;

	if (wire)
		wire_cut(wire, chance(town->sim, 3000));
}

/* restart: what has not arrived is lost, and the scripts; the data is on the disk. */
void town_restart(struct town *town)
{
	trace(town->sim, "restart", "", 0, 0);
	for (unsigned i = 0; i < PROCESSES; i++) {
		if (town->processes[i].wire)
			wire_cut(town->processes[i].wire, true);
		if (town->processes[i].ear)
			wire_cut(town->processes[i].ear, true);
	}
	server_flush(town);
}

static void disturb_server(struct town *town)
{
	struct sim *sim = town->sim;
	const struct town_knobs *knobs = &town->knobs;

	if (chance(sim, knobs->cut))
		cut_any(town);
	if (chance(sim, knobs->flush))
		server_flush(town);
	if (chance(sim, knobs->restart))
		town_restart(town);
	if (chance(sim, knobs->halt))
		server_halt(town, sim->clocks.steady +
				      (dw_usec)draw(sim, chance(sim, 3000) ? 8000000 : 500000));
	if (chance(sim, knobs->refuse)) {
		town->refusal = (unsigned)draw(sim, 100);
		town->refusing_until =
		    sim->clocks.steady + (dw_usec)draw(sim, chance(sim, 2000) ? 6000000 : 300000);
		trace(sim, "refusing", "", town->refusing_until, town->refusal);
		faults_disturb(sim, town->refusing_until);
	}
}

static void stall(struct town *town)
{
	struct sim *sim = town->sim;
	dw_usec time = (dw_usec)draw(sim, DW_SECONDS(1));

	if (draw(sim, 100) < town->knobs.long_stall) /* a zombie */
		time += town->lease + (dw_usec)draw(sim, DW_SECONDS(4));
	sim->stalled_until = sim->clocks.steady + time;
	trace(sim, "stall", "", sim->stalled_until, town->at_work->number);
	faults_disturb(sim, sim->stalled_until);
}

static void disturb(struct town *town)
{
	struct sim *sim = town->sim;
	const struct knobs *knobs = &sim->knobs;
	struct process *process = any_process(town);

	disturb_server(town);
	hand_act(town);
	if (chance(sim, knobs->memory)) {
		sim->fail_in = 1 + (uint32_t)draw(sim, 20);
		sim->fail_run = chance(sim, 3000) ? (uint32_t)draw(sim, 30) : 0;
	}
	if (chance(sim, knobs->step))
		clocks_disturb(sim);
	if (!process->context.engine)
		return;
	process_enter(process);
	if (chance(sim, knobs->crash))
		process_kill(process);
	else if (chance(sim, knobs->close) && !sim->closing)
		process_end(process);
	else if (chance(sim, knobs->stall))
		stall(town);
	else if (chance(sim, knobs->spurious) && sim->stalled_until <= sim->clocks.steady)
		process_turn(process);
	process_leave(process);
}

/* ---- What happens next --------------------------------------------------------------------- */

static void act(struct town *town)
{
	struct sim *sim = town->sim;
	struct process *process = any_process(town);

	sim->action_at = sim->clocks.steady + 1 + (dw_usec)draw(sim, sim->knobs.pause_max_us);
	process_enter(process);
	if (sim->engine && sim->stalled_until <= sim->clocks.steady)
		program_act(sim);
	else if (sim->actions_left > 0)
		sim->actions_left--;
	process_leave(process);
	if (sim->actions_left == 0)
		sim->action_at = DW_NEVER;
}

static void pass(struct town *town, dw_usec at)
{
	struct sim *sim = town->sim;

	if (at <= sim->clocks.steady)
		return;
	if (at > sim->clocks.steady + IDLE_TIME)
		for (unsigned i = 0; i < PROCESSES; i++)
			town->processes[i].context.idle_turns = 0;
	clocks_pass(sim, at - sim->clocks.steady);
}

static void go_on(struct process *process)
{
	process_enter(process);
	if (process->sim->engine)
		process_turn(process);
	else
		process_open(process);
	process_leave(process);
}

/* step lets time pass until the next event, and has it. */
static void step(struct town *town)
{
	struct sim *sim = town->sim;
	struct process *next = NULL;
	dw_usec at = usec_min(server_next(town), sim->action_at);

	for (unsigned i = 0; i < PROCESSES; i++) {
		dw_usec its = process_next(&town->processes[i]);

		if (its < at) {
			at = its;
			next = &town->processes[i];
		}
	}
	pass(town, at);
	if (next)
		go_on(next);
	else if (at == server_next(town))
		server_work(town);
	else
		act(town);
	if (!sim->faults.over)
		disturb(town);
}

/* watch checks what does not belong to one event, every so often. */
static void watch(struct town *town, uint32_t round)
{
	struct sim *sim = town->sim;

	if (round % 512 == 0)
		model_compare(sim);
	for (unsigned i = 0; round % 32 == 0 && i < PROCESSES; i++) {
		const struct engine *engine = town->processes[i].context.engine;

		if (engine && engine_check(engine) != 0)
			broken(sim, "engine_check", "invariant %d", engine_check(engine));
	}
	if (sim->event_count > EVENTS_MAX)
		broken(sim, "livelock", "more than %u events", EVENTS_MAX);
}

/* ---- A seed -------------------------------------------------------------------------------- */

/* choose_losses: where there are any, in every other seed. */
static void choose_losses(struct town *town)
{
	struct sim *sim = town->sim;

	if (!sim->losses || chance(sim, 5000))
		return;
	town->knobs.empty = some(sim, 15);
	town->knobs.set_back = some(sim, 15);
	town->knobs.session = some(sim, 10);
	town->knobs.tear = some(sim, 15);
	sim->knobs.memory = 0; /* or an owner might not know what it has heard */
}

static void choose_knobs(struct town *town)
{
	static const uint32_t pauses[] = {300, 3000, 30000, 300000};
	struct sim *sim = town->sim;

	sim->knobs = (struct knobs){.crash = some(sim, 30),
				    .crash_inside = some(sim, 60),
				    .close = some(sim, 15),
				    .step = some(sim, 20),
				    .stall = some(sim, 40),
				    .spurious = some(sim, 100),
				    .memory = some(sim, 20),
				    .fail = some(sim, 300),
				    .slow = some(sim, 200),
				    .rival = 1,
				    .page = 300,
				    .timers_max = 1000000};
	sim->knobs.id_count = 2 + (uint32_t)draw(sim, chance(sim, 5000) ? 8 : 40);
	sim->knobs.action_count = 50 + (uint32_t)draw(sim, chance(sim, 2000) ? 2000 : 500);
	sim->knobs.hold_ms = 20 + (uint32_t)draw(sim, 2000);
	sim->knobs.pause_max_us = pauses[draw(sim, 4)];
	sim->knobs.delay_max = DW_SECONDS(20);
	town->knobs = (struct town_knobs){.cut = some(sim, 100),
					  .refuse = some(sim, 15),
					  .flush = some(sim, 15),
					  .halt = some(sim, 20),
					  .restart = some(sim, 10),
					  .long_stall = (uint32_t)draw(sim, 60)};
	town->same_host = chance(sim, 5000);
	choose_losses(town);
	town->shard_count = 1 + (unsigned)draw(sim, SHARDS_MAX_SIM);
	town->lease = DW_MILLISECONDS(1000 + draw(sim, 4000));
}

static void name_ids(struct sim *sim)
{
	char id[8] = "t00";

	for (uint32_t i = 0; i < sim->knobs.id_count; i++) {
		id[1] = (char)('0' + i / 10);
		id[2] = (char)('0' + i % 10);
		(void)model_name(sim, id);
	}
}

static void begin(struct town *town)
{
	struct sim *sim = town->sim;

	sim->rng.state = sim->seed;
	sim->hash = sim->seed;
	choose_knobs(town);
	clocks_init(sim);
	model_init(sim);
	name_ids(sim);
	sim->table_account = (struct account){.sim = sim};
	sim->actions_left = sim->knobs.action_count;
	sim->action_at = sim->clocks.steady;
	server_init(town);
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &town->processes[i];

		*process = (struct process){.sim = sim, .number = i};
		process->account.sim = sim;
		process->context.open_at = sim->clocks.steady + (dw_usec)draw(sim, 100000);
	}
	bug_wheel(sim->bug);
}

/* become_calm ends all faults; the programs only answer from now on. */
static void become_calm(struct town *town)
{
	struct sim *sim = town->sim;

	sim->faults.over = true;
	sim->fail_in = 0;
	sim->action_at = DW_NEVER;
	sim->knobs.fail = sim->knobs.slow = 0;
	town->refusing_until = 0;
	trace(sim, "calm", "", 0, 0);
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &town->processes[i];

		process_enter(process);
		if (sim->engine && !sim->closing)
			program_register_all(sim);
		process_leave(process);
	}
	faults_disturb(sim, sim->clocks.steady);
}

static void end_all(struct town *town)
{
	struct sim *sim = town->sim;

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &town->processes[i];

		process_enter(process);
		if (sim->engine && !sim->broken[0] && !sim->closing)
			process_end(process);
		process_leave(process);
	}
	while (!sim->broken[0] &&
	       (town->processes[0].context.closing || town->processes[1].context.closing ||
		town->processes[2].context.closing))
		step(town);
	for (unsigned i = 0; i < PROCESSES; i++)
		process_free(&town->processes[i]);
	server_free(town);
	if (town->past)
		twin_free(town->past);
	if (sim->table_account.block_count != 0)
		broken(sim, "leak", "%zu blocks of the server are left",
		       sim->table_account.block_count);
}

bool town_run(struct sim *sim)
{
	static struct town town; /* too large for the stack */
	uint32_t round = 0;
	dw_usec calm_at;

	town = (struct town){.sim = sim};
	sim->town = &town;
	begin(&town);
	for (; !sim->broken[0] && sim->actions_left > 0; round++) {
		step(&town);
		watch(&town, round);
	}
	become_calm(&town);
	calm_at = usec_max(sim->clocks.steady, town.halted_until);
	for (; !sim->broken[0] && !(model_all_over(sim) && hand_all_even(&town)); round++) {
		step(&town);
		watch(&town, round);
		if (sim->clocks.steady > calm_at + CALM_MAX && !sim->broken[0])
			model_say_what_is_left(sim);
	}
	if (!sim->broken[0])
		model_compare(sim);
	end_all(&town);
	return !sim->broken[0];
}
