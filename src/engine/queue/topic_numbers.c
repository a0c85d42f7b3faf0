#include "engine/queue/topic_numbers.h"

#include <stdio.h>

#include "base/crc.h"
#include "base/scope.h"
#include "engine/core.h"
#include "port/driven.h"
#include "topic/gather.h"
#include "topic/order.h"

/* count_due: timers are claimed a little before they are due. */
static void count_due(const struct topic *topic, dw_usec now, dw_topic_info *info)
{
	bool is_behind = topic->ready && topic->ready->head.due <= now;
	const struct timer *first[] = {order_first(topic->waiting), topic->gathered,
				       is_behind ? topic->ready : NULL};

	info->due = topic->waiting_count + topic->gathered_count;
	info->due += topic->overdue_count + (is_behind ? topic->ready_count : 0);
	info->due += topic->refused_count;
	info->oldest = topic->overdue_count > 0 ? topic->overdue_first : 0;
	if (topic->refused_count > 0)
		info->oldest =
		    usec_min(info->oldest ? info->oldest : DW_NEVER, topic->refused_first);
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (first[i] && (info->oldest == 0 || first[i]->head.due < info->oldest))
			info->oldest = first[i]->head.due;
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

/* waits_of: why what is due of the topic does not start. */
static dw_waits waits_of(const struct engine *engine, const struct topic *topic, dw_usec now)
{
	if (engine->delivery.paused || topic->settings.paused & DW_PAUSE_DELIVERY)
		return DW_WAITS_PAUSED;
	if (!lease_holds(engine))
		return DW_WAITS_STORE;
	if (topic->is_full)
		return DW_WAITS_QUEUE;
	if (!topic_handler(&engine->topics, topic))
		return DW_WAITS_HANDLER;
	if (topic->refused_count > 0)
		return DW_WAITS_SIZE;
	return topic_gathers(topic, now) ? DW_WAITS_BATCH : DW_WAITS_WORKERS;
}

void topic_numbers_count(const struct engine *engine, const struct topic *topic,
			 dw_topic_info *info)
{
	dw_usec now = engine_now(engine);

	count_due(topic, now, info);
	info->waits = info->due > 0 ? waits_of(engine, topic, now) : DW_WAITS_NOT;
	info->on_purpose = info->waits >= DW_WAITS_PAUSED ? info->due : 0;
	info->running = topic->running;
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
		return; /* it is not known yet what an earlier owner has told */
	topics_each(&engine->topics, add_line, &lines);
	told = crc32c(0, lines.text, lines.size);
	if (lines.failed || (registry->has_told && told == registry->told))
		return;
	op = op_new(&engine->alloc, DW_OP_TOPIC_COUNT, NULL, lines.text, lines.size);
	if (!op)
		return; /* the next report brings them */
	registry->told = told;
	registry->has_told = true;
	submit_push(engine, op, false);
}

#define BUSY_AFTER DW_SECONDS(1)

struct waiting {
	const struct engine *engine;
	uint64_t *counts;
};

static void add_waiting(struct topic *topic, void *user)
{
	const struct waiting *waiting = user;
	dw_topic_info info = {.size = 0};

	topic_numbers_count(waiting->engine, topic, &info);
	if (info.waits == DW_WAITS_WORKERS &&
	    usec_sub(engine_now(waiting->engine), info.oldest) < BUSY_AFTER)
		return; /* they start in a moment */
	waiting->counts[info.waits] += info.due;
}

void topic_numbers_waits(struct engine *engine, uint64_t ret_counts[WAITS_COUNT])
{
	struct waiting waiting = {engine, ret_counts};

	for (int i = 0; i < WAITS_COUNT; i++)
		ret_counts[i] = 0;
	topics_each(&engine->topics, add_waiting, &waiting);
	ret_counts[DW_WAITS_STORE] += engine->timers.suspended.count;
}
