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

struct pipeline;
struct completion;
struct redis_request;
struct redis_store;
struct shard;

#define CLOSINGS_MAX 3u

/* What was learnt of messages for queues. */
struct suspect_push {
	uint64_t closed_on; /* the connection that was closed on a PUSH, not judged; 0: none */
	size_t size;        /* the bytes of this PUSH */
	unsigned closings;  /* closings without a success in between */
	dw_usec again_at;   /* steady time before which no PUSH of this size is sent */
};

struct suspects {
	struct op_queue aside; /* operations that wait before they are tried again */
	/* Until rows_until (steady) a page has at most rows_max rows. */
	size_t rows_max;
	dw_usec rows_until;
	/* Until large_until (steady) this store expects that the server closes the connection on
	 * `large` bytes. large_is_sure: it did so CLOSINGS_MAX times on one operation. */
	size_t large;
	dw_usec large_until;
	bool large_is_sure;
	/* Until reply_until (steady) it expects the same of a reply with `reply` bytes. */
	size_t reply;
	dw_usec reply_until;
	struct suspect_push push;
	bool has_event; /* the program was not told yet: */
	dw_store_event event;
	dw_usec told_until;
};

/* A page of a walk. */
struct suspect_page {
	uint32_t closed_on; /* the connection that was closed on its request; 0: none */
	uint32_t closings;  /* closings on one row */
};

/* suspect_lost lets the request's operations be judged when they are sent again. */
void suspect_lost(struct redis_request *);

/* suspect_judge looks at the first operation of a queue before it is sent. True: it was taken out
 * of the queue, and waits or is answered. */
bool suspect_judge(struct redis_store *, struct shard *, struct op_queue *);

/* suspect_fails does the same for an operation in no queue. True: it fails. */
bool suspect_fails(struct redis_store *, dw_op *);

/* suspect_closings does the same. It returns how often the server has closed the connection on this
 * operation alone; 0: not now. */
unsigned suspect_closings(struct redis_store *, dw_op *);

/* suspect_release puts operations that have waited for long enough, or all, back into the queues of
 * their shards. suspect_due returns when one has. */
void suspect_release(struct redis_store *, bool all);
dw_usec suspect_due(const struct completion *);

/* suspect_rows returns how many rows a page may have now, at most `rows`. suspect_page_lost: the
 * request for a page was lost; suspect_reply_lost: the one of an operation that asks for one page.
 * suspect_page_fails: the server closes the connection on the first row of the page.
 * suspect_replies_are_small: it has cut a page a moment ago. */
size_t suspect_rows(struct redis_store *, size_t rows);
bool suspect_replies_are_small(const struct redis_store *);
void suspect_page_lost(struct redis_store *, struct suspect_page *, const struct redis_request *,
		       size_t rows);
void suspect_reply_lost(struct redis_store *, dw_op *, const struct redis_request *, size_t rows);
bool suspect_page_fails(struct pipeline *, struct suspect_page *);

/* suspect_reply_is_large returns true if the server has closed the connection three times on a row
 * with no more bytes, a moment ago. suspect_learn_reply is called when it has. */
void suspect_learn_reply(struct redis_store *, size_t bytes);
bool suspect_reply_is_large(const struct redis_store *, size_t bytes);

/* suspect_push_lost is called when the request of one or more PUSHes was lost; true: perhaps as
 * they are too large. suspect_push_done is called when one was done. suspect_push returns DW_OK: it
 * may be sent. Else it is too large now. DW_ESTORE: it is a call's; DW_ELIMIT: a call's, and the
 * server has closed the connection three times on this size. Else it is a timer's, and the answer
 * of suspect_push_again: DW_EBUSY, and it comes again at op->head.due. */
bool suspect_push_lost(struct redis_store *, const struct redis_request *);
void suspect_push_done(struct completion *, const dw_op *);
int suspect_push(struct redis_store *, dw_op *);
int suspect_push_again(struct redis_store *, dw_op *);

/* suspect_tell tells the program of a limit, with a timer's id or "". suspect_tell_row says
 * that this timer cannot be read; "": not known which. */
void suspect_tell(struct redis_store *, const char *id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void suspect_tell_row(struct redis_store *, const char *id);

/* suspect_take_event implements dw_store_class.take_event. */
int suspect_take_event(struct redis_store *, dw_store_event *ret_event);

#endif
