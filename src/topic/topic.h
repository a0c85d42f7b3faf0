/* Topics and their handlers. A topic exists while it has timers or a handler. */
#ifndef DW_TOPIC_TOPIC_H
#define DW_TOPIC_TOPIC_H

#include "base/linear.h"
#include "timer/timer.h"

struct topic {
	struct linear_node node;   /* first */
	struct topic *prev, *next; /* among the parked */
	dw_fire_fn fire;           /* NULL: none */
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
	struct linear table;
	uint64_t seed;
	/* The topics that have unhandled timers; those with a handler of their own are the first,
	 * so that a turn finds what it can revive without a look at the others. */
	struct topic *parked;
	struct topic *parked_last;
	struct topic *recheck; /* the next parked one to be looked through, NULL: none */
	dw_fire_fn any_fire;   /* of "*" */
	void *any_user;
	bool any_on_worker;
};

int topics_init(struct topics *, const struct alloc *, uint64_t seed);

/* topics_free frees the topics, too. */
void topics_free(struct topics *);

/* topics_find: the topic of a name that is not NUL-terminated, or NULL. */
struct topic *topics_find(const struct topics *, const char *name, size_t size);

/* topics_get finds or makes it. NULL: no memory. */
struct topic *topics_get(struct topics *, const char *name, size_t size);

/* topics_drop frees the topic if nothing needs it any more. */
void topics_drop(struct topics *, struct topic *);

/* topics_each calls visit for every topic. For tests. */
void topics_each(struct topics *, void (*visit)(struct topic *, void *user), void *user);

/* topic_handle gives the topic a handler of its own, or takes it away (fire NULL). */
void topic_handle(struct topics *, struct topic *, dw_fire_fn fire, void *user, bool on_worker);

/* topic_handled: the topic has a handler, its own or the default one. */
bool topic_handled(const struct topics *, const struct topic *);

/* The list of the unhandled. */
void topic_park(struct topics *, struct timer *);
void topic_unpark(struct topics *, struct timer *);

/* topics_revivable: a topic that has unhandled timers and a handler, or NULL. */
struct topic *topics_revivable(const struct topics *);

/* topics_recheck: from now on all parked ones are looked through; topics_rechecked: the one that
 * `recheck` names has been. */
void topics_recheck(struct topics *);
void topics_rechecked(struct topics *);

#endif
