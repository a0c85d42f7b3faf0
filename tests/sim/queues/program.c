/* The programs: they put timers, push, take and answer at random, and change the settings. */
#include "engine/queue/topic_calls.h"
#include "sim/queues/queues.h"

#include <stdio.h>
#include <string.h>

#include "topic/message.h"

#define AGAIN_MAX 20u /* how far an id that is put again lies back */

static struct sim *sim_of_party(const struct party *party)
{
	return party->all->sim;
}

/* die_inside: the process dies inside of a callback. */
static void die_inside(struct party *party)
{
	struct sim *sim = sim_of_party(party);

	if (!sim->faults.over && chance(sim, sim->knobs.crash_inside))
		party->instance->dead = true;
}

/* ---- Timers and pushes --------------------------------------------------------------------- */

static uint32_t new_number(struct queues *all)
{
	return all->number + 1 < NAMED_MAX ? ++all->number : all->number;
}

static void put_answered(dw *handle, const dw_result *result, void *user)
{
	struct party *party = user;

	(void)handle;
	if (party->instance->dead)
		return;
	judge_told(party->all, result->id, result->status);
	die_inside(party);
}

static dw_timer timer_of(struct queues *all, uint32_t queue, char id[16])
{
	judge_id(new_number(all), id);
	return (dw_timer){.size = sizeof(dw_timer),
			  .id = id,
			  .topic = judge_topic(queue),
			  .data = id,
			  .data_size = strlen(id)};
}

static void put_timer(struct party *party, dw_timer *timer)
{
	struct sim *sim = sim_of_party(party);
	int status;

	timer->due = clocks_wall(sim) + (dw_usec)draw(sim, 300000);
	status = engine_put(party->instance->engine, timer, (struct done){put_answered, party});
	if (status != DW_OK)
		judge_told(party->all, timer->id, status);
}

static void put(struct party *party, uint32_t queue)
{
	char id[16];
	dw_timer timer = timer_of(party->all, queue, id);

	put_timer(party, &timer);
}

/* debounce: which of the two puts says when the timer is due, and which has its data. */
static void debounce(struct sim *sim, dw_timer *timer)
{
	static const unsigned flags[] = {0, DW_DUE_EARLIEST, DW_DUE_LATEST,
					 DW_DUE_LATEST | DW_DATA_FIRST};

	timer->flags = flags[draw(sim, 4)];
	if (timer->flags & DW_DUE_LATEST)
		timer->wait_max_us = 1 + (dw_usec)draw(sim, 600000);
	timer->keep_us = chance(sim, 5000) ? DW_MINUTES(1) : 0;
}

/* put_again puts one of the last ids again, whatever has become of it. */
static void put_again(struct party *party, uint32_t queue)
{
	static const unsigned flags[] = {0, DW_NEW, DW_ONCE};
	struct queues *all = party->all;
	struct sim *sim = sim_of_party(party);
	uint32_t back = (uint32_t)draw(sim, AGAIN_MAX);
	char id[16];
	dw_timer timer;

	if (back >= all->number)
		return;
	judge_id(all->number - back, id);
	timer = (dw_timer){.size = sizeof timer,
			   .id = id,
			   .topic = judge_topic(queue),
			   .flags = flags[draw(sim, 3)],
			   .data = id,
			   .data_size = strlen(id)};
	if (sim->peers && timer.flags == 0)
		debounce(sim, &timer);
	judge_again(all, id);
	put_timer(party, &timer);
}

/* put_rule puts a timer that comes more than once. */
static void put_rule(struct party *party, uint32_t queue)
{
	struct sim *sim = sim_of_party(party);
	dw_usec every = DW_MILLISECONDS(1 + draw(sim, 400));
	dw_rule rule = {.size = sizeof rule,
			.every = every,
			.start = clocks_wall(sim),
			.missed = DW_MISSED_ALL,
			.missed_after_us = DW_SECONDS(1)};
	char id[16];
	dw_timer timer = timer_of(party->all, queue, id);

	rule.end = rule.start + every * (1 + (dw_usec)draw(sim, 4));
	timer.rule = &rule;
	judge_again(party->all, id);
	put_timer(party, &timer);
}

static void push(struct party *party, uint32_t queue)
{
	char id[16];
	dw_timer timer = timer_of(party->all, queue, id);
	int status =
	    engine_push(party->instance->engine, &timer, 1, (struct done){put_answered, party});

	if (status != DW_OK)
		judge_told(party->all, id, status);
}

/* ---- Taking and answering ------------------------------------------------------------------ */

static void got(dw *handle, int status, const dw_message *messages, size_t count, void *user)
{
	struct party *party = user;

	(void)handle;
	(void)status;
	if (party->instance->dead)
		return;
	party->takes = false;
	for (size_t i = 0; i < count; i++) {
		judge_got(party->all, &messages[i]);
		if (party->held_count < HELD_MAX)
			(void)snprintf(party->held[party->held_count++].token, DW_TOKEN_SIZE, "%s",
				       messages[i].token);
	}
	die_inside(party);
}

static void take(struct party *party)
{
	struct sim *sim = sim_of_party(party);
	const char *topics[QUEUES] = {judge_topic((uint32_t)draw(sim, QUEUES))};
	dw_take_options options = {.size = sizeof options,
				   .topics = topics,
				   .topic_count = chance(sim, 5000),
				   .max = 1 + (size_t)draw(sim, 8),
				   .wait_us = (dw_usec)draw(sim, 400000)};

	if (party->takes || party->held_count + 8 > HELD_MAX)
		return;
	party->takes = engine_take(party->instance->engine, &options, got, party) == DW_OK;
}

static void heard(dw *handle, const dw_result *results, size_t count, void *user)
{
	(void)handle;
	(void)results;
	(void)count;
	die_inside(user);
}

/* answer gives up one held message with a verdict; a DW_HOLD keeps it. */
static void answer(struct party *party, dw_verdict verdict)
{
	struct sim *sim = sim_of_party(party);
	size_t place = (size_t)draw(sim, party->held_count);
	char token[DW_TOKEN_SIZE];
	const char *tokens[] = {token};
	dw_answer given = {.size = sizeof given,
			   .tokens = tokens,
			   .count = 1,
			   .verdict = verdict,
			   .retry_in = verdict == DW_RETRY ? (dw_usec)draw(sim, 200000) : 0};

	memcpy(token, party->held[place].token, sizeof token);
	if (verdict != DW_HOLD)
		party->held[place] = party->held[--party->held_count];
	(void)engine_answer(party->instance->engine, &given, heard, party); /* or it comes back */
}

static dw_verdict any_verdict(struct sim *sim)
{
	static const dw_verdict verdicts[] = {DW_DONE,  DW_DONE, DW_DONE,
					      DW_RETRY, DW_HOLD, DW_DEAD};

	return verdicts[draw(sim, sim->peers ? 6 : 5)];
}

/* ---- What it does next --------------------------------------------------------------------- */

/* queue_pause: the store does it at once, so that the judge knows when. */
void queue_pause(struct queues *all, uint32_t queue, unsigned paused)
{
	char text[16];

	(void)snprintf(text, sizeof text, "paused=%u", paused);
	if (!all->backing->set(all, queue, text))
		return;
	trace(all->sim, "pause", judge_topic(queue), paused, 0);
	all->judge.queues[queue].settings.paused = paused;
	desk_news(all->parties[0].desk);
}

void queue_program_act(struct party *party)
{
	struct sim *sim = sim_of_party(party);
	uint32_t queue = (uint32_t)draw(sim, QUEUES);
	uint64_t what = draw(sim, 20);

	sim->at_work = party->instance;
	if (what < 2 && sim->peers && chance(sim, 3000))
		put_rule(party, queue);
	else if (what < 2)
		put(party, queue);
	else if (what < 4)
		put_again(party, queue);
	else if (what < 9)
		push(party, queue);
	else if (what < 13)
		take(party);
	else if (what < 19 && party->held_count > 0)
		answer(party, any_verdict(sim));
	else if (what == 19 && chance(sim, 2000))
		queue_pause(party->all, queue, (unsigned)draw(sim, 4));
}

/* queue_program_rest only takes and answers, until nothing is left. */
void queue_program_rest(struct party *party)
{
	sim_of_party(party)->at_work = party->instance;
	if (party->held_count > 0)
		answer(party, DW_DONE);
	else
		take(party);
}
