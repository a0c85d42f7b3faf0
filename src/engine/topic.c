#include "engine/topic.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

static struct topic **bucket_of(struct topics *topics, const char *name, size_t size)
{
	return &topics->buckets[hash_bytes(0, name, size) % TOPIC_BUCKETS];
}

static bool has_name(const struct topic *topic, const char *name, size_t size)
{
	return strncmp(topic->name, name, size) == 0 && topic->name[size] == '\0';
}

struct topic *topics_find(const struct topics *topics, const char *name, size_t size)
{
	struct topic *topic = topics->buckets[hash_bytes(0, name, size) % TOPIC_BUCKETS];

	while (topic && !has_name(topic, name, size))
		topic = topic->hash_next;
	return topic;
}

struct topic *topics_get(struct topics *topics, const struct alloc *alloc, const char *name,
			 size_t size)
{
	struct topic *topic = topics_find(topics, name, size);
	struct topic **bucket = bucket_of(topics, name, size);

	assert(size > 0 && size <= DW_TOPIC_MAX);
	if (topic)
		return topic;
	topic = alloc_new(alloc, sizeof *topic);
	if (!topic)
		return NULL;
	memcpy(topic->name, name, size);
	topic->hash_next = *bucket;
	*bucket = topic;
	return topic;
}

void topics_drop(struct topics *topics, const struct alloc *alloc, struct topic *topic)
{
	struct topic **link = bucket_of(topics, topic->name, strlen(topic->name));

	if (topic->timer_count > 0 || topic->fire)
		return;
	while (*link != topic)
		link = &(*link)->hash_next;
	*link = topic->hash_next;
	alloc_free(alloc, topic);
}

void topics_free(struct topics *topics, const struct alloc *alloc)
{
	for (size_t i = 0; i < TOPIC_BUCKETS; i++) {
		while (topics->buckets[i]) {
			struct topic *topic = topics->buckets[i];

			topics->buckets[i] = topic->hash_next;
			alloc_free(alloc, topic);
		}
	}
}

bool topic_handled(const struct topics *topics, const struct topic *topic)
{
	return topic->fire || topics->any_fire;
}

void topic_park(struct topic *topic, struct timer *timer)
{
	timer->next = NULL;
	timer->prev = topic->unhandled_last;
	if (topic->unhandled_last)
		topic->unhandled_last->next = timer;
	else
		topic->unhandled = timer;
	topic->unhandled_last = timer;
	topic->unhandled_count++;
}

void topic_unpark(struct topic *topic, struct timer *timer)
{
	if (timer->prev)
		timer->prev->next = timer->next;
	else
		topic->unhandled = timer->next;
	if (timer->next)
		timer->next->prev = timer->prev;
	else
		topic->unhandled_last = timer->prev;
	timer->prev = timer->next = NULL;
	topic->unhandled_count--;
}
