/* Requests on which the server closes the connection. They are larger than one of its limits
 * allows, or their replies are.
 *
 * The link says which request was alone on its way when the server, which is still the same
 * process, closed the connection. This is the suspect: it is sent again, alone. If it was one
 * command of several operations, each of these is. After each closing it waits a little, and other
 * operations go first. When this has happened three times to one operation, and the server has not
 * applied it, a put or another call fails with DW_ELIMIT. Claims and verdicts never fail: they are
 * tried with growing pauses. An operation that is answered is no suspect any more.
 *
 * One suspect is enough to learn how many bytes are too many: while it is tried, calls that store
 * as many wait, and when it has failed, they fail for a few seconds without being sent. So a
 * program with many of them costs the others no more connections than with one. Commands of
 * several operations are smaller than every limit (BATCH_BYTES_MAX), so only more bytes than that
 * teach anything.
 *
 * A page of rows is asked for again with half of its rows. If a page of one row has been closed
 * three times, the read fails.
 *
 * A PUSH is never sent again here, because nobody knows whether it was done. After each closing no
 * PUSH of so many bytes is sent for a while. So it is judged by its size, and not by itself. The
 * engine gives the claim of a timer back meanwhile, so that clients can cancel it. */
#ifndef DW_STORE_REDIS_SUSPECT_H
#define DW_STORE_REDIS_SUSPECT_H

#include <stdbool.h>

#include "port/op.h"

struct completion;
struct redis_request;
struct redis_store;
struct shard;

#define CLOSINGS_MAX 3u
#define SUSPECT_WAITS 1 /* the operation waits and is sent later; no error has this number */

/* What this store learnt about PUSH commands that are too large. */
struct suspect_push {
	/* The connection that the server closed on a PUSH; 0 when that was judged. */
	uint64_t closed_on;
	size_t size; /* the size of this PUSH in bytes */
	/* How often the connection was closed in a row without a PUSH that succeeded. */
	unsigned closings;
	dw_usec again_at; /* before this time no PUSH of this size is sent (steady clock) */
};

struct suspects {
	struct op_queue aside; /* operations that wait before they are tried again */
	/* Until rows_until (steady clock) a page has at most rows_max rows. */
	size_t rows_max;
	dw_usec rows_until;
	/* Until large_until (steady clock) this store expects that the server closes the connection
	 * on a command of `large` bytes. large_is_sure is true if the server did so CLOSINGS_MAX
	 * times on one operation. */
	size_t large;
	dw_usec large_until;
	bool large_is_sure;
	/* Until reply_until (steady clock) this store expects that the server closes the connection
	 * on a reply of `reply` bytes. */
	size_t reply;
	dw_usec reply_until;
	struct suspect_push push;
	bool has_event; /* the program has not been told of the event below yet */
	dw_store_event event;
	dw_usec told_until;
};

/* What is noted about one page of a walk. */
struct suspect_page {
	/* The connection that the server closed on the page's request; 0 if none. */
	uint32_t closed_on;
	uint32_t closings; /* how often the connection was closed on a page of one row */
};

/* suspect_lost lets the request's operations be judged when they are sent again. */
void suspect_lost(struct redis_request *);

/* suspect_judge looks at the first operation of a queue before it is sent. Returns true if the
 * operation was taken out of the queue: it now waits or is answered. */
bool suspect_judge(struct redis_store *, struct shard *, struct op_queue *);

/* suspect_fails looks at an operation in no queue before it is sent. Returns true if the operation
 * fails. */
bool suspect_fails(struct redis_store *, dw_op *);

/* suspect_closings also looks at an operation in no queue. It returns how often the server has
 * closed the connection on this operation alone, or 0 if the operation must not be sent now. */
unsigned suspect_closings(struct redis_store *, dw_op *);

/* suspect_release puts operations that have waited for long enough back into the queues of their
 * shards; with `all` it puts back every one. suspect_due returns when the next one has waited for
 * long enough. */
void suspect_release(struct redis_store *, bool all);
dw_usec suspect_due(const struct completion *);

/* suspect_rows returns how many rows a page may have now, at most `rows`. suspect_page_lost is
 * called when the request for a page was lost; suspect_reply_lost when the request of an operation
 * that asks for one page was lost. suspect_page_fails returns true if the server closes the
 * connection on the first row of the page. suspect_replies_are_small returns true while pages are
 * kept small, because the server closed the connection on one. */
size_t suspect_rows(struct redis_store *, size_t rows);
bool suspect_replies_are_small(const struct redis_store *);
void suspect_page_lost(struct redis_store *, struct suspect_page *, const struct redis_request *,
		       size_t rows);
void suspect_reply_lost(struct redis_store *, dw_op *, const struct redis_request *, size_t rows);
bool suspect_page_fails(const struct redis_store *, struct suspect_page *);

/* suspect_reply_is_large returns true if the server has, a moment ago, closed the connection three
 * times on a row with at most this number of bytes. suspect_learn_reply is called when the server
 * has done so. */
void suspect_learn_reply(struct redis_store *, size_t bytes);
bool suspect_reply_is_large(const struct redis_store *, size_t bytes);

/* suspect_push_lost is called when the request of one or more PUSHes was lost; it returns true if
 * they may be too large. suspect_push_done is called when a PUSH was done. suspect_push returns
 * DW_OK if the PUSH may be sent. If it is too large now and a caller waits for it, the result is
 * SUSPECT_WAITS: suspect_release sends it later. It is DW_ELIMIT if the server has closed the
 * connection three times on this size. If it is too large and a timer made it, the result is the
 * answer of suspect_push_again: DW_EBUSY, and the PUSH is sent again at op->head.due. */
bool suspect_push_lost(struct redis_store *, const struct redis_request *);
void suspect_push_done(struct completion *, const dw_op *);
int suspect_push(struct redis_store *, dw_op *);
int suspect_push_again(struct redis_store *, dw_op *);

/* suspect_tell tells the program of a limit, with a timer's id or "". suspect_tell_row says that
 * this timer cannot be read; the id is "" if it is unknown. */
void suspect_tell(struct redis_store *, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void suspect_tell_row(struct redis_store *, const char *id);

/* suspect_take_event implements dw_store_class.take_event. */
int suspect_take_event(struct redis_store *, dw_store_event *ret_event);

#endif
