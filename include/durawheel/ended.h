/* How a timer ended: the store remembers the end for a while, if the topic or the timer says so.
 *
 *	dw_topic_settings settings = {.size = sizeof settings, .keep_us = DW_DAYS(7)};
 *	dw_topic_set(d, "order.timeout", &settings, NULL, NULL);
 *	...
 *	dw_ended_get(d, "order:42", told, NULL);
 *
 * The end of a timer is its DW_DONE, its cancel, or its burial as a dead letter. Of a recurring
 * timer each occurrence ends. The end is stored in the same step that ends the timer, whoever ends
 * it, and is remembered for dw_timer.keep_us, or for its topic's keep_us if that is 0. By default
 * nothing is remembered.
 *
 * For each id the last kept end is remembered. A later end replaces it if that end is kept, too;
 * otherwise the earlier end stays. A put of the id does not change it. The data of the timer is not
 * kept. At most DW_ENDED_MAX ends are kept; above that, the ends that expire first are dropped.
 * dw_purge() deletes all ends.
 *
 * A timer of a queue topic ends when its message is in the queue. No end is kept of a damaged
 * timer, of one that a put has replaced, and of an occurrence that was missed and skipped.
 *
 * A put with DW_ONCE is refused with DW_EEXIST if the id has a timer, and also while its last end
 * is remembered. So an event that may come twice in 24 h, for example a webhook, makes one timer
 * with DW_ONCE and keep_us = DW_HOURS(24). If no end is kept, DW_ONCE is DW_NEW.
 *
 * On a full disk (SQLite) timers still end, but their ends are not kept. A timer that ended while
 * Redis was away (options.journal) gets its end when Redis learns of it: `at` is that time, and
 * started and result are not known. If Redis never learns of the timer, no end is kept. A Redis
 * server that loses its data loses the ends, too.
 *
 * Cost of an end: 250 bytes in Redis, and 3.5 us of the server, where a claim and a settle together
 * take 18 us; in SQLite 5 us of CPU, where a timer that fires takes 15 us. */
#ifndef DURAWHEEL_ENDED_H
#define DURAWHEEL_ENDED_H

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DW_ENDED_MAX 1000000    /* ends that a store keeps */
#define DW_RESULT_MAX 4096      /* bytes that dw_set_result() takes */
#define DW_KEEP_MAX DW_DAYS(90) /* the largest keep_us */

typedef enum dw_end {
	DW_END_UNKNOWN = 0, /* an end of a newer durawheel */
	DW_END_DONE = 1,
	DW_END_CANCELLED = 2,
	DW_END_DEAD = 3 /* it became a dead letter */
} dw_end;

/* dw_end_name returns the name of an end: "DONE" and so on. Any thread. */
DW_API const char *dw_end_name(dw_end);

typedef struct dw_ended {
	size_t size;
	const char *id;
	const char *topic;
	uint64_t generation; /* of the timer that ended */
	dw_end end;
	dw_reason reason;   /* why it died; only with DW_END_DEAD */
	dw_usec due;        /* as in dw_info */
	dw_usec started;    /* when its last handler started; 0: never, or not known */
	dw_usec at;         /* when it ended, by the clock of the store */
	dw_usec until;      /* when the end is forgotten */
	uint32_t attempt;   /* the last one; 0: it was never claimed */
	uint32_t retries;   /* DW_RETRY verdicts before the end */
	const char *by;     /* who ended it, the owner or a client: "HOST pid N"; "": not known */
	const void *result; /* DW_END_DONE: the bytes of dw_set_result() */
	size_t result_size;
} dw_ended;

/* Called once. If status is not DW_OK, ended is NULL. */
typedef void (*dw_ended_fn)(dw *, int status, const dw_ended *ended, void *user);

/* dw_ended_get asks for the last end of an id. The id may have a timer again. DW_ENOENT in the
 * answer: nothing is remembered. DW_EINVAL: the id is not valid, or the callback is NULL. */
DW_API int dw_ended_get(dw *, const char *id, dw_ended_fn, void *user);

/* dw_set_result stores a result of the handler, for programs that ask for the end of its timer. The
 * result is kept if the verdict is DW_DONE and the end is kept. The last call counts, and size 0
 * takes an earlier call back. The bytes are copied. token, and who may make the call when: as for
 * dw_set_why(). DW_EINVAL: there are more than DW_RESULT_MAX bytes; data is NULL and size is not 0;
 * or token is NULL, and no handler runs here, or a batch's handler runs. DW_ESTALE, DW_ENOMEM,
 * DW_ETHREAD: as for dw_set_why(). */
DW_API int dw_set_result(dw *, const dw_token *token, const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
