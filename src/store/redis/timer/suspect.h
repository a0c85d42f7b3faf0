/* Requests that make the server close the connection. The request, or its reply, is larger than one
 * of the server's limits allows.
 *
 * The server closes the connection but stays the same process, and the link names the request that
 * was alone on its way. This request is the suspect: it is sent again, alone. If it was one command
 * of several operations, each of them becomes a suspect. After each closing a suspect waits a
 * little, and other operations go first. If this happens three times to one operation, and the
 * server has not applied it, a put or another call fails with DW_ELIMIT. Claims and verdicts never
 * fail: they are tried again with growing pauses. An operation that is answered is no longer a
 * suspect.
 *
 * One suspect is enough to learn how many bytes are too many. While it is tried, calls that store
 * at least about as many bytes wait. When it has failed, such calls fail for a few seconds without
 * being sent. So many such calls cost the program no more connections than one. Commands of several
 * operations are smaller than every limit (BATCH_BYTES_MAX), so only larger commands teach a limit.
 *
 * A page of rows is asked for again with half of its rows. If the server closes the connection
 * three times because of a page of one row, the read fails.
 *
 * A PUSH is never sent again here, because nobody knows whether it was done. After each closing no
 * PUSH of at least this size is sent for a while. So a PUSH is judged by its size alone. If a timer
 * made the PUSH, the engine gives the timer's claim back meanwhile, so that clients can cancel the
 * timer. */
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
	/* The connection that the server closed because of a PUSH. 0 when that was judged. */
	uint64_t closed_on;
	size_t size; /* the size of this PUSH in bytes */
	/* How often in a row the server closed the connection because of a PUSH, with no PUSH of at
	 * least this size done in between. */
	unsigned closings;
	dw_usec again_at; /* before this time no PUSH of at least `size` is sent (steady clock) */
};

struct suspects {
	struct op_queue aside; /* operations that wait before they are tried again */
	/* Until rows_until (steady clock) a page has at most rows_max rows. */
	size_t rows_max;
	dw_usec rows_until;
	/* Until large_until (steady clock) this store expects that the server closes the connection
	 * because of a command of `large` bytes. large_is_sure is true if the server did so
	 * CLOSINGS_MAX times because of one operation. */
	size_t large;
	dw_usec large_until;
	bool large_is_sure;
	/* Until reply_until (steady clock) this store expects that the server closes the connection
	 * because of a reply of `reply` bytes. */
	size_t reply;
	dw_usec reply_until;
	struct suspect_push push;
	bool has_event; /* the program has not yet been told of `event` */
	dw_store_event event;
	dw_usec told_until;
};

/* What this store notes about one page of a walk. */
struct suspect_page {
	/* The connection that the server closed because of the page's request; 0 if there is
	 * none. */
	uint32_t closed_on;
	/* How often the server closed the connection because of a page of one row. */
	uint32_t closings;
};

/* suspect_lost notes on the request's operations which connection was lost, so that they are judged
 * before they are sent again. */
void suspect_lost(struct redis_request *);

/* suspect_judge looks at the first operation of a queue before it is sent. Returns true if the
 * operation was taken out of the queue: it now waits or is answered. */
bool suspect_judge(struct redis_store *, struct shard *, struct op_queue *);

/* suspect_fails judges an operation that is in no queue, before it is sent. Returns true if the
 * operation fails. */
bool suspect_fails(struct redis_store *, dw_op *);

/* suspect_closings also judges an operation that is in no queue. If the server closed the last
 * connection because of this operation alone, it returns how often this has happened. Otherwise it
 * returns 0. */
unsigned suspect_closings(struct redis_store *, dw_op *);

/* suspect_release puts operations that have waited for long enough back into the queues of their
 * shards; with `all` it puts back all of them. suspect_due returns when the next operation will
 * have waited for long enough. */
void suspect_release(struct redis_store *, bool all);
dw_usec suspect_due(const struct completion *);

/* suspect_rows returns how many rows a page may have now, at most `rows`. suspect_page_lost is
 * called when the request for a page was lost. suspect_reply_lost is called when the request of an
 * operation that asks for one page was lost. suspect_page_fails returns true if the first row of
 * the page makes the server close the connection. suspect_replies_are_small returns true while
 * pages are kept small, because the server closed the connection because of one. */
size_t suspect_rows(struct redis_store *, size_t rows);
bool suspect_replies_are_small(const struct redis_store *);
void suspect_page_lost(struct redis_store *, struct suspect_page *, const struct redis_request *,
		       size_t rows);
void suspect_reply_lost(struct redis_store *, dw_op *, const struct redis_request *, size_t rows);
bool suspect_page_fails(const struct redis_store *, struct suspect_page *);

/* suspect_learn_reply is called when the server has closed the connection three times because of a
 * row with this number of bytes. For a while after that, suspect_reply_is_large returns true for
 * rows of at least this size. */
void suspect_learn_reply(struct redis_store *, size_t bytes);
bool suspect_reply_is_large(const struct redis_store *, size_t bytes);

/* suspect_push_lost is called when the request of one or more PUSHes was lost; it returns true if
 * they may be too large. suspect_push_done is called when a PUSH was done. suspect_push returns
 * DW_OK if the PUSH may be sent now. If it is too large and a caller waits for it, the result is
 * SUSPECT_WAITS, and suspect_release sends it later. If the server has closed the connection three
 * times because of this size, the result is DW_ELIMIT. If it is too large and a timer made it, the
 * result is that of suspect_push_again: DW_EBUSY, and the PUSH is sent again at op->head.due. */
bool suspect_push_lost(struct redis_store *, const struct redis_request *);
void suspect_push_done(struct completion *, const dw_op *);
int suspect_push(struct redis_store *, dw_op *);
int suspect_push_again(struct redis_store *, dw_op *);

/* suspect_tell tells the program of a limit, with a timer's id or "". suspect_tell_row tells the
 * program that this timer cannot be read; the id is "" if it is unknown. */
void suspect_tell(struct redis_store *, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void suspect_tell_row(struct redis_store *, const char *id);

/* suspect_take_event implements dw_store_class.take_event. */
int suspect_take_event(struct suspects *, dw_store_event *ret_event);

#endif
