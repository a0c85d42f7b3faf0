/* Topics, their handlers and settings. A topic exists while it has any of these, or timers. */
#ifndef DW_TOPIC_TOPIC_H
#define DW_TOPIC_TOPIC_H

#include "base/linear.h"
#include "timer/timer.h"
#include "topic/counts.h"
#include "topic/handler.h"
#include "topic/ready.h"
#include "topic/settings.h"

struct topic {
	struct linear_node node;   /* first */
	struct topic *prev, *next; /* among those with waiting timers, or with full queues */
	bool is_joined;            /* it is among those with waiting timers */
	bool is_full;              /* its queue took no timer: it is among those with full queues */
	struct handler handler;    /* its own */
	dw_topic_settings settings;
	bool is_set;                   /* the store has settings of it */
	bool is_listed;                /* while settings are read: they name it */
	uint64_t timer_count, running; /* all timers; those that are being delivered */
	struct topic_started last;     /* of those that run, perhaps one that has ended since */
	uint64_t counts[TOPIC_COUNTS];
	struct topic_times *times; /* NULL: of the rest */
	dw_usec told_full;         /* steady; until then nobody is told that its queue is full */
	dw_usec full_until;        /* steady; then its next timers are tried again */
	dw_usec full_wait;         /* so long they wait after that, if none gets in */
	uint32_t full_tries;       /* so many are tried at once */
	uint32_t trying_count;     /* of these no answer has come; 0: the next ones are tried */
	bool has_room;             /* somebody has made room since they were pushed */
	struct timer *waiting;     /* due, without a handler or with a full queue: topic/order.h */
	uint64_t waiting_count;
	struct timer *ready; /* claimed or held, and not started; by deadline, but for crowds */
	struct timer *ready_last;
	uint64_t ready_count;
	dw_usec held_until; /* wall: until then its due timers waited on purpose */
	struct topic_kept kept[TOPIC_KEPTS];
	struct timer *gathered; /* due, for the next batch; in the order of (deadline, insertion) */
	struct timer *gathered_last;
	uint32_t gathered_count;
	uint32_t claiming_count; /* timers for the next batch whose claims are under way */
	char name[DW_TOPIC_MAX + 1];
};

struct topics {
	struct linear table;
	uint64_t seed;
	/* The topics that have waiting timers. Topics with a handler of their own come first, so
	 * that a turn finds the timers that it can claim without a look at the others. */
	struct topic *waiting;
	struct topic *waiting_last;
	struct topic *recheck; /* the next of them to be looked through, NULL: none */
	/* The topics whose queues are full, in the order of full_until. Their timers wait, and only
	 * claim_full() claims them. */
	struct topic *full;
	struct topic *full_last;
	struct handler any;   /* of "*" */
	struct handler queue; /* of topics that are queues */
	uint32_t set_count;   /* topics with settings */
	uint32_t times_count; /* topics with times */
	uint64_t rest[TOPIC_COUNTS];
};

int topics_init(struct topics *, const struct alloc *, uint64_t seed);

/* topics_free frees the topics, too. */
void topics_free(struct topics *);

/* topics_find: the topic of a name that is not NUL-terminated, or NULL. topics_get finds or makes
 * it. NULL: no memory. */
struct topic *topics_find(const struct topics *, const char *name, size_t size);
struct topic *topics_get(struct topics *, const char *name, size_t size);

/* topics_drop frees the topic if nothing needs it any more. One with times stays once it has
 * counted. */
void topics_drop(struct topics *, struct topic *);

/* topics_each calls visit for every topic. */
void topics_each(struct topics *, void (*visit)(struct topic *, void *user), void *user);

/* topic_is_served: it is a queue, or has a handler of its own. */
static inline bool topic_is_served(const struct topic *topic)
{
	return handler_is_set(&topic->handler) || topic->settings.queue;
}

/* topic_handle gives the topic a handler of its own, or takes it away (one that is not set). No
 * timer may be gathered. */
void topic_handle(struct topics *, struct topic *, struct handler);

/* topic_set gives the topic settings, NULL: the defaults. */
void topic_set(struct topics *, struct topic *, const dw_topic_settings *);

/* topics_handle_any sets the handler of "*": of all topics without one of their own. */
static inline void topics_handle_any(struct topics *topics, struct handler handler)
{
	topics->any = handler;
}

/* topic_handler: the topic's own handler, that of "*", or that of queues; NULL: none, or the topic
 * is paused. */
static inline const struct handler *topic_handler(const struct topics *topics,
						  const struct topic *topic)
{
	const struct handler *handler =
	    handler_is_set(&topic->handler) ? &topic->handler : &topics->any;

	if (topic->settings.paused & DW_PAUSE_DELIVERY)
		return NULL;
	if (topic->settings.queue)
		return &topics->queue;
	return handler_is_set(handler) ? handler : NULL;
}

/* topic_wait adds a timer to those that wait for a handler of its topic, or for room in its queue,
 * in the order of (deadline, insertion); topic_unwait takes it out. */
void topic_wait(struct topics *, struct timer *);
void topic_unwait(struct topics *, struct timer *);

/* topic_tries notes that a timer of a full topic is claimed or pushed now. topic_tried ends it. */
void topic_tries(struct timer *);
void topic_tried(struct timer *);

#define FULL_WAIT DW_MILLISECONDS(50) /* a full queue is tried again; each time it waits longer */
#define FULL_WAIT_MAX DW_SECONDS(1)
#define FULL_TRIES_MAX 512u

/* topic_fill notes that the topic's queue has refused a timer: a while later one is tried again.
 * topic_unfill ends that: all timers may be claimed. */
void topic_fill(struct topics *, struct topic *, dw_usec steady);
void topic_unfill(struct topics *, struct topic *);

/* topic_try notes that the next timers of a full topic are pushed now. topic_try_later: they wait
 * until then. topic_got_in: its queue took one, so twice as many are tried at once. topic_room: its
 * queue may have room. */
void topic_try(struct topics *, struct topic *, dw_usec steady);
void topic_try_later(struct topics *, struct topic *, dw_usec until);
void topic_got_in(struct topics *, struct topic *);
void topic_room(struct topics *, struct topic *);

/* topics_revivable: a topic that has waiting timers and a handler, or NULL. */
struct topic *topics_revivable(const struct topics *);

/* topics_recheck begins a look at all topics with waiting timers. topics_rechecked ends the look at
 * topics.recheck, and goes on to the next one. */
void topics_recheck(struct topics *);
void topics_rechecked(struct topics *);

#endif
