#include "sim/outages/outages.h"

#include <stdio.h>
#include <string.h>

#include "sim/fleet/requests.h"

#define EVENTS_MAX 600000u
#define IDLE_TIME 500
#define CALM_MAX DW_MINUTES(10)

/* ---- Faults -------------------------------------------------------------------------------- */

/* note_fault: until then, and a while after that, timers may start once more. */
static void note_fault(struct outages *outages, dw_usec length)
{
	dw_usec wall = clocks_wall(outages->sim);

	history_fault(outages->history, wall - DW_SECONDS(1),
		      wall + length + outages->fleet.server.lease + DW_SECONDS(5));
}

/* lose_server: it is away from all, for longer than the lease now and then. In half of the cases
 * another process of it comes back. */
static void lose_server(struct outages *outages)
{
	struct sim *sim = outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 3000) ? DW_SECONDS(15) : DW_SECONDS(2));

	outages->away_until = sim->clocks.steady + length;
	trace(sim, "away", "", outages->away_until, 0);
	for (unsigned i = 0; i < PROCESSES; i++)
		member_hide(&outages->members[i], outages->away_until);
	if (chance(sim, 5000))
		network_restart(&outages->fleet.network, outages->away_until);
	else
		network_drop_requests(&outages->fleet.network);
	note_fault(outages, length);
}

static void cut_off(struct outages *outages, struct member *member)
{
	struct sim *sim = outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 5000) ? DW_SECONDS(12) : DW_SECONDS(1));

	trace(sim, "cut off", "", length, member->process->instance.number);
	member_hide(member, sim->clocks.steady + length);
	note_fault(outages, length);
}

static void stall(struct outages *outages, struct member *member)
{
	struct sim *sim = outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 2000) ? DW_SECONDS(8) : DW_SECONDS(1));

	instance_stall(&member->process->instance, length);
	note_fault(outages, length);
}

static void halt(struct outages *outages)
{
	struct sim *sim = outages->sim;
	dw_usec length = (dw_usec)draw(sim, chance(sim, 3000) ? DW_SECONDS(8) : DW_SECONDS(1));

	network_halt(&outages->fleet.network, sim->clocks.steady + length);
	note_fault(outages, length);
}

static void disturb(struct outages *outages)
{
	struct sim *sim = outages->sim;
	const struct outage *knobs = &outages->fleet.outage;
	struct member *member = &outages->members[draw(sim, PROCESSES)];

	if (chance(sim, knobs->restart))
		lose_server(outages);
	if (chance(sim, knobs->cut))
		cut_off(outages, member);
	if (chance(sim, knobs->halt))
		halt(outages);
	if (!member->process->instance.engine)
		return;
	process_enter(member->process);
	if (chance(sim, sim->knobs.crash))
		member_kill(member);
	else if (chance(sim, sim->knobs.close) && !sim->at_work->closing)
		member_end(member);
	else if (chance(sim, sim->knobs.stall))
		stall(outages, member);
	process_leave(member->process);
}

/* ---- What happens next --------------------------------------------------------------------- */

static void act(struct outages *outages)
{
	struct sim *sim = outages->sim;
	struct member *member = &outages->members[draw(sim, PROCESSES)];

	sim->program.action_at =
	    sim->clocks.steady + 1 + (dw_usec)draw(sim, sim->knobs.pause_max_us);
	process_enter(member->process);
	if (sim->at_work->engine && sim->at_work->stalled_until <= sim->clocks.steady)
		member_act(member);
	process_leave(member->process);
}

static void pass(struct outages *outages, dw_usec at)
{
	struct sim *sim = outages->sim;

	if (at <= sim->clocks.steady)
		return;
	if (at > sim->clocks.steady + IDLE_TIME)
		for (unsigned i = 0; i < PROCESSES; i++)
			outages->members[i].process->instance.idle_turns = 0;
	clocks_pass(sim, at - sim->clocks.steady);
}

static void go_on(struct member *member)
{
	process_enter(member->process);
	if (member->process->instance.engine)
		member_turn(member);
	else
		member_open(member);
	process_leave(member->process);
}

static void step(struct outages *outages)
{
	struct sim *sim = outages->sim;
	dw_usec arrives = network_next(&outages->fleet.network);
	dw_usec at = usec_min(arrives, sim->program.action_at);
	struct member *next = NULL;
	struct file *disk = NULL;

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct member *member = &outages->members[i];

		if (member->file.at < at) {
			at = member->file.at;
			disk = &member->file;
			next = NULL;
		}
		if (member_next(member) < at) {
			at = member_next(member);
			next = member;
		}
	}
	pass(outages, at);
	if (next)
		go_on(next);
	else if (disk)
		file_work(disk);
	else if (at == arrives)
		requests_work(&outages->fleet);
	else
		act(outages);
	if (!sim->faults.over)
		disturb(outages);
}

static void watch(struct outages *outages, uint32_t round)
{
	struct sim *sim = outages->sim;

	for (unsigned i = 0; round % 32 == 0 && i < PROCESSES; i++) {
		const struct engine *engine = outages->members[i].process->instance.engine;

		if (engine && engine_check(engine) != 0)
			broken(sim, "engine_check", "invariant %d", engine_check(engine));
	}
	if (sim->trace.event_count > EVENTS_MAX)
		broken(sim, "livelock", "more than %u events", EVENTS_MAX);
}

/* ---- The end ------------------------------------------------------------------------------- */

static bool is_stored(const struct outages *outages, uint32_t number)
{
	struct alloc alloc = memory_alloc(&outages->sim->table_account);
	char id[16];
	dw_row *row;

	(void)snprintf(id, sizeof id, "t%03u", number); /* it fits */
	row = server_row(&outages->fleet.server, id);
	rows_free(&alloc, row);
	return row != NULL;
}

static bool is_over(struct outages *outages)
{
	if (outages->open_calls > 0)
		return false;
	for (unsigned i = 0; i < PROCESSES; i++)
		if (outages->members[i].held_count > 0 || !file_is_empty(&outages->members[i].file))
			return false;
	for (uint32_t i = 0; i < outages->put_count; i++)
		if (is_stored(outages, i))
			return false;
	return true;
}

static void say_what_is_left(struct outages *outages)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (!file_is_empty(&outages->members[i].file))
			broken(outages->sim, "J1", "the journal of process %u keeps rows", i);
	for (uint32_t i = 0; i < outages->put_count; i++)
		if (is_stored(outages, i))
			broken(outages->sim, "I2", "t%03u is stored, and never starts", i);
	broken(outages->sim, "once", "%u calls are not answered", outages->open_calls);
}

static void become_calm(struct outages *outages)
{
	struct sim *sim = outages->sim;

	sim->faults.over = true;
	sim->knobs.fail = sim->knobs.slow = 0;
	trace(sim, "calm", "", 0, 0);
}

static void end_all(struct outages *outages)
{
	struct sim *sim = outages->sim;

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct member *member = &outages->members[i];

		process_enter(member->process);
		if (sim->at_work->engine)
			member_kill(member);
		file_free(&member->file);
		process_leave(member->process);
	}
	network_free(&outages->fleet.network);
	server_free(&outages->fleet.server);
	if (sim->table_account.block_count != 0)
		broken(sim, "leak", "%zu blocks are left", sim->table_account.block_count);
}

static void say(void *user, enum history_broken kind, size_t number, const char *line)
{
	struct outages *outages = user;

	if (outages->sim->trace.printing && !outages->sim->trace.broken[0])
		history_show(outages->history, number);
	broken(outages->sim, history_broken_name(kind), "%s", line);
}

/* ---- A seed -------------------------------------------------------------------------------- */

static void choose(struct outages *outages)
{
	struct sim *sim = outages->sim;

	sim->knobs = (struct knobs){.crash = some(sim, 10),
				    .crash_inside = some(sim, 20),
				    .close = some(sim, 5),
				    .stall = some(sim, 8),
				    .timers_max = 1000000,
				    .pause_max_us = 1000 + (uint32_t)draw(sim, 100000)};
	outages->fleet.outage = (struct outage){.restart = 3 + some(sim, 8),
						.cut = some(sim, 10),
						.halt = some(sim, 4),
						.shards = some(sim, 8)};
	outages->puts_left = 30 + (uint32_t)draw(sim, NUMBERS_MAX - 100);
	outages->policy = chance(sim, 5000) ? DW_OUTAGE_FIRE : DW_OUTAGE_HOLD;
	outages->fleet.same_host = chance(sim, 5000);
	outages->fleet.server.shard_count = 1 + (unsigned)draw(sim, SHARDS_MAX_SIM);
	outages->fleet.server.lease = DW_MILLISECONDS(1000 + draw(sim, 8000));
}

static void begin(struct outages *outages)
{
	struct sim *sim = outages->sim;
	struct fleet *fleet = &outages->fleet;

	choose(outages);
	clocks_init(sim, 0);
	sim->program.action_at = sim->clocks.steady;
	fleet->sim = fleet->network.sim = sim;
	fleet->count = PROCESSES;
	fleet->is_judged_outside = true;
	server_init(&fleet->server, sim);
	requests_init(fleet);
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct member *member = &outages->members[i];

		member->outages = outages;
		member->process = &fleet->processes[i];
		process_init(member->process, fleet, i);
		file_init(&member->file, sim, &member->process->instance);
	}
	bug_wheel(sim->bug);
}

void outages_run(struct sim *sim)
{
	static struct outages all; /* too large for the stack */
	struct outages *outages = &all;
	uint32_t round = 0;
	dw_usec calm_at;

	all = (struct outages){.sim = sim, .history = history_new()};
	history_journals(all.history);
	sim->several = true;
	begin(outages);
	for (; !sim->trace.broken[0] && outages->puts_left > 0; round++) {
		step(outages);
		watch(outages, round);
	}
	become_calm(outages);
	calm_at = usec_max(sim->clocks.steady, outages->away_until);
	for (; !sim->trace.broken[0] && !(round % 32 == 0 && is_over(outages)); round++) {
		step(outages);
		watch(outages, round);
		if (sim->clocks.steady > calm_at + CALM_MAX)
			say_what_is_left(outages);
	}
	if (!sim->trace.broken[0])
		(void)history_check(outages->history, say, outages);
	end_all(outages);
	history_free(outages->history);
}
