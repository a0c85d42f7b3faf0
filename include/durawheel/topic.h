/* Topics: their settings, their numbers, and queues of what is due.
 *
 * A topic needs no settings: it exists while it has timers or a handler. Settings are kept in the
 * store, so every process sees the same, and they stay until dw_topic_drop(). The owner follows a
 * change of another process within about 2 s. If a Redis server loses its data, a running owner
 * writes the settings again, as it does with timers.
 *
 *	dw_topic_settings settings = {.size = sizeof settings, .queue = 1, .max = 5000,
 *				      .expire_us = DW_MINUTES(3)};
 *	dw_topic_set(d, "game.x", &settings, NULL, NULL);
 *
 * A QUEUE TOPIC has no handler. The owner puts a timer that comes due into the topic's queue, as a
 * message, and settles it. Any process, owner or client, takes messages and answers them:
 *
 *	dw_take_options take = {.size = sizeof take, .topics = &topic, .topic_count = 1,
 *				.max = 128, .wait_us = DW_SECONDS(10)};
 *	dw_take(d, &take, work, NULL);
 *	... in work(), with the tokens of its messages:
 *	dw_answer done = {.size = sizeof done, .tokens = tokens, .count = count};
 *	dw_ack(d, &done, NULL, NULL);
 *
 *  - dw_push() makes messages without timers.
 *  - A message that was taken is hidden for hide_us. If nobody answers it in this time, it is
 *    handed out again, with a higher attempt.
 *  - dw_ack() with DW_DONE deletes it; with DW_RETRY it comes back after a delay; with DW_DEAD, or
 *    after retries_max retries, it becomes a dead letter. An answer that comes after the message
 *    was handed out again is DW_ESTALE and changes nothing.
 *  - A message is handed out at least once, like a timer. In SQLite the message and the end of its
 *    timer are one step. In Redis the owner may die in between: then the message comes twice, the
 *    second one with a higher attempt, if the first one has left the queue by then.
 *  - In Redis a message is only in Redis: unlike timers, messages are not written again when the
 *    server loses its data. */
#ifndef DURAWHEEL_TOPIC_H
#define DURAWHEEL_TOPIC_H

#include <stddef.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DW_TOPICS_MAX 1000            /* topics with settings */
#define DW_NO_RETRIES UINT32_MAX      /* in retries_max: no retry */
#define DW_NO_JITTER UINT32_MAX       /* in jitter_percent: exact delays */
#define DW_AT_MOST_ONCE ((dw_usec)-1) /* in hide_us: a message is deleted when it is taken */
/* Bytes of a buffer for the token of a message, with its NUL. */
#define DW_TOKEN_SIZE 128
#define DW_QUEUE_MAX 10000000 /* the largest dw_topic_settings.max */

/* Flags of dw_topic_settings.paused: */
/* No timer of the topic starts or enters its queue, and no message is taken. */
#define DW_PAUSE_DELIVERY 1u
/* Puts and pushes are refused with DW_EPAUSED. Timers that were put before start, or enter their
 * queue. While Redis is away, a journal takes puts all the same (DW_JOURNALED). */
#define DW_PAUSE_INTAKE 2u

typedef enum dw_overflow {
	DW_DROP_OLDEST = 0, /* the oldest message is dropped, even if a consumer has taken it */
	DW_REFUSE = 1       /* a push gets DW_ELIMIT; due timers wait, and enter oldest first */
} dw_overflow;

/* Zero means default. Set size to sizeof(dw_topic_settings) before anything else. */
typedef struct dw_topic_settings {
	size_t size;
	unsigned paused; /* DW_PAUSE_DELIVERY, DW_PAUSE_INTAKE or both */

	/* Retries of timers after DW_RETRY, and of messages, until they become dead letters. A
	 * retry with a delay of its own (dw_retry_in) counts, too. */
	uint32_t retries_max;     /* 0: DW_RETRIES_MAX; at most 255; DW_NO_RETRIES: none */
	dw_usec backoff_first_us; /* the first delay; 0: 1 s; at most 1 day */
	dw_usec backoff_max_us;   /* the longest delay; 0: 5 min; at most 30 days */
	uint32_t backoff_factor;  /* each delay is the last one times this factor, 1 to 10; 0: 2 */
	uint32_t jitter_percent;  /* by how much a delay may be longer or shorter; 0: 20; at most
				   * 100; DW_NO_JITTER */
	/* A handler on a worker that runs for longer raises DW_EVENT_SLOW_HANDLER, and its verdict
	 * counts as DW_RETRY. 0: no limit; at most 1 day. */
	dw_usec limit_us;

	/* A queue topic. */
	int queue; /* 1: the topic has a queue */
	/* How many messages the queue has at most: those that wait, those that are taken and not
	 * answered, and those that come back later. 0: 100,000; at most DW_QUEUE_MAX. */
	uint32_t max;
	dw_overflow overflow;
	dw_usec expire_us; /* a message that has been due for longer is dropped; 0: never */
	dw_usec
	    hide_us; /* how long a taken message is hidden, 1 s to 12 h; 0: 30 s; DW_AT_MOST_ONCE */

	/* Of any topic: how long the ends of its timers are remembered, see durawheel/ended.h. 0:
	 * not at all; at most 90 days. */
	dw_usec keep_us;
} dw_topic_settings;

/* Why timers do not start. The first ones, to DW_WAITS_ZONE, apply to a topic whose timers are due;
 * DW_WAITS_PAUSED and DW_WAITS_BATCH are on purpose. The others apply to one timer:
 * dw_why_waiting() returns them (durawheel/why.h, which also has the words for all of them). */
typedef enum dw_waits {
	DW_WAITS_NOT = 0,
	DW_WAITS_STORE = 1,    /* the owner's lease is over, or the shard has no owner */
	DW_WAITS_HANDLER = 2,  /* the topic has no handler */
	DW_WAITS_QUEUE = 3,    /* its queue is full */
	DW_WAITS_WORKERS = 4,  /* all workers, or jobs of `run`, are at work; or the program has
			       * deliveries (DW_HOLD), and has paused its handle meanwhile */
	DW_WAITS_SIZE = 5,     /* Redis closes the connection on the message (DW_EVENT_LIMIT) */
	DW_WAITS_PAUSED = 6,   /* the topic is paused, or the owner's handle */
	DW_WAITS_BATCH = 7,    /* a batch gathers */
	DW_WAITS_ZONE = 8,     /* the owner's machine does not know the zone of the rule */
	DW_WAITS_DUE = 9,      /* its deadline has not come */
	DW_WAITS_RETRY = 10,   /* the deadline of its next attempt has not come */
	DW_WAITS_RUNS = 11,    /* its handler runs */
	DW_WAITS_HOLD = 12,    /* the program holds it (DW_HOLD) */
	DW_WAITS_VERDICT = 13, /* its handler has ended, and its verdict is not stored yet */
	DW_WAITS_CLAIM = 14,   /* the store has not answered the owner's claim */
	DW_WAITS_CLAIMED = 15, /* its owner has claimed it: it starts in a moment, or runs */
	DW_WAITS_TURN = 16,    /* nothing else: it starts when the owner comes to it */
	DW_WAITS_OWNER = 17,   /* nobody owns the store, or its shard */
	DW_WAITS_SILENT = 18,  /* its owner has reported nothing to the store for 30 s */
	DW_WAITS_LOADS = 19,   /* its owner has not read it yet */
	DW_WAITS_AWAY = 20,    /* the owner cannot reach the store */
	DW_WAITS_REFUSED = 21, /* the server refuses its shard */
	DW_WAITS_MOVES = 22,   /* its shard is being given to another peer */
	DW_WAITS_NEWER = 23,   /* a newer durawheel has written it */
	DW_WAITS_MEMORY = 24,  /* its owner has no memory to schedule it */
	DW_WAITS_MESSAGE = 25  /* it has ended as a message of its queue */
} dw_waits;

/* What is known of one topic. The owner reports the numbers of its timers every 2 s while it works,
 * and every 10 s while it is idle. */
typedef struct dw_topic_info {
	size_t size;
	const char *name;
	dw_topic_settings settings;
	int is_set; /* 0: it has no settings of its own, and settings has the defaults */
	/* 1: the numbers of its timers are known. 0: there is no owner, so nobody knows them, and
	 * they are 0. */
	int is_counted;

	/* Counts of its timers. */
	uint64_t pending;             /* not due yet */
	uint64_t due;                 /* due and not started; waits says why */
	uint64_t running;             /* in a handler, held, or their verdict is not stored yet */
	uint64_t done, retried, dead; /* since the owner took the store */
	/* The earliest deadline of the due timers; 0: there is none. */
	dw_usec oldest;

	/* Counts of the messages in its queue, as it is now. */
	uint64_t waiting, taken, later;
	uint64_t dropped; /* dropped by max, or as damaged, since the topic was set */
	uint64_t expired; /* dropped by expire_us, since the topic was set */
	/* When the first message that waits or is taken was due; 0: there is none. */
	dw_usec oldest_message;

	/* More counts of its timers, since the owner took the store. */
	uint64_t started; /* starts of handlers, and messages that were made of timers */
	uint64_t late;    /* later than their late_after */
	/* 1: the times below are known, as for the first 200 topics that are used. */
	uint64_t timed;
	/* late: how late handlers started, without waits on purpose (a pause, a batch). took: how
	 * long they ran, or held until dw_settle(). Quantiles are of the last 1,024 to 2,048
	 * deliveries, and may be a quarter too high. The maximum is of all deliveries. */
	dw_usec late_p50_us, late_p99_us, late_max_us;
	dw_usec took_p50_us, took_p99_us, took_max_us;

	uint64_t waits;      /* why the due timers do not start, a dw_waits */
	uint64_t on_purpose; /* how many due timers are paused, or wait for their batch */
	/* Two places in the order of deadline and then generation: the first timer that the owner
	 * has claimed and not started, and the last timer that is running; generation 0: there is
	 * none. So a claimed timer waits if it is the first of these, or comes after both. */
	dw_usec unstarted_due, started_due;
	uint64_t unstarted_generation, started_generation;
} dw_topic_info;

/* ---- Settings ------------------------------------------------------------------------------ */

/* dw_topic_set makes the settings of a topic, or replaces all of them. DW_EINVAL: a value is out of
 * its range, and dw_last_error() says which. DW_ELIMIT in the answer: DW_TOPICS_MAX topics have
 * settings. If a topic stops being a queue, its messages stay: they can still be taken. */
DW_API int dw_topic_set(dw *, const char *topic, const dw_topic_settings *, dw_done_fn, void *user);

/* dw_topic_change changes only the settings that differ between `from` and `to`. `from` has the
 * settings that were read with dw_topic_list(), and `to` must be valid as a whole. So if two
 * processes change different settings at the same time, neither undoes the other's change. */
DW_API int dw_topic_change(dw *, const char *topic, const dw_topic_settings *from,
			   const dw_topic_settings *to, dw_done_fn, void *user);

/* dw_topic_pause changes only `paused`; 0 ends a pause. Timers that come due meanwhile wait in the
 * store, and any process may cancel them. Handlers that run go on. */
DW_API int dw_topic_pause(dw *, const char *topic, unsigned paused, dw_done_fn, void *user);

/* dw_topic_drop forgets the settings of a topic. DW_EBUSY in the answer: its queue has messages.
 * DW_ENOENT: it has no settings. Its timers stay. */
DW_API int dw_topic_drop(dw *, const char *topic, dw_done_fn, void *user);

/* Called once, with all topics in the order of their names. On failure topics is NULL, and status
 * says why. */
typedef void (*dw_topic_fn)(dw *, int status, const dw_topic_info *topics, size_t count,
			    void *user);

/* dw_topic_list asks for all topics that have settings, and for those of which the owner knows
 * timers: at most DW_TOPICS_MAX of these. Without an owner the answer has only topics with
 * settings, and no numbers of timers. name: only for this topic; NULL: all. */
DW_API int dw_topic_list(dw *, const char *name, dw_topic_fn, void *user);

/* ---- Messages ------------------------------------------------------------------------------ */

/* A message that was taken. Copy the token to answer it later. */
typedef struct dw_message {
	size_t size;
	const char *id; /* the timer's id, or the id that was pushed */
	const char *topic;
	dw_usec due;      /* when the timer was due, or the message was pushed */
	uint32_t attempt; /* from 1; it grows with each delivery */
	const void *data;
	size_t data_size;
	const char *token; /* names this delivery; fewer than DW_TOKEN_SIZE bytes */
} dw_message;

#define DW_TAKE_MAX 1000       /* messages in one push, take or answer */
#define DW_TAKE_BYTES 16777216 /* bytes of their data in one push or take, in sum */
#define DW_TAKE_TOPICS_MAX 64  /* topics that one dw_take() names */
#define DW_TAKES_MAX 256       /* takes of one handle that wait at one time */

/* dw_push makes messages of one queue topic without timers, all or none. In each dw_timer only id
 * (NULL: one is made), topic and data count. The same id may be pushed any number of times. In the
 * answer (its id is "" if there are several): DW_ENOENT: the topic is no queue. DW_ELIMIT: the
 * queue is full (DW_REFUSE), or the server refuses so many bytes, which DW_EVENT_LIMIT has
 * reported. DW_EPAUSED. DW_ECORRUPT: another program has damaged the queue, and dw_check() says
 * where. DW_EUNKNOWN: done or not. At once: DW_EINVAL: an argument is not valid, or the topics
 * differ; DW_ELIMIT: their data has more than DW_TAKE_BYTES, so push them in parts. */
DW_API int dw_push(dw *, const dw_timer *messages, size_t count, dw_done_fn, void *user);

/* status DW_OK: count messages, all of one topic; 0: none came in time. Each is hidden for the
 * topic's hide_us. On failure messages is NULL. */
typedef void (*dw_take_fn)(dw *, int status, const dw_message *messages, size_t count, void *user);

/* Set size to sizeof(dw_take_options) before anything else. */
typedef struct dw_take_options {
	size_t size;
	/* Takes from the first of these topics that has a message. NULL (topic_count 0): from all
	 * queue topics: first from the topic with the oldest message, then from the others in turn.
	 * If "game.*" is among the topics: in the same way from all queues whose names begin so,
	 * and from those that are named. */
	const char *const *topics;
	size_t topic_count; /* at most DW_TAKE_TOPICS_MAX */
	size_t max;         /* messages, 1 to DW_TAKE_MAX */
	dw_usec wait_us;    /* how long to wait for a message, 0 to 1 h */
} dw_take_options;

/* dw_take takes messages of one topic. First come those that were taken before and not answered in
 * time, then those that come back, then the others in the order in which they were pushed. A
 * waiting take gets a new message at once, in a SQLite file within 20 ms. An answer ends before the
 * message that would make more than DW_TAKE_BYTES of data. The next take begins with this message.
 * A damaged message is dropped and reported (DW_EVENT_CORRUPT). DW_ENOENT in the answer: a topic
 * is no queue, which dw_last_error() names, and no other topic has a message. DW_ECORRUPT: as for
 * dw_push(). DW_ELIMIT: DW_TAKES_MAX takes wait. DW_ELIMIT in the answer: the only message is one
 * that Redis does not send, because of its client-output-buffer-limit (DW_EVENT_LIMIT). It is
 * hidden for a minute, and then tried again. DW_EUNKNOWN: a reply was lost, perhaps with messages,
 * and there is no other message. They come back, or are lost with DW_AT_MOST_ONCE. dw_close()
 * answers waiting takes with DW_ECLOSED; dw_sync() does not wait for them. */
DW_API int dw_take(dw *, const dw_take_options *, dw_take_fn, void *user);

/* Set size to sizeof(dw_answer) before anything else. */
typedef struct dw_answer {
	size_t size;
	const char *const *tokens; /* as in dw_message.token */
	size_t count;              /* at most DW_TAKE_MAX */
	/* DW_DONE: the messages are deleted. DW_RETRY: they come back. DW_DEAD: they become dead
	 * letters, as after the last retry. */
	dw_verdict verdict;
	dw_usec retry_in; /* the delay of a DW_RETRY; 0: the topic's */
	/* With DW_RETRY and DW_DEAD: why the work failed, as the text of dw_set_why(). It is stored
	 * with the dead letter, if a message becomes one now. NULL: nothing. */
	const char *why;
} dw_answer;

/* dw_ack answers messages, each for itself. results are in the order of the tokens, each with its
 * token as id. If fn is NULL, failures go to options.on_event, except DW_ESTALE, which is not
 * reported.
 *	DW_OK        the message is answered
 *	DW_ESTALE    this delivery is over
 *	DW_ELIMIT    the message must become a dead letter, and Redis does not send it, because of
 *	             its client-output-buffer-limit (DW_EVENT_LIMIT): it comes back
 *	DW_ECORRUPT  it must become a dead letter, and is damaged: the next take drops it */
DW_API int dw_ack(dw *, const dw_answer *, dw_bulk_fn fn, void *user);

/* dw_touch hides messages for hide_us from now on, because work on them goes on; for 30 s if the
 * topic has become at-most-once since they were taken. Otherwise as dw_ack(). */
DW_API int dw_touch(dw *, const char *const *tokens, size_t count, dw_bulk_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
