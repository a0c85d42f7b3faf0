#include "store/memory/topics.h"

#include <string.h>

#include "port/op.h"
#include "store/memory/queue.h"
#include "store/counts.h"
#include "topic/message.h"

struct set_topic {
	struct set_topic *next;
	dw_topic_settings settings;
	struct queue queue;
	char name[DW_TOPIC_MAX + 1];
};

static struct set_topic **place_of(struct topics_of *topics, const char *name)
{
	struct set_topic **place = &topics->first;

	while (*place && strcmp((*place)->name, name) != 0)
		place = &(*place)->next;
	return place;
}

static bool is_closed(const struct set_topic *topic)
{
	return topic->settings.paused & DW_PAUSE_INTAKE;
}

static const struct set_topic *find(const struct topics_of *topics, const char *name)
{
	const struct set_topic *topic = topics->first;

	while (topic && strcmp(topic->name, name) != 0)
		topic = topic->next;
	return topic;
}

bool topics_of_closed(const struct topics_of *topics, const char *name)
{
	const struct set_topic *topic = topics->closed > 0 ? find(topics, name) : NULL;

	return topic && is_closed(topic);
}

dw_usec topics_of_keep(const struct topics_of *topics, const char *name)
{
	const struct set_topic *topic = topics->keeping > 0 ? find(topics, name) : NULL;

	return topic ? topic->settings.keep_us : 0;
}

/* tally adds the topic to the counts of closed and keeping topics. If `counts` is false, tally
 * subtracts it. */
static void tally(struct topics_of *topics, const struct set_topic *topic, bool counts)
{
	uint32_t by = counts ? 1 : UINT32_MAX; /* UINT32_MAX subtracts one */

	topics->closed += is_closed(topic) ? by : 0;
	topics->keeping += topic->settings.keep_us > 0 ? by : 0;
}

static void drop(struct topics_of *topics, const struct alloc *alloc, struct set_topic **place)
{
	struct set_topic *topic = *place;

	*place = topic->next;
	topics->count--;
	tally(topics, topic, false);
	queue_free(&topic->queue);
	alloc_free(alloc, topic);
}

void topics_of_free(struct topics_of *topics, const struct alloc *alloc)
{
	while (topics->first)
		drop(topics, alloc, &topics->first);
	alloc_free(alloc, topics->counts);
}

void topics_of_clear(struct topics_of *topics)
{
	for (struct set_topic *topic = topics->first; topic; topic = topic->next)
		queue_clear(&topic->queue);
}

/* ---- Settings ------------------------------------------------------------------------------ */

/* make adds a topic with the default settings. */
static int make(struct topics_of *topics, const struct alloc *alloc, const char *name)
{
	struct set_topic *topic;

	if (topics->count >= DW_TOPICS_MAX)
		return DW_ELIMIT;
	topic = alloc_new(alloc, sizeof *topic);
	if (!topic)
		return DW_ENOMEM;
	if (queue_init(&topic->queue, alloc) != DW_OK) {
		queue_free(&topic->queue); /* free what queue_init has allocated */
		alloc_free(alloc, topic);
		return DW_ENOMEM;
	}
	memcpy(topic->name, name, strlen(name) + 1);
	topic->next = topics->first;
	topics->first = topic;
	topics->count++;
	return DW_OK;
}

static void set_topic(struct topics_of *topics, const struct alloc *alloc, dw_op *op)
{
	struct set_topic **place = place_of(topics, op->topic);

	if (!*place) {
		op->status = make(topics, alloc, op->topic);
		if (op->status != DW_OK)
			return;
		place = &topics->first;
	}
	tally(topics, *place, false);
	if (!(op->flags & DW_OP_PART))
		(*place)->settings = (dw_topic_settings){0};
	settings_read(&(*place)->settings, op->body, op->body_size);
	tally(topics, *place, true);
}

static void unset_topic(struct topics_of *topics, const struct alloc *alloc, dw_op *op)
{
	struct set_topic **place = place_of(topics, op->topic);

	if (!*place)
		op->status = DW_ENOENT;
	else if ((*place)->queue.all.count > 0)
		op->status = DW_EBUSY;
	else
		drop(topics, alloc, place);
}

void topics_of_change(struct topics_of *topics, const struct alloc *alloc, dw_op *op)
{
	(op->kind == DW_OP_TOPIC_SET ? set_topic : unset_topic)(topics, alloc, op);
}

/* ---- The list ------------------------------------------------------------------------------ */

void topics_of_list(struct topics_of *topics, const struct alloc *alloc, dw_op *op, bool has_owner)
{
	dw_row **tail = &op->rows;

	for (const struct set_topic *topic = topics->first; topic; topic = topic->next) {
		char text[2 * SETTINGS_TEXT_SIZE];
		size_t size = settings_write(&topic->settings, text);

		if (topic->queue.number > 0)
			size += queue_numbers(&topic->queue, text + size, sizeof text - size);
		if (!op_add_row(alloc, op, &tail, row_new(alloc, topic->name, text, size)))
			return;
	}
	if (has_owner)
		counts_add_rows(alloc, op, &tail, topics->counts,
				topics->counts ? strlen(topics->counts) : 0);
}

/* ---- Queues -------------------------------------------------------------------------------- */

void topics_of_queue(struct topics_of *topics, dw_op *op, uint64_t *generation, dw_usec now)
{
	struct set_topic *topic = *place_of(topics, op->topic);

	if (!topic || (op->kind == DW_OP_PUSH && !topic->settings.queue))
		op->status = DW_ENOENT;
	else if (op->kind == DW_OP_PUSH && is_closed(topic) &&
		 message_is_new(op->body, op->body_size))
		op->status = DW_EPAUSED;
	else if (op->kind == DW_OP_PUSH)
		op->status = queue_push(&topic->queue, op, &topic->settings, generation, now);
	else if (op->kind == DW_OP_ANSWER)
		queue_answer(&topic->queue, op, &topic->settings, now);
	else if (topic->settings.paused & DW_PAUSE_DELIVERY)
		op->head.due = DW_NEVER;
	else
		queue_take(&topic->queue, op, &topic->settings, now);
}
