/* Topics and their handlers. A topic exists while it has timers or a handler. */
#ifndef DW_ENGINE_TOPIC_H
#define DW_ENGINE_TOPIC_H

#include "timer/timer.h"

#define TOPIC_BUCKETS 256u

struct topic {
	struct topic *hash_next;
	dw_fire_fn fire; /* NULL: none */
	void *user;
	bool on_worker;
	uint64_t timer_count;
	struct timer *unhandled; /* due, without a handler; in the order they came due */
	struct timer *unhandled_last;
	uint64_t unhandled_count;
	uint64_t recheck; /* so many from the front may not be due: the clock was set back */
	char name[DW_TOPIC_MAX + 1];
};

struct topics {
	struct topic *buckets[TOPIC_BUCKETS];
	dw_fire_fn any_fire; /* of "*" */
	void *any_user;
	bool any_on_worker;
};

/* topics_find: the topic of a name that is not NUL-terminated, or NULL. */
struct topic *topics_find(const struct topics *, const char *name, size_t size);

/* topics_get finds or makes it. NULL: no memory. */
struct topic *topics_get(struct topics *, const struct alloc *, const char *name, size_t size);

/* topics_drop frees the topic if nothing needs it any more. */
void topics_drop(struct topics *, const struct alloc *, struct topic *);
void topics_free(struct topics *, const struct alloc *);

/* topic_handled: the topic has a handler, its own or the default one. */
bool topic_handled(const struct topics *, const struct topic *);

/* The list of the unhandled. */
void topic_park(struct topic *, struct timer *);
void topic_unpark(struct topic *, struct timer *);

#endif
