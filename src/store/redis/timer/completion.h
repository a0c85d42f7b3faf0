/* Answers operations, and gives up operations that take too long. */
#ifndef DW_STORE_REDIS_COMPLETION_H
#define DW_STORE_REDIS_COMPLETION_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/wire/node.h"
#include "store/redis/timer/suspect.h"

#define DOUBTS_MAX 1024u
#define OP_OURS (1u << 31) /* a flag in dw_op.flags: the store made the operation itself */
/* The timer's value was missing once. Then the engine writes the shard again. */
#define OP_HALF_DELETED (1u << 30)
#define OP_MISREAD (1u << 29)       /* the reply had a wrong shape once */
#define OP_MISREAD_AGAIN (1u << 28) /* ... and once more: the operation is given up */
#define OP_REPLY_LOST (1u << 27)    /* a TAKE: a reply that may have had messages was lost */
#define OP_CLOSED (1u << 26)        /* a pause may have refused the put; the reply was lost */

/* What this store notes about an operation, in the space that dw_op has for the store. */
struct op_place {
	dw_usec deadline; /* when the operation is given up (steady clock) */
	/* For a change, the version that it asks for. For a read, the time at which it began. */
	uint64_t floor;
	uint64_t order; /* the operation's number in the order of submission */
	/* head.generation as it was before the reply changed it (held.h). */
	uint64_t generation;
	dw_usec again_at; /* when a suspect that waits is sent again (steady clock) */
	/* The connection that the server closed because of this operation. 0 when that was judged,
	 * or if there is none. */
	uint32_t closed_on;
	uint32_t attempt; /* head.attempt as it was before the reply changed it */
	uint8_t closings; /* connections closed because of this operation alone, at most 255 */
	bool was_alone;   /* its command had no other operation when closed_on was closed */
	bool is_suspect;  /* the operation may be too large, so it is sent alone (suspect.h) */
	bool is_refused;  /* the server refused it; its shard is looked at before it fails */
	/* The operation is a change without an answer; an OWN after it waits for that answer. */
	bool is_change;
};

_Static_assert(sizeof(struct op_place) <= sizeof(((dw_op *)0)->room), "it fits");

static inline struct op_place *place_of(dw_op *op)
{
	return (struct op_place *)(void *)op->room;
}

static inline const struct op_place *place_of_const(const dw_op *op)
{
	return (const struct op_place *)(const void *)op->room;
}

/* place_is_alone returns true if the operation is sent alone, because the server may have closed
 * the connection because of it (suspect.h). */
static inline bool place_is_alone(const dw_op *op)
{
	return place_of_const(op)->closed_on || place_of_const(op)->is_suspect;
}

struct completion {
	struct op_queue answers;
	struct suspects suspects;
	/* Operations with DW_EFENCED, which are answered at the end of a handover. */
	struct op_queue withheld;
	uint64_t submitted; /* how many operations were submitted */
	uint64_t changes;   /* how many changes have no answer yet */
	/* The last OWN: its number, how many changes before it have no answer, and the OWN itself
	 * while it waits for their answers. */
	uint64_t own_order;
	uint64_t before_own;
	dw_op *own;
	dw_usec overdue_at; /* when answer_overdue next looks at the queues (steady clock) */
	bool in_turn;       /* a turn is running, so no wake-up is needed */
};

/* A put that was given up after it was sent. The next handshake tells whether the server applied
 * it. */
struct put_in_doubt {
	struct put_in_doubt *next;
	uint64_t number;
	enum doubt { DOUBT_OPEN, DOUBT_NOT_APPLIED, DOUBT_APPLIED, DOUBT_FOR_EVER } doubt;
	char id[];
};

/* Commands that were sent to a shard over a connection that was then lost. */
struct in_doubt {
	struct request_list requests;
	struct put_in_doubt *puts;
	unsigned count;
};

/* The operations of a shard that are not sent yet. */
struct shard_queues {
	/* These operations are sent first, and even while the shard is rebuilt. */
	struct op_queue rebuild;
	/* Operations that were sent but not applied, in the order of submission. */
	struct op_queue retry;
	struct op_queue waiting;
};

/* answer_is_waited_for returns true if a caller of the API waits for the answer, or if the answer
 * is useless later. All other operations are never given up, because firing depends on them. */
bool answer_is_waited_for(const dw_op *);

/* answer_take is called when an operation is submitted. answer and answer_all hand answers over. An
 * OWN is answered after the changes that were submitted before it. */
void answer_take(struct completion *, dw_op *);
void answer(struct redis_store *, dw_op *, int status);
void answer_all(struct redis_store *, struct op_queue *, int status);

/* answer_later is called for an operation whose answer may take long. An OWN does not wait for
 * it. */
void answer_later(struct redis_store *, dw_op *);

/* answer_note_closed is called when the server has applied all commands in doubt up to this number.
 * A paused queue has refused puts of the last one, perhaps also of earlier ones. */
void answer_note_closed(struct shard *, uint64_t number);

/* answer_withheld ends the handover, and hands over the withheld answers. */
void answer_withheld(struct redis_store *);

/* answer_never_known notes that these puts will never be known to be applied or not. */
void answer_never_known(struct put_in_doubt *puts);

/* answer_doubtful answers all operations in the queue with DW_EUNKNOWN. If such an operation is
 * submitted again, it is not applied again: its result is only looked up. */
void answer_doubtful(struct redis_store *, struct op_queue *);

/* answer_in_doubt returns the answer to an operation that was applied, but whose result is lost. If
 * a caller waits for it, this is DW_EUNKNOWN, and the operation is never applied again. Otherwise
 * it is `otherwise`, after which the engine asks again. */
int answer_in_doubt(dw_op *, int otherwise);

/* answer_cut_off gives up the operations of a shard that is cut off. */
void answer_cut_off(struct redis_store *, struct shard *);

/* answer_recall gives up operations that were not sent, or that may be repeated. It gives up
 * operations that may have been applied when their caller has waited for `patience`. */
void answer_recall(struct redis_store *, dw_usec patience);

/* answer_overdue gives up operations whose callers have waited for too long. */
void answer_overdue(struct redis_store *);

/* refuse_fenced answers DW_EFENCED to the operations in a queue, because the ownership is lost. A
 * GET stays in the queue, because a client may ask it. During a handover, rebuild writes also stay.
 * refuse_fenced_all does this with all queues of the shard. */
void refuse_fenced(struct redis_store *, struct shard *, struct op_queue *);
void refuse_fenced_all(struct redis_store *, struct shard *);

#endif
