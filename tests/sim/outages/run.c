/* Steps, and the end: what all worlds have in common that the history judges. */
#include "sim/outages/outages.h"

#include <stdio.h>

#define EVENTS_MAX 600000u
#define IDLE_TIME 500
#define CALM_MAX DW_MINUTES(10)

/* disturb: a fault of the servers, of what lies between, or of a process. */
static void disturb(struct outages *outages)
{
	struct sim *sim = outages->sim;
	struct member *member = &outages->members[draw(sim, PROCESSES)];

	outages->scene->disturb(outages, member);
	if (!member->process->instance.engine)
		return;
	process_enter(member->process);
	if (chance(sim, sim->knobs.crash))
		member_kill(member);
	else if (chance(sim, sim->knobs.close) && !sim->at_work->closing)
		member_end(member);
	else if (chance(sim, sim->knobs.stall))
		member_stall(member);
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
	dw_usec arrives = outages->scene->next(outages);
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
		outages->scene->work(outages);
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

static bool is_stored(struct outages *outages, uint32_t number)
{
	char id[16];

	(void)snprintf(id, sizeof id, "t%03u", number); /* it fits */
	return outages->scene->is_stored(outages, id);
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
	if (outages->scene->calm)
		outages->scene->calm(outages);
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
	outages->scene->free(outages);
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

static void begin(struct outages *outages)
{
	struct sim *sim = outages->sim;
	struct fleet *fleet = &outages->fleet;

	sim->several = true;
	sim->program.action_at = sim->clocks.steady;
	fleet->sim = sim;
	fleet->count = PROCESSES;
	fleet->is_judged_outside = true;
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct member *member = &outages->members[i];

		member->outages = outages;
		member->process = &fleet->processes[i];
		process_init(member->process, fleet, i);
		file_init(&member->file, sim, &member->process->instance);
	}
	bug_wheel(sim->bug);
}

void outages_play(struct outages *outages)
{
	struct sim *sim = outages->sim;
	uint32_t round = 0;
	dw_usec calm_at;

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
	if (outages->scene->judge)
		outages->scene->judge(outages);
	if (!sim->trace.broken[0])
		(void)history_check(outages->history, say, outages);
	end_all(outages);
	history_free(outages->history);
}
