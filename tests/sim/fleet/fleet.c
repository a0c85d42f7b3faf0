#include "sim/fleet/fleet.h"

#include "engine/call/members.h"
#include "sim/fleet/newer.h"
#include "sim/fleet/requests.h"

#define EVENTS_MAX 400000u
#define IDLE_TIME 500
#define CALM_MAX DW_MINUTES(10)
#define RULES_MAX DW_MINUTES(15) /* a recurring timer comes for so long */

/* ---- What the promises ask ----------------------------------------------------------------- */

static dw_row *fleet_stored(void *user, const char *id)
{
	return server_row(&((const struct fleet *)user)->server, id);
}

static dw_row *fleet_ended(void *user, const char *id)
{
	return server_ended(&((const struct fleet *)user)->server, id);
}

static bool fleet_may_start(void *user, const char *id)
{
	const struct fleet *fleet = user;
	unsigned shard = server_shard(&fleet->server, id);

	return fleet_has_lease(fleet->at_work, shard) || losses_in_grace(fleet->at_work, shard);
}

static bool fleet_is_replaced(void *user, const char *id)
{
	const struct fleet *fleet = user;
	unsigned shard = server_shard(&fleet->server, id);

	return !fleet_has_lease(fleet->at_work, shard) || fleet->at_work->exposure.unowned[shard];
}

static bool fleet_must_work(void *user, const char *id, dw_usec since)
{
	return apart_must_work(user, id, since);
}

static bool fleet_is_lost(void *user)
{
	const struct fleet *fleet = user;

	for (unsigned i = 0; i < fleet->server.shard_count; i++)
		if (!fleet_has_lease(fleet->at_work, i))
			return true;
	return false;
}

/* ---- Faults -------------------------------------------------------------------------------- */

static struct process *any_process(struct fleet *fleet)
{
	return &fleet->processes[draw(fleet->sim, fleet->count)];
}

static void stall(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	dw_usec time = (dw_usec)draw(sim, DW_SECONDS(1));

	if (draw(sim, 100) < fleet->outage.long_stall) /* longer than its lease */
		time += fleet->server.lease + (dw_usec)draw(sim, DW_SECONDS(4));
	instance_stall(&fleet->at_work->instance, time);
}

/* chance_of_end: that a process closes, or a peer leaves; of 10,000. What it holds then is what can
 * go wrong. */
static uint32_t chance_of_end(const struct process *process)
{
	const struct sim *sim = process->instance.sim;
	dw_stats stats = {.size = sizeof stats};

	if (process->leaves)
		return 300;
	if (!sim->peers)
		return sim->knobs.close;
	engine_stats(process->instance.engine, &stats);
	return sim->knobs.close + (stats.held > 0 ? 200 : 0);
}

/* end_politely: a peer may give its shards away first, and close later. */
static void end_politely(struct process *process)
{
	struct sim *sim = process->instance.sim;

	if (!sim->peers || process->leaves || chance(sim, 2000)) {
		process_end(process);
		return;
	}
	trace(sim, "leave", "", process->instance.number, 0);
	process->leaves = true;
	(void)engine_leave(sim->at_work->engine); /* of a peer it cannot fail */
}

static void disturb(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	const struct knobs *knobs = &sim->knobs;
	struct process *process = any_process(fleet);

	outage_act(fleet);
	data_faults_act(fleet);
	if (chance(sim, knobs->memory))
		memory_disturb(sim);
	if (chance(sim, knobs->step))
		instance_step_clock(sim);
	if (!process->instance.engine)
		return;
	process_enter(process);
	if (chance(sim, knobs->crash))
		process_kill(process);
	else if (chance(sim, chance_of_end(process)) && !sim->at_work->closing)
		end_politely(process);
	else if (chance(sim, knobs->stall))
		stall(fleet);
	else if (chance(sim, knobs->spurious) && sim->at_work->stalled_until <= sim->clocks.steady)
		process_turn(process);
	process_leave(process);
}

/* ---- What happens next --------------------------------------------------------------------- */

static void act(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct process *process = any_process(fleet);

	sim->program.action_at =
	    sim->clocks.steady + 1 + (dw_usec)draw(sim, sim->knobs.pause_max_us);
	process_enter(process);
	if (sim->at_work->engine && sim->at_work->stalled_until <= sim->clocks.steady)
		program_act(sim);
	else
		program_pass(sim);
	process_leave(process);
	if (sim->program.actions_left == 0)
		sim->program.action_at = DW_NEVER;
}

static void pass(struct fleet *fleet, dw_usec at)
{
	struct sim *sim = fleet->sim;

	if (at <= sim->clocks.steady)
		return;
	if (at > sim->clocks.steady + IDLE_TIME)
		for (unsigned i = 0; i < fleet->count; i++)
			fleet->processes[i].instance.idle_turns = 0;
	clocks_pass(sim, at - sim->clocks.steady);
}

static void go_on(struct process *process)
{
	process_enter(process);
	if (process->instance.engine)
		process_turn(process);
	else
		process_open(process);
	process_leave(process);
}

/* step lets time pass until the next event and does it. */
static void step(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;
	struct process *next = NULL;
	dw_usec at = usec_min(network_next(&fleet->network), sim->program.action_at);

	for (unsigned i = 0; i < fleet->count; i++) {
		dw_usec its = process_next(&fleet->processes[i]);

		if (its < at) {
			at = its;
			next = &fleet->processes[i];
		}
	}
	pass(fleet, at);
	if (next)
		go_on(next);
	else if (at == network_next(&fleet->network))
		requests_work(fleet);
	else
		act(fleet);
	if (!sim->faults.over)
		disturb(fleet);
}

/* watch checks now and then what does not belong to one event. */
static void watch(struct fleet *fleet, uint32_t round)
{
	struct sim *sim = fleet->sim;

	if (round % 512 == 0)
		compare_all(sim);
	if (sim->faults.over && round % 32 == 0)
		newer_end(fleet);
	if (round % 16 == 0)
		apart_watch(fleet);
	if (round % 4 == 0)
		peers_watch(fleet);
	for (unsigned i = 0; round % 32 == 0 && i < fleet->count; i++) {
		const struct engine *engine = fleet->processes[i].instance.engine;

		if (engine && engine_check(engine) != 0)
			broken(sim, "engine_check", "invariant %d", engine_check(engine));
	}
	if (sim->trace.event_count > EVENTS_MAX)
		broken(sim, "livelock", "more than %u events", EVENTS_MAX);
}

/* ---- A seed -------------------------------------------------------------------------------- */

/* choose_quiet lets nothing fail but single shards. */
static void choose_quiet(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;

	fleet->only_shards = chance(sim, 3000);
	if (fleet->only_shards)
		sim->knobs = (struct knobs){.spurious = sim->knobs.spurious,
					    .timers_max = sim->knobs.timers_max};
}

static void choose_knobs(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;

	sim->knobs = (struct knobs){.crash = some(sim, 30),
				    .crash_inside = some(sim, 60),
				    .close = some(sim, 15),
				    .step = some(sim, 20),
				    .stall = some(sim, 40),
				    .spurious = some(sim, 100),
				    .memory = some(sim, 20),
				    .fail = some(sim, 300),
				    .slow = some(sim, 200),
				    .timers_max = 1000000};
	choose_quiet(fleet);
	sim->knobs.id_count = 2 + (uint32_t)draw(sim, chance(sim, 5000) ? 8 : 40);
	sim->knobs.action_count = 50 + (uint32_t)draw(sim, chance(sim, 2000) ? 2000 : 500);
	sim->knobs.hold_ms = 20 + (uint32_t)draw(sim, 2000);
	sim->knobs.pause_max_us = any_pause(sim);
	sim->knobs.delay_max = DW_SECONDS(20);
	outage_choose(fleet);
	fleet->same_host = chance(sim, 5000);
	data_faults_choose(fleet);
	fleet->server.shard_count = 1 + (unsigned)draw(sim, SHARDS_MAX_SIM);
	fleet->server.lease = DW_MILLISECONDS(1000 + draw(sim, 4000));
	sim->knobs.recurring = sim->peers && !sim->losses && sim->seed % 2 == 0 ? 1000 : 0;
}

static void begin(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;

	fleet->count = PROCESSES;
	if (sim->peers && sim->seed % 2 == 0) /* a town of 3, 4 or 5 */
		fleet->count += (unsigned)(sim->seed / 2 % (PROCESSES_MAX - PROCESSES + 1));
	choose_knobs(fleet);
	clocks_init(sim, DW_SECONDS(20)); /* longer steps would mean hours of renewed leases */
	promises_name_all(sim, sim->knobs.id_count);
	sim->program.actions_left = sim->knobs.action_count;
	sim->program.action_at = sim->clocks.steady;
	fleet->network.sim = sim;
	server_init(&fleet->server, sim);
	requests_init(fleet);
	for (unsigned i = 0; i < fleet->count; i++)
		process_init(&fleet->processes[i], fleet, i);
	bug_wheel(sim->bug);
}

/* become_calm ends all faults; from now on the programs only answer. */
static void become_calm(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;

	sim->faults.over = true;
	sim->memory.fail_in = 0;
	sim->program.action_at = DW_NEVER;
	sim->knobs.fail = sim->knobs.slow = 0;
	fleet->outage.refusing_until = 0;
	refused_end(fleet);
	trace(sim, "calm", "", 0, 0);
	for (unsigned i = 0; i < fleet->count; i++) {
		struct process *process = &fleet->processes[i];
		bool works;

		process_enter(process);
		works = sim->at_work->engine && !sim->at_work->closing;
		if (works && process->leaves)
			process_end(process);
		else if (works)
			program_register_all(sim);
		process_leave(process);
	}
	faults_disturb(sim, sim->clocks.steady);
}

static bool is_closing(const struct fleet *fleet)
{
	for (unsigned i = 0; i < fleet->count; i++)
		if (fleet->processes[i].instance.closing)
			return true;
	return false;
}

static void end_all(struct fleet *fleet)
{
	struct sim *sim = fleet->sim;

	for (unsigned i = 0; i < fleet->count; i++) {
		struct process *process = &fleet->processes[i];

		process_enter(process);
		if (sim->at_work->engine && !sim->trace.broken[0] && !sim->at_work->closing)
			process_end(process);
		process_leave(process);
	}
	while (!sim->trace.broken[0] && is_closing(fleet))
		step(fleet);
	for (unsigned i = 0; i < fleet->count; i++)
		process_free(&fleet->processes[i]);
	network_free(&fleet->network);
	server_free(&fleet->server);
	if (sim->table_account.block_count != 0)
		broken(sim, "leak", "%zu blocks of the server are left",
		       sim->table_account.block_count);
}

void fleet_run(struct sim *sim)
{
	static struct fleet all; /* too large for the stack */
	struct fleet *fleet = &all;
	uint32_t round = 0;
	dw_usec calm_at;

	all = (struct fleet){.sim = sim};
	sim->several = true;
	sim->view = (struct store_view){.user = fleet,
					.stored = fleet_stored,
					.ended = fleet_ended,
					.may_start = fleet_may_start,
					.is_replaced = fleet_is_replaced,
					.must_work = fleet_must_work,
					.is_lost = fleet_is_lost};
	begin(fleet);
	for (; !sim->trace.broken[0] && sim->program.actions_left > 0; round++) {
		step(fleet);
		watch(fleet, round);
	}
	become_calm(fleet);
	calm_at = usec_max(sim->clocks.steady, fleet->network.halted_until);
	calm_at += sim->knobs.recurring > 0 ? RULES_MAX : 0;
	for (; !sim->trace.broken[0] && !(compare_is_over(sim) && server_all_even(&fleet->server));
	     round++) {
		step(fleet);
		watch(fleet, round);
		if (sim->clocks.steady > calm_at + CALM_MAX && !sim->trace.broken[0])
			compare_say_what_is_left(sim);
	}
	if (!sim->trace.broken[0])
		compare_all(sim);
	end_all(fleet);
}
