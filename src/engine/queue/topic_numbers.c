#include "engine/queue/topic_numbers.h"

#include <stdio.h>

#include "base/crc.h"
#include "base/scope.h"
#include "engine/core.h"
#include "port/driven.h"
#include "topic/gather.h"
#include "topic/order.h"

/* The timers of a topic that are due and have not started. */
struct due {
	/* Timers whose shard may not start them, and timers whose zone is not known. These timers
	 * wait in any state of the topic. */
	uint64_t suspended, zoneless;
	/* Timers that the store refuses because they are too large. They are also counted in
	 * `others`. */
	uint64_t refused;
	uint64_t others;
	dw_usec oldest; /* the earliest deadline of the timers in `others`; 0: there are none */
	const struct timer *waiting; /* the first claimed timer that has not started */
};

/* note_oldest keeps the earlier deadline. One of 0 or less counts as 1, because 0 means none. */
static void note_oldest(dw_usec due, dw_usec *oldest)
{
	due = due > 0 ? due : 1;
	if (*oldest == 0 || due < *oldest)
		*oldest = due;
}

/* due_of counts the due timers of a topic. Timers are claimed a little before they are due, so
 * deadlines are compared. */
static struct due due_of(const struct topic *topic, dw_usec now)
{
	const struct topic_kept *overdue = &topic->kept[TOPIC_OVERDUE];
	const struct topic_kept *refused = &topic->kept[TOPIC_REFUSED];
	const struct timer *ready =
	    topic->ready && topic->ready->head.due <= now ? topic->ready : NULL;
	struct due due = {.suspended = topic->kept[TOPIC_SUSPENDED].count,
			  .zoneless = topic->kept[TOPIC_ZONELESS].count,
			  .refused = refused->count,
			  .others = topic->waiting_count + topic->gathered_count + overdue->count +
				    refused->count,
			  .waiting = topic->gathered ? topic->gathered : ready};

	due.others += ready ? topic->ready_count : 0;
	if (overdue->count > 0)
		note_oldest(overdue->first, &due.oldest);
	if (refused->count > 0)
		note_oldest(refused->first, &due.oldest);
	if (topic->waiting)
		note_oldest(order_first(topic->waiting)->head.due, &due.oldest);
	if (due.waiting && ready && timer_is_before(ready, due.waiting))
		due.waiting = ready;
	if (due.waiting)
		note_oldest(due.waiting->head.due, &due.oldest);
	return due;
}

static void count_due(const struct topic *topic, const struct due *due, dw_topic_info *info)
{
	info->due = due->suspended + due->zoneless + due->others;
	info->oldest = due->oldest;
	if (due->suspended > 0)
		note_oldest(topic->kept[TOPIC_SUSPENDED].first, &info->oldest);
	if (due->zoneless > 0)
		note_oldest(topic->kept[TOPIC_ZONELESS].first, &info->oldest);
	if (due->waiting) {
		info->unstarted_due = due->waiting->head.due;
		info->unstarted_generation = due->waiting->head.generation;
	}
}

static void count_times(const struct topic_times *times, dw_topic_info *info)
{
	info->timed = 1;
	info->late_p50_us = spread_quantile(&times->late, 50);
	info->late_p99_us = spread_quantile(&times->late, 99);
	info->late_max_us = times->late.max;
	info->took_p50_us = spread_quantile(&times->took, 50);
	info->took_p99_us = spread_quantile(&times->took, 99);
	info->took_max_us = times->took.max;
}

/* is_paused returns true if the topic is paused on purpose. A program that holds deliveries has
 * paused because it can handle no more, which does not count. */
static bool is_paused(const struct engine *engine, const struct topic *topic)
{
	return topic->settings.paused & DW_PAUSE_DELIVERY ||
	       (engine->delivery.paused && engine->stats.held == 0);
}

/* is_overfull returns true if the topic has no handler for a while because the program has more
 * timers than it can handle. */
static bool is_overfull(const struct topic *topic)
{
	return topic->ready && topic->ready->unstarted;
}

/* waits_of_suspended returns why the suspended timers wait. Their shards may not start them. */
static dw_waits waits_of_suspended(const struct engine *engine)
{
	const struct giving *giving = &engine->ownership.giving;
	bool moves = giving->draining + giving->asked > 0;

	return moves && engine->shards.refused == 0 && lease_find_over(engine) < 0 ? DW_WAITS_MOVES
										   : DW_WAITS_STORE;
}

/* waits_of returns why the due timers of the topic do not start. */
static dw_waits waits_of(const struct engine *engine, const struct topic *topic,
			 const struct due *due, dw_usec now)
{
	if (is_paused(engine, topic))
		return DW_WAITS_PAUSED;
	if (due->others == 0 && due->suspended > 0)
		return waits_of_suspended(engine);
	if (due->others == 0)
		return DW_WAITS_ZONE;
	if (topic->is_full)
		return DW_WAITS_QUEUE;
	if (!topic_handler(&engine->topics, topic) && !is_overfull(topic))
		return DW_WAITS_HANDLER;
	if (due->refused > 0)
		return DW_WAITS_SIZE;
	return topic_gathers(topic, now) && !engine->delivery.paused ? DW_WAITS_BATCH
								     : DW_WAITS_WORKERS;
}

void topic_numbers_count(const struct engine *engine, const struct topic *topic,
			 dw_topic_info *info)
{
	dw_usec now = engine_now(engine);
	struct due due = due_of(topic, now);

	count_due(topic, &due, info);
	info->waits = info->due > 0 ? waits_of(engine, topic, &due, now) : DW_WAITS_NOT;
	if (info->waits == DW_WAITS_PAUSED)
		info->on_purpose = info->due;
	else
		info->on_purpose = info->waits == DW_WAITS_BATCH ? due.others : 0;
	info->running = topic->running;
	if (topic->running > 0) {
		info->started_due = topic->last.due;
		info->started_generation = topic->last.generation;
	}
	info->pending = topic->timer_count - info->due - info->running;
	info->started = topic->counts[TOPIC_STARTED];
	info->done = topic->counts[TOPIC_DONE];
	info->retried = topic->counts[TOPIC_RETRIED];
	info->dead = topic->counts[TOPIC_DEAD];
	info->late = topic->counts[TOPIC_LATE];
	if (topic->times)
		count_times(topic->times, info);
}

/* Text that grows line by line; at most DW_TOPICS_MAX lines. */
struct lines {
	struct alloc alloc;
	char *text;
	size_t size, room;
	size_t count;
	bool failed;
	const struct engine *engine;
};

static bool make_room(struct lines *lines, size_t more)
{
	size_t room = lines->room ? 2 * lines->room : 4096;
	char *text;

	if (lines->room - lines->size >= more)
		return true;
	room = room < lines->size + more ? lines->size + more : room;
	text = lines->alloc.resize(lines->alloc.user, lines->text, room);
	if (!text)
		return false;
	lines->text = text;
	lines->room = room;
	return true;
}

static void add_line(struct topic *topic, void *user)
{
	char numbers[SETTINGS_TEXT_SIZE];
	struct lines *lines = user;
	dw_topic_info info = {.size = 0};

	topic_numbers_count(lines->engine, topic, &info);
	if (lines->failed || lines->count == DW_TOPICS_MAX ||
	    (topic->timer_count == 0 && !topic_has_counted(topic)))
		return;
	(void)numbers_write(&info, numbers);
	if (!make_room(lines, DW_TOPIC_MAX + SETTINGS_TEXT_SIZE + 3)) {
		lines->failed = true;
		return;
	}
	lines->count++;
	lines->size += (size_t)snprintf(lines->text + lines->size, lines->room - lines->size,
					"%s\t%s\n", topic->name, numbers); /* always fits */
}

static void free_lines(struct lines *lines)
{
	alloc_free(&lines->alloc, lines->text);
}

void topic_numbers_tell(struct engine *engine)
{
	struct lines lines AT_END(free_lines) = {.alloc = engine->alloc, .engine = engine};
	struct registry *registry = &engine->recovery.registry;
	uint32_t told;
	dw_op *op;

	if (!driven_keeps_topics(engine->store) || !registry->is_loaded)
		return; /* what an earlier owner has written is not known yet */
	topics_each(&engine->topics, add_line, &lines);
	told = crc32c(0, lines.text, lines.size);
	if (lines.failed || (registry->has_told && told == registry->told))
		return;
	op = op_new(&engine->alloc, DW_OP_TOPIC_COUNT, NULL, lines.text, lines.size);
	if (!op)
		return; /* without memory, the next report writes the numbers */
	registry->told = told;
	registry->has_told = true;
	submit_push(&engine->submit, op, false);
}

#define BUSY_AFTER DW_SECONDS(1)

struct waiting {
	const struct engine *engine;
	uint64_t *counts;
	bool changes;
};

static void add_waiting(struct topic *topic, void *user)
{
	struct waiting *waiting = user;
	const struct engine *engine = waiting->engine;
	dw_usec now = engine_now(engine);
	struct due due = due_of(topic, now);
	dw_waits waits = waits_of(engine, topic, &due, now);

	if (waits == DW_WAITS_PAUSED) {
		waiting->counts[waits] += due.suspended + due.zoneless + due.others;
		return;
	}
	waiting->counts[waits_of_suspended(engine)] += due.suspended;
	waiting->counts[DW_WAITS_ZONE] += due.zoneless;
	if (waits == DW_WAITS_WORKERS && due.others > 0 && usec_sub(now, due.oldest) < BUSY_AFTER)
		/* These timers start in a moment, or are counted next time. */
		waiting->changes = true;
	else
		waiting->counts[waits] += due.others;
	waiting->changes = waiting->changes || waiting->counts[DW_WAITS_BATCH] > 0;
}

bool topic_numbers_waits(struct engine *engine, uint64_t ret_counts[WAITS_COUNT])
{
	struct waiting waiting = {engine, ret_counts, false};

	for (int i = 0; i < WAITS_COUNT; i++)
		ret_counts[i] = 0;
	topics_each(&engine->topics, add_waiting, &waiting);
	return waiting.changes;
}
