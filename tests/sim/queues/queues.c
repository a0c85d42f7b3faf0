/* One seed: programs and their processes go through faults. Then all faults end, and the programs
 * take until nothing is left. */
#include "sim/queues/queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/requests.h"
#include "topic/settings.h"

#define EVENTS_MAX 400000u

/* ---- The table ----------------------------------------------------------------------------- */
static dw_topic_info table_info(struct queues *all, uint32_t queue)
{
	struct alloc alloc = memory_alloc(&all->sim->table_account);
	struct table_caller caller = {.role = DW_OWNER, .now = clocks_wall(all->sim)};
	dw_topic_info found = {.size = sizeof found};
	dw_op list = {.kind = DW_OP_TOPIC_LIST};

	(void)table_apply(all->table, &list, &caller);
	for (const dw_row *row = list.rows; row; row = row->next)
		if (strcmp(row->id, judge_topic(queue)) == 0)
			info_read(&found, row->body, row->body_size);
	rows_free(&alloc, list.rows);
	return found;
}

static bool table_is_empty(struct queues *all)
{
	return table_count(all->table) == 0;
}

static bool table_set(struct queues *all, uint32_t queue, const char *text)
{
	struct table_caller caller = {.role = DW_CLIENT, .now = clocks_wall(all->sim)};
	dw_op set = {.kind = DW_OP_TOPIC_SET,
		     .flags = DW_OP_PART,
		     .topic = judge_topic(queue),
		     .body = text,
		     .body_size = strlen(text)};

	return table_apply(all->table, &set, &caller);
}

static const struct backing table_backing = {table_info, table_is_empty, table_set};

/* ---- Beginning ----------------------------------------------------------------------------- */

static void choose_knobs(struct queues *all)
{
	struct sim *sim = all->sim;
	struct knobs *knobs = &sim->knobs;

	knobs->crash = some(sim, 30);
	knobs->crash_inside = some(sim, 100);
	knobs->close = some(sim, 20);
	knobs->step = 0; /* what is hidden is hidden by the wall clock */
	knobs->stall = some(sim, 40);
	knobs->fail = some(sim, 300);
	knobs->slow = some(sim, 200);
	knobs->memory = some(sim, 40);
	knobs->action_count = 100 + (uint32_t)draw(sim, 900);
	knobs->pause_max_us = any_pause(sim);
	knobs->hold_ms = 1000;
	knobs->timers_max = 1000000;
	all->unknown = some(sim, 200);
}

static void set_topic(struct queues *all, uint32_t queue)
{
	struct sim *sim = all->sim;
	struct table_caller caller = {.role = DW_OWNER, .now = clocks_wall(sim)};
	dw_topic_settings settings = {
	    .size = sizeof settings,
	    .queue = 1,
	    .max = 1 + (uint32_t)draw(sim, chance(sim, 5000) ? 6 : 1000),
	    .overflow = chance(sim, 3000) ? DW_REFUSE : DW_DROP_OLDEST,
	    .expire_us = chance(sim, 3000) ? DW_SECONDS(1 + (dw_usec)draw(sim, 4)) : 0,
	    .hide_us = chance(sim, 1500) ? DW_AT_MOST_ONCE : DW_SECONDS(1),
	    .retries_max = 255};
	char text[SETTINGS_TEXT_SIZE];
	dw_op set = {.kind = DW_OP_TOPIC_SET,
		     .topic = judge_topic(queue),
		     .body = text,
		     .body_size = settings_write(&settings, text)};

	if (all->table)
		(void)table_apply(all->table, &set, &caller);
	judge_set(all, queue, &settings);
}

static void begin(struct queues *all, bool on_redis)
{
	struct sim *sim = all->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);

	choose_knobs(all);
	clocks_init(sim, 0);
	all->table = on_redis ? NULL : table_new(&alloc);
	all->backing = on_redis ? &redis_backing : &table_backing;
	for (uint32_t i = 0; i < QUEUES; i++)
		set_topic(all, i);
	if (on_redis)
		redis_begin(all);
	for (uint32_t i = 0; i < PARTIES; i++) {
		struct party *party = &all->parties[i];

		party->all = all;
		party->role = i == 0 ? DW_OWNER : DW_CLIENT;
		party->own = (struct instance){.sim = sim,
					       .number = i,
					       .account = {.sim = sim, .may_fail = true},
					       .open_at = sim->clocks.steady};
		party->instance = on_redis ? &all->fleet.processes[i].instance : &party->own;
	}
	sim->program.actions_left = sim->knobs.action_count;
	all->action_at = sim->clocks.steady;
}

/* ---- What happens next --------------------------------------------------------------------- */

static struct party *any_party(struct queues *all)
{
	return &all->parties[draw(all->sim, PARTIES)];
}

static void disturb(struct queues *all)
{
	struct sim *sim = all->sim;
	struct party *party = any_party(all);

	if (!all->table)
		redis_disturb(all);
	party_enter(party);
	if (chance(sim, sim->knobs.memory))
		memory_disturb(sim);
	if (!party->instance->engine)
		return;
	if (chance(sim, sim->knobs.crash)) {
		party_crash(party);
	} else if (chance(sim, sim->knobs.close) && !party->instance->closing) {
		trace(sim, "close", "", party->instance->number, 0);
		instance_close(party->instance);
	} else if (chance(sim, sim->knobs.stall)) {
		instance_stall(party->instance, (dw_usec)draw(sim, DW_SECONDS(sim->peers ? 8 : 2)));
	}
}

static void act(struct queues *all)
{
	struct sim *sim = all->sim;
	struct party *party = any_party(all);

	all->action_at = sim->clocks.steady + 1 +
			 (dw_usec)draw(sim, all->calm ? 20000 : sim->knobs.pause_max_us);
	if (!all->calm && --sim->program.actions_left == 0)
		return;
	party_enter(party);
	if (party_is_at_work(party))
		(all->calm ? queue_program_rest : queue_program_act)(party);
}

static void serve(struct party *party)
{
	dw_usec now = party->all->sim->clocks.steady;

	party_enter(party);
	if (!party_runs(party))
		(party->all->table ? party_open : redis_party_open)(party);
	else if (party->desk && desk_next(party->desk) <= now)
		desk_work(party->desk);
	else
		party_turn(party);
}

/* step lets time pass until the next event and does it. */
static void step(struct queues *all)
{
	struct sim *sim = all->sim;
	struct party *next = NULL;
	dw_usec arrives = all->table ? DW_NEVER : network_next(&all->fleet.network);
	dw_usec at = usec_min(all->action_at, arrives);

	for (uint32_t i = 0; i < PARTIES; i++) {
		if (party_next(&all->parties[i]) >= at)
			continue;
		next = &all->parties[i];
		at = party_next(next);
	}
	if (at > sim->clocks.steady)
		clocks_pass(sim, at - sim->clocks.steady);
	if (next)
		serve(next);
	else if (at == arrives)
		requests_work(&all->fleet);
	else
		act(all);
	if (!sim->faults.over)
		disturb(all);
	if (sim->trace.event_count > EVENTS_MAX)
		broken(sim, "livelock", "more than %u events", EVENTS_MAX);
}

/* ---- The end ------------------------------------------------------------------------------- */

/* become_calm ends all faults. Nothing is paused any more. */
static void become_calm(struct queues *all)
{
	struct sim *sim = all->sim;

	sim->faults.over = all->calm = true;
	sim->memory.fail_in = 0;
	sim->knobs.fail = sim->knobs.slow = 0;
	for (uint32_t i = 0; i < QUEUES; i++)
		queue_pause(all, i, 0);
	trace(sim, "calm", "", 0, 0);
}

static bool is_over(struct queues *all)
{
	for (uint32_t i = 0; i < PARTIES; i++)
		if (all->parties[i].held_count > 0)
			return false;
	return judge_is_over(all);
}

static void finish(struct queues *all)
{
	struct sim *sim = all->sim;

	for (uint32_t i = 0; i < PARTIES; i++) {
		party_enter(&all->parties[i]);
		party_free(&all->parties[i]);
	}
	if (all->table)
		table_free(all->table);
	else
		redis_end(all);
	if (sim->table_account.block_count != 0)
		broken(sim, "leak", "%zu blocks of the store are left",
		       sim->table_account.block_count);
}

static void run(struct sim *sim, bool on_redis)
{
	struct queues *all = calloc(1, sizeof *all);
	bool disturbed;
	uint32_t unknown;

	if (!all)
		abort();
	all->sim = sim;
	begin(all, on_redis);
	unknown = all->unknown;
	disturbed = sim->knobs.fail > 0;
	while (!sim->trace.broken[0] && sim->program.actions_left > 0)
		step(all);
	if (!sim->trace.broken[0])
		become_calm(all);
	all->unknown = 0;
	while (!sim->trace.broken[0] && !is_over(all))
		step(all);
	all->unknown = unknown;
	sim->knobs.fail = disturbed; /* for the judge */
	if (!sim->trace.broken[0])
		judge_end(all);
	finish(all);
	free(all);
}

void queues_run(struct sim *sim)
{
	run(sim, false);
}

void queues_redis_run(struct sim *sim)
{
	run(sim, true);
}
