#include "store/memory/queue.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/usec.h"
#include "port/op.h"
#include "timer/record.h"
#include "timer/transition.h"
#include "topic/returns.h"

enum { LINK_ALL, LINK_STATE, LINKS };

struct queue_message {
	struct linear_node node; /* must be the first field; its hash is the message's number */
	struct queue_message *prev[LINKS], *next[LINKS];
	struct queue_list *list; /* the list of the state that the message has */
	dw_head head;
	/* if taken: when the message is handed out again; if later: when it returns */
	dw_usec until;
	uint64_t deliveries; /* how often this message was handed out */
	size_t body_size;
	unsigned char body[];
};

/* ---- Lists --------------------------------------------------------------------------------- */

static void list_insert(struct queue_list *list, int link, struct queue_message *before,
			struct queue_message *message)
{
	struct queue_message *after = before ? before->next[link] : list->first;

	message->prev[link] = before;
	message->next[link] = after;
	*(before ? &before->next[link] : &list->first) = message;
	*(after ? &after->prev[link] : &list->last) = message;
	list->count++;
}

static void list_remove(struct queue_list *list, int link, struct queue_message *message)
{
	struct queue_message *before = message->prev[link], *after = message->next[link];

	*(before ? &before->next[link] : &list->first) = after;
	*(after ? &after->prev[link] : &list->last) = before;
	list->count--;
}

/* put_in moves a message into the list of another state. In each list the times grow. */
static void put_in(struct queue_list *list, struct queue_message *message, dw_usec until)
{
	struct queue_message *before;

	if (message->list)
		list_remove(message->list, LINK_STATE, message);
	message->until = until;
	message->list = list;
	before = list->last;
	while (before && before->until > until)
		before = before->prev[LINK_STATE];
	list_insert(list, LINK_STATE, before, message);
}

static void drop(struct queue *queue, struct queue_message *message)
{
	list_remove(message->list, LINK_STATE, message);
	list_remove(&queue->all, LINK_ALL, message);
	linear_remove(&queue->by_number, &message->node);
	alloc_free(&queue->alloc, message);
}

int queue_init(struct queue *queue, const struct alloc *alloc)
{
	*queue = (struct queue){.alloc = *alloc};
	return linear_init(&queue->by_number, &queue->alloc);
}

void queue_clear(struct queue *queue)
{
	while (queue->all.first)
		drop(queue, queue->all.first);
}

void queue_free(struct queue *queue)
{
	queue_clear(queue);
	linear_free(&queue->by_number);
}

static struct queue_message *find(const struct queue *queue, uint64_t number)
{
	struct linear_node *node = linear_first(&queue->by_number, number);

	while (node && node->hash != number)
		node = node->next;
	return (struct queue_message *)node;
}

/* ---- Push ---------------------------------------------------------------------------------- */

static int add(struct queue *queue, const struct message *message, uint64_t generation)
{
	struct queue_message *made = alloc_new(&queue->alloc, sizeof *made + message->body_size);

	if (!made)
		return DW_ENOMEM;
	made->node.hash = queue->number + 1;
	if (linear_add(&queue->by_number, &made->node) != DW_OK) {
		alloc_free(&queue->alloc, made);
		return DW_ENOMEM;
	}
	queue->number++;
	made->head = message->head;
	made->head.generation = generation;
	made->body_size = message->body_size;
	memcpy(made->body, message->body, message->body_size);
	list_insert(&queue->all, LINK_ALL, queue->all.last, made);
	put_in(&queue->waiting, made, 0);
	return DW_OK;
}

int queue_push(struct queue *queue, dw_op *op, const struct dw_topic_settings *settings,
	       uint64_t *generation, dw_usec now)
{
	const unsigned char *at = op->body;
	const unsigned char *end = at + op->body_size;
	uint64_t before = queue->number;
	uint64_t most = settings_queue_max(settings);
	struct message message;
	int status = DW_OK;

	if (settings->overflow == DW_REFUSE &&
	    queue->all.count + message_count(op->body, op->body_size) > most)
		return DW_ELIMIT;
	while (status == DW_OK && message_next(&at, end, &message)) {
		if (message.head.generation == 0)
			message.head.generation = *generation = life_next(*generation, now);
		status = add(queue, &message, message.head.generation);
	}
	while (status != DW_OK && queue->all.last && queue->all.last->node.hash > before)
		drop(queue, queue->all.last);
	while (queue->all.count > most) {
		drop(queue, queue->all.first);
		queue->dropped++;
		op->count++;
	}
	return status;
}

/* ---- Take ---------------------------------------------------------------------------------- */

static bool is_expired(const struct queue_message *message,
		       const struct dw_topic_settings *settings, dw_usec now)
{
	return settings->expire_us > 0 && usec_sub(now, message->head.due) > settings->expire_us;
}

/* expire drops the message if it has waited for longer than the topic's expire_us. */
static bool expire(struct queue *queue, struct queue_message *message,
		   const struct dw_topic_settings *settings, dw_usec now)
{
	if (!message || !is_expired(message, settings, now))
		return false;
	drop(queue, message);
	queue->expired++;
	return true;
}

/* ready returns the message that is handed out next: a message whose time-out has passed, a message
 * that has returned, or the first message that waits. */
static struct queue_message *ready(const struct queue *queue, dw_usec now)
{
	struct queue_message *taken = queue->taken.first, *later = queue->later.first;

	if (taken && taken->until <= now)
		return taken;
	if (later && later->until <= now)
		return later;
	return queue->waiting.first;
}

static struct queue_message *next_of(struct queue *queue, const struct dw_topic_settings *settings,
				     dw_usec now)
{
	struct queue_message *message = ready(queue, now);

	while (expire(queue, message, settings, now))
		message = ready(queue, now);
	return message;
}

/* bring_forward shortens the wait of messages that return after `latest`: they then return at
 * `again`. If `all` is false, it changes only times that were computed, and none that a verdict has
 * set. */
static void bring_forward(struct queue_list *list, dw_usec latest, dw_usec again, bool all)
{
	struct queue_message *message = list->last, *before;

	for (int i = 0; i < RETURNS_LOOKS && message && message->until > latest; i++) {
		before = message->prev[LINK_STATE];
		if (all || returns_is_computed(message->until))
			put_in(list, message, again);
		message = before;
	}
}

/* clock_was_ahead corrects times that were computed while the clock was far ahead. When such a
 * clock is set back, the messages would stay hidden for too long. */
static void clock_was_ahead(struct queue *queue, const struct dw_topic_settings *settings,
			    dw_usec now)
{
	bring_forward(&queue->taken, returns_hidden_max(settings, now),
		      returns_hidden_again(settings, now), true);
	bring_forward(&queue->later, returns_retry_max(settings, now),
		      returns_retry_again(settings, now), false);
}

static dw_usec comes_back(const struct queue *queue)
{
	dw_usec taken = queue->taken.first ? queue->taken.first->until : DW_NEVER;
	dw_usec later = queue->later.first ? queue->later.first->until : DW_NEVER;

	return usec_min(taken, later);
}

static dw_row *row_of(const struct queue *queue, const struct queue_message *message)
{
	struct record record;
	char id[DW_ID_MAX + 1] = "", token[MESSAGE_TOKEN_SIZE];
	size_t size;
	unsigned char *room;
	dw_row *row;

	if (record_decode(message->body, message->body_size, &record) == DW_OK)
		memcpy(id, record.id, record.id_size);
	size = (size_t)snprintf(token, sizeof token, "%" PRIu64 "/%" PRIu64, message->node.hash,
				message->deliveries) +
	       1;
	row = row_new(&queue->alloc, id, NULL, message->body_size + size);
	if (!row)
		return NULL;
	room = row_room(row);
	memcpy(room, message->body, message->body_size);
	row->token = memcpy(room + message->body_size, token, size);
	row->body_size = message->body_size;
	row->head = message->head;
	row->head.attempt += (uint32_t)message->deliveries;
	return row;
}

void queue_take(struct queue *queue, dw_op *op, const struct dw_topic_settings *settings,
		dw_usec now)
{
	dw_usec hide = settings_hide(settings);
	struct queue_message *message;
	dw_row **tail = &op->rows;
	size_t bytes = 0;

	clock_was_ahead(queue, settings, now);
	while (expire(queue, queue->all.first, settings, now))
		;
	if (op->flags & DW_OP_LOOK)
		op->count = next_of(queue, settings, now) != NULL;
	while (!(op->flags & DW_OP_LOOK) && op->row_count < op->limit &&
	       (message = next_of(queue, settings, now)) &&
	       message_fits(bytes, message->body_size)) {
		bytes += message->body_size;
		message->deliveries++;
		if (!op_add_row(&queue->alloc, op, &tail, row_of(queue, message)))
			return; /* messages that were taken before the pause return later */
		if (settings->hide_us == DW_AT_MOST_ONCE)
			drop(queue, message);
		else
			put_in(&queue->taken, message, usec_add(now, hide));
	}
	op->head.due = comes_back(queue);
}

/* ---- Answer -------------------------------------------------------------------------------- */

/* held returns the message whose last delivery the token names, if that delivery is not over.
 * Otherwise it returns NULL. */
static struct queue_message *held(struct queue *queue, const char *token)
{
	uint64_t number, delivery;
	struct queue_message *message =
	    token_numbers(token, &number, &delivery) ? find(queue, number) : NULL;

	return message && message->list == &queue->taken && message->deliveries == delivery
		   ? message
		   : NULL;
}

/* judge applies the verdict. Returns DW_ELIMIT if the message has no retries left. */
static int judge(struct queue *queue, struct queue_message *message, const dw_op *op,
		 const struct dw_topic_settings *settings, dw_usec now)
{
	switch (op->verdict) {
	case DW_DONE:
		drop(queue, message);
		return DW_OK;
	case DW_HOLD:
	case DW_HOLD_UNSTARTED: /* these verdicts are never sent to a store */
		put_in(&queue->taken, message, usec_add(now, settings_hide(settings)));
		return DW_OK;
	case DW_RETRY:
		if (message->head.retries >= settings_retries_max(settings))
			return DW_ELIMIT;
		put_in(&queue->later, message,
		       returns_at(settings, &op->head, message->head.retries, now));
		message->head.retries++;
		return DW_OK;
	case DW_DEAD:
	default:
		return DW_ELIMIT;
	}
}

void queue_answer(struct queue *queue, dw_op *op, const struct dw_topic_settings *settings,
		  dw_usec now)
{
	const char *token = op->body;
	dw_row **tail = &op->rows;

	for (size_t i = 0; i < op->limit; i++, token += strlen(token) + 1) {
		struct queue_message *message = held(queue, token);
		int status = message ? judge(queue, message, op, settings, now) : DW_ESTALE;
		dw_row *row;

		if (status == DW_OK)
			continue;
		row = message ? row_of(queue, message) : row_new(&queue->alloc, "", NULL, 0);
		if (!op_add_row(&queue->alloc, op, &tail, row))
			return;
		row->number = i;
		row->status = status;
	}
}

size_t queue_numbers(const struct queue *queue, char *text, size_t size)
{
	const struct queue_message *first =
	    queue->waiting.first ? queue->waiting.first : queue->taken.first;

	return (size_t)snprintf(text, size,
				" waiting=%" PRIu64 " taken=%" PRIu64 " later=%" PRIu64
				" dropped=%" PRIu64 " expired=%" PRIu64 " first_due=%" PRId64,
				queue->waiting.count, queue->taken.count, queue->later.count,
				queue->dropped, queue->expired, first ? first->head.due : 0);
}
