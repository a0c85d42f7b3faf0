/* Answers that are held until the replicas have what they say (replicas= in the URL). Only answers
 * to the program's own calls are held: claims, renewals and verdicts of handlers wait for nothing.
 *
 * An operation whose answer is held counts as unanswered. If the connection is lost, it is in doubt
 * like one whose reply was lost, and the handshake of the next connection tells what became of it.
 * If that server has applied it, the answer is held again, until the replicas of that server have
 * it. So a server that was promoted without it gets it again. */
#ifndef DW_STORE_REDIS_HELD_H
#define DW_STORE_REDIS_HELD_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/wire/node.h"

struct shard;

/* held_note notes what the operations of a request have asked for, before its reply changes that:
 * they may have to be sent again. */
void held_note(const struct redis_store *, struct op_queue *);

/* Where an operation was done, and by which request. */
struct held_source {
	struct shard *shard;
	uint64_t number; /* 0: nothing can tell later whether a server has done it */
	bool as_owner;
};

/* held_answer answers the operation, now or when the replicas have it. */
void held_answer(struct redis_store *, const struct held_source *, dw_op *, int status);

/* held_answer_message does so for an operation on messages. */
void held_answer_message(struct redis_store *, dw_op *, int status);

/* held_again is called for a request of a lost connection, when the handshake has told whether it
 * was applied. Returns true if its answers are held again, or given. Otherwise its operations are
 * as they were before they were sent. */
bool held_again(struct redis_store *, struct shard *, struct redis_request *, bool applied);

/* held_is_elsewhere returns true if the request was sent to another server than the present one, or
 * to one with another history, so that it says nothing of the present one. */
bool held_is_elsewhere(const struct redis_store *, const struct redis_request *);

/* held_doubt puts the held answers of a shard in doubt, because it was emptied or set back. */
void held_doubt(struct redis_store *, struct shard *);

/* held_release gives the held answers up to this one with this level. */
void held_release(struct redis_store *, struct node *, uint64_t last, dw_level);

#endif
