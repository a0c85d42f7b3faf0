#include "topic/topic.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "topic/order.h"

int topics_init(struct topics *topics, const struct alloc *alloc, uint64_t seed)
{
	topics->seed = seed;
	topics->queue.is_queue = true;
	return linear_init(&topics->table, alloc);
}

static bool has_name(const struct topic *topic, const char *name, size_t size)
{
	return strncmp(topic->name, name, size) == 0 && topic->name[size] == '\0';
}

struct topic *topics_find(const struct topics *topics, const char *name, size_t size)
{
	uint64_t hash = hash_bytes(topics->seed, name, size);
	struct linear_node *node = linear_first(&topics->table, hash);

	while (node && (node->hash != hash || !has_name((struct topic *)node, name, size)))
		node = node->next;
	return (struct topic *)node;
}

struct topic *topics_get(struct topics *topics, const char *name, size_t size)
{
	struct topic *topic = topics_find(topics, name, size);

	assert(size > 0 && size <= DW_TOPIC_MAX);
	if (topic)
		return topic;
	topic = alloc_new(topics->table.alloc, sizeof *topic);
	if (!topic)
		return NULL;
	memcpy(topic->name, name, size);
	topic->node.hash = hash_bytes(topics->seed, name, size);
	if (linear_add(&topics->table, &topic->node) != DW_OK) {
		alloc_free(topics->table.alloc, topic);
		return NULL;
	}
	if (topics->times_count < TOPIC_TIMES_MAX)
		topic->times = alloc_new(topics->table.alloc, sizeof *topic->times);
	topics->times_count += topic->times != NULL;
	return topic;
}

static void free_topic(struct topic *topic, void *user)
{
	const struct topics *topics = user;

	alloc_free(topics->table.alloc, topic->times);
	alloc_free(topics->table.alloc, topic);
}

void topics_drop(struct topics *topics, struct topic *topic)
{
	if (topic->timer_count > 0 || handler_is_set(&topic->handler) || topic->is_set ||
	    topic_is_kept(topic))
		return;
	assert(!topic->waiting);
	topic_unfill(topics, topic);
	linear_remove(&topics->table, &topic->node);
	topics->times_count -= topic->times != NULL;
	free_topic(topic, topics);
}

struct topic_visitor {
	void (*visit)(struct topic *, void *user);
	void *user;
};

static void visit_topic(struct linear_node *node, void *user)
{
	const struct topic_visitor *visitor = user;

	visitor->visit((struct topic *)node, visitor->user);
}

void topics_each(struct topics *topics, void (*visit)(struct topic *, void *user), void *user)
{
	struct topic_visitor visitor = {visit, user};

	for (uint32_t i = 0; linear_visit(&topics->table, i, visit_topic, &visitor); i++)
		;
}

void topics_free(struct topics *topics)
{
	topics_each(topics, free_topic, topics);
	linear_free(&topics->table);
}

/* ---- Waiting for a handler ----------------------------------------------------------------- */

/* join adds the topic to the list of topics with waiting timers. Topics with a handler of their own
 * go to the front. A paused topic and a topic with a full queue do not join, because their timers
 * wait for no handler. */
static void join(struct topics *topics, struct topic *topic)
{
	bool handled = topic_is_served(topic);
	struct topic *before = handled ? NULL : topics->waiting_last;
	struct topic *after = handled ? topics->waiting : NULL;

	if (topic->is_full || topic->settings.paused & DW_PAUSE_DELIVERY)
		return;
	topic->is_joined = true;
	topic->prev = before;
	topic->next = after;
	*(before ? &before->next : &topics->waiting) = topic;
	*(after ? &after->prev : &topics->waiting_last) = topic;
}

static void leave(struct topics *topics, struct topic *topic)
{
	if (!topic->is_joined)
		return;
	topic->is_joined = false;
	if (topics->recheck == topic)
		topics_rechecked(topics);
	*(topic->prev ? &topic->prev->next : &topics->waiting) = topic->next;
	*(topic->next ? &topic->next->prev : &topics->waiting_last) = topic->prev;
	topic->prev = topic->next = NULL;
}

void topic_handle(struct topics *topics, struct topic *topic, struct handler handler)
{
	assert(!topic->gathered);
	if (topic->waiting)
		leave(topics, topic);
	topic->handler = handler;
	if (topic->waiting)
		join(topics, topic);
}

void topic_set(struct topics *topics, struct topic *topic, const dw_topic_settings *settings)
{
	topic_unfill(topics, topic); /* under the new settings the queue may have space */
	if (topic->waiting)
		leave(topics, topic);
	topics->set_count -= topic->is_set;
	topic->is_set = settings != NULL;
	topics->set_count += topic->is_set;
	topic->settings = settings ? *settings : (dw_topic_settings){0};
	if (topic->waiting)
		join(topics, topic);
}

static void leave_full(struct topics *topics, struct topic *topic)
{
	*(topic->prev ? &topic->prev->next : &topics->full) = topic->next;
	*(topic->next ? &topic->next->prev : &topics->full_last) = topic->prev;
	topic->prev = topic->next = NULL;
}

static void join_full(struct topics *topics, struct topic *topic, dw_usec until)
{
	struct topic *before = topics->full_last;

	while (before && before->full_until > until)
		before = until == 0 ? NULL : before->prev; /* 0: the topic goes to the front */
	topic->full_until = until;
	topic->prev = before;
	topic->next = before ? before->next : topics->full;
	*(before ? &before->next : &topics->full) = topic;
	*(topic->next ? &topic->next->prev : &topics->full_last) = topic;
}

static void try_at(struct topics *topics, struct topic *topic, dw_usec until)
{
	leave_full(topics, topic);
	join_full(topics, topic, until);
}

void topic_tries(struct timer *timer)
{
	timer->topic->trying_count += !timer->trying;
	timer->trying = true;
}

void topic_tried(struct timer *timer)
{
	if (timer->trying)
		timer->topic->trying_count--;
	timer->trying = false;
}

void topic_wait(struct topics *topics, struct timer *timer)
{
	struct topic *topic = timer->topic;

	topic_tried(timer);
	if (!topic->waiting)
		join(topics, topic);
	order_add(&topic->waiting, timer);
	topic->waiting_count++;
	if (topic->is_full && timer->state == TIMER_CLAIMED)
		try_at(topics, topic, 0);
}

void topic_unwait(struct topics *topics, struct timer *timer)
{
	struct topic *topic = timer->topic;

	order_remove(&topic->waiting, timer);
	topic->waiting_count--;
	if (!topic->waiting)
		leave(topics, topic);
}

/* ---- A full queue -------------------------------------------------------------------------- */

void topic_fill(struct topics *topics, struct topic *topic, dw_usec steady)
{
	dw_usec until = usec_add(steady, FULL_WAIT);

	topic->full_tries = 1;
	if (topic->is_full) {
		try_at(topics, topic, topic->has_room ? 0 : usec_max(topic->full_until, until));
		return;
	}
	leave(topics, topic);
	topic->is_full = true;
	topic->has_room = false;
	topic->full_wait = FULL_WAIT;
	join_full(topics, topic, until);
}

void topic_try(struct topics *topics, struct topic *topic, dw_usec steady)
{
	topic->has_room = false;
	try_at(topics, topic, usec_add(steady, topic->full_wait));
	topic->full_wait = usec_min(2 * topic->full_wait, FULL_WAIT_MAX);
}

void topic_try_later(struct topics *topics, struct topic *topic, dw_usec until)
{
	try_at(topics, topic, until);
}

/* try_now lets the topic's next timers be tried at once. The next pause is short again. */
static void try_now(struct topics *topics, struct topic *topic)
{
	topic->full_wait = FULL_WAIT;
	try_at(topics, topic, 0);
}

void topic_got_in(struct topics *topics, struct topic *topic)
{
	if (!topic->is_full)
		return;
	if (topic->full_tries < FULL_TRIES_MAX)
		topic->full_tries *= 2;
	try_now(topics, topic);
}

void topic_room(struct topics *topics, struct topic *topic)
{
	if (!topic->is_full)
		return;
	topic->has_room = true;
	try_now(topics, topic);
}

void topic_unfill(struct topics *topics, struct topic *topic)
{
	if (!topic->is_full)
		return;
	leave_full(topics, topic);
	topic->is_full = false;
	if (topic->waiting)
		join(topics, topic);
}

struct topic *topics_revivable(const struct topics *topics)
{
	struct topic *topic = topics->waiting;

	return topic && topic_handler(topics, topic) ? topic : NULL;
}

void topics_recheck(struct topics *topics)
{
	topics->recheck = topics->waiting;
}

void topics_rechecked(struct topics *topics)
{
	topics->recheck = topics->recheck->next;
}
