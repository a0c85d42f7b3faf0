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
	struct topic *prev, *next; /* links in the list `waiting` or in the list `full` */
	bool is_joined;            /* the topic is in the list `waiting` of struct topics */
	bool is_full;           /* its queue has refused a timer; the topic is in the list `full` */
	struct handler handler; /* the topic's own handler */
	dw_topic_settings settings;
	bool is_set;                   /* the store has settings for this topic */
	bool is_listed;                /* while settings are read: the store has named this topic */
	uint64_t timer_count, running; /* all timers; timers that are being delivered */
	struct topic_started last;     /* the latest running timer, or one that has ended since */
	uint64_t counts[TOPIC_COUNTS];
	struct topic_times *times; /* NULL: the topic's counts are also in topics.rest */
	dw_usec told_full;         /* steady; until then no event reports that its queue is full */
	dw_usec full_until;        /* steady; no timer of the full queue is tried before it */
	dw_usec full_wait;         /* pause after the next try; it doubles until there is space */
	uint32_t full_tries;       /* number of timers that are tried at once */
	uint32_t trying_count;     /* tried timers without an answer; at 0 the next are tried */
	bool has_room;             /* the queue has got space since the last try */
	struct timer *waiting;     /* root of due timers without a handler or space (order.h) */
	uint64_t waiting_count;
	struct timer *ready; /* claimed or held timers that have not started; nearly by deadline */
	struct timer *ready_last;
	uint64_t ready_count;
	dw_usec held_until; /* wall clock; until then the topic's due timers waited on purpose */
	struct topic_kept kept[TOPIC_KEPTS];
	struct timer *gathered; /* due timers of the next batch, by (deadline, insertion) */
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
	struct topic *recheck; /* the next topic with waiting timers to be looked at; NULL: none */
	/* The topics whose queues are full, in the order of full_until. Their timers wait, and only
	 * claim_full() claims them. */
	struct topic *full;
	struct topic *full_last;
	struct handler any;   /* the handler of "*" */
	struct handler queue; /* the handler of topics that are queues */
	uint32_t set_count;   /* topics with settings */
	uint32_t times_count; /* topics with times */
	uint64_t rest[TOPIC_COUNTS];
};

int topics_init(struct topics *, const struct alloc *, uint64_t seed);

/* topics_free frees the table and all topics. */
void topics_free(struct topics *);

/* topics_find returns the topic with this name, which need not end with NUL, or NULL. topics_get
 * makes the topic if there is none. It returns NULL if there is no memory. */
struct topic *topics_find(const struct topics *, const char *name, size_t size);
struct topic *topics_get(struct topics *, const char *name, size_t size);

/* topics_drop frees the topic if nothing needs it any more. A topic with times (counts.h) stays
 * once it has counted anything. */
void topics_drop(struct topics *, struct topic *);

/* topics_each calls visit for every topic. */
void topics_each(struct topics *, void (*visit)(struct topic *, void *user), void *user);

/* topic_is_served returns true if the topic is a queue, or has a handler of its own. */
static inline bool topic_is_served(const struct topic *topic)
{
	return handler_is_set(&topic->handler) || topic->settings.queue;
}

/* topic_handle sets the topic's own handler. A handler that is not set takes the topic's handler
 * away. No timer may be gathered. */
void topic_handle(struct topics *, struct topic *, struct handler);

/* topic_set sets the topic's settings. NULL means the defaults. */
void topic_set(struct topics *, struct topic *, const dw_topic_settings *);

/* topics_handle_any sets the handler of "*". It is used for all topics without a handler of their
 * own. */
static inline void topics_handle_any(struct topics *topics, struct handler handler)
{
	topics->any = handler;
}

/* topic_handler returns the topic's own handler, or the handler of "*" or of queues. It returns
 * NULL if there is none, or if the topic is paused. */
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

/* topic_wait adds a timer to topic->waiting. There it waits for a handler of the topic, or for
 * space in the topic's queue. topic_unwait takes the timer out. */
void topic_wait(struct topics *, struct timer *);
void topic_unwait(struct topics *, struct timer *);

/* topic_tries counts a timer of a full topic that is claimed or pushed now, until topic_tried. */
void topic_tries(struct timer *);
void topic_tried(struct timer *);

#define FULL_WAIT DW_MILLISECONDS(50) /* first pause of a full queue; later ones are longer */
#define FULL_WAIT_MAX DW_SECONDS(1)
#define FULL_TRIES_MAX 512u

/* topic_fill notes that the topic's queue has refused a timer. After a pause one is tried again.
 * topic_unfill notes that the queue is not full any more, so all its timers may be claimed. */
void topic_fill(struct topics *, struct topic *, dw_usec steady);
void topic_unfill(struct topics *, struct topic *);

/* topic_try notes that the next timers of a full topic are pushed now. topic_try_later lets these
 * timers wait until `until`. topic_got_in is called when the queue has taken a timer; then twice as
 * many timers are tried at once. topic_room is called when the queue may have space. */
void topic_try(struct topics *, struct topic *, dw_usec steady);
void topic_try_later(struct topics *, struct topic *, dw_usec until);
void topic_got_in(struct topics *, struct topic *);
void topic_room(struct topics *, struct topic *);

/* topics_revivable returns a topic that has waiting timers and a handler, or NULL. */
struct topic *topics_revivable(const struct topics *);

/* topics_recheck begins a walk over all topics with waiting timers. topics.recheck is the topic
 * that is looked at next. topics_rechecked moves on to the topic behind it. */
void topics_recheck(struct topics *);
void topics_rechecked(struct topics *);

#endif
