/* The answers, in the order of submission. */
#ifndef DW_STORE_REDIS_COMPLETION_H
#define DW_STORE_REDIS_COMPLETION_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/pipeline.h"

#define DOUBTS_MAX 1024u
#define OP_OURS (1u << 31)          /* of dw_op.flags: nobody has submitted it */
#define OP_HALF_DELETED (1u << 30)  /* its value was gone once; memory writes the shard again */
#define OP_MISREAD (1u << 29)       /* its reply had a wrong shape once */
#define OP_MISREAD_AGAIN (1u << 28) /* and once more: it is given up */

/* What this store keeps of an operation, in its room. */
struct op_place {
	dw_op *next, *prev; /* in the order */
	dw_usec deadline;   /* steady: then it is given up */
	uint64_t floor;     /* the version asked for; of what reads, since when it has read */
	uint64_t order;     /* its number among all submitted */
	unsigned progress;
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

struct completion {
	struct op_queue answers;
	dw_op *order_first, *order_last; /* operations that are answered in their order */
	struct op_queue
	    withheld;       /* while another owner is told what we know: answers that say so */
	uint64_t submitted; /* operations, which numbers them */
	dw_usec overdue_at; /* steady; then operations are given up again */
	bool in_turn;       /* nobody has to be woken */
};

/* A put that was given up after it was sent: the handshake says whether it was applied. */
struct put_in_doubt {
	struct put_in_doubt *next;
	uint64_t number;
	bool resolved;
	bool applied;
	char id[];
};

/* What a shard was sent over a connection that was lost. */
struct in_doubt {
	struct request_list requests;
	struct put_in_doubt *puts;
	unsigned count;
};

/* The operations of a shard that are not sent. */
struct shard_queues {
	struct op_queue rebuild; /* first: they are sent while the shard is rebuilt */
	struct op_queue retry;   /* sent already, not applied; as submitted */
	struct op_queue waiting;
};

/* answer_take puts a submitted operation into the order. */
void answer_take(struct redis_store *, dw_op *);
void answer(struct redis_store *, dw_op *, int status);
void answer_all(struct redis_store *, struct op_queue *, int status);

/* answer_later: the operation leaves the order, so that its answer holds no other one up. */
void answer_later(struct redis_store *, dw_op *);

/* answer_known hands over answers that only wait for earlier ones. */
void answer_known(struct redis_store *);

/* answer_withheld ends the handover, and hands over the withheld answers. */
void answer_withheld(struct redis_store *);

/* answer_doubtful answers DW_EUNKNOWN for good: an operation that is sent again is not done. */
void answer_doubtful(struct redis_store *, struct op_queue *);

/* answer_behind answers a read. The engine gets the answer only after the answers of all changes
 * that were submitted before this call. */
void answer_behind(struct redis_store *, dw_op *, int status);

/* answer_cut_off gives up what waits for the shard. */
void answer_cut_off(struct redis_store *, struct shard *);

/* answer_recall gives up what is not sent and what may be repeated; and, after that patience, what
 * may have been applied. */
void answer_recall(struct redis_store *, dw_usec patience);

/* answer_overdue gives up operations whose callers have waited for too long. */
void answer_overdue(struct redis_store *);

/* refuse_fenced answers what was asked of an owner; reading goes on as a client, and so do rebuild
 * writes while this store hands over. refuse_fenced_all: all that was asked of the shard's. */
void refuse_fenced(struct redis_store *, struct shard *, struct op_queue *);
void refuse_fenced_all(struct redis_store *, struct shard *);

#endif
