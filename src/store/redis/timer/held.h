/* Answers that are held back until the replicas have the changes (replicas= in the URL). Only
 * answers to the program's own calls are held back: claims, renewals and verdicts of handlers do
 * not wait.
 *
 * An operation whose answer is held back counts as unanswered. If the connection is lost, the
 * operation is in doubt, as if its reply had been lost, and the handshake of the next connection
 * tells whether that server has applied it. If so, the answer is held back again until the replicas
 * of that server have the change. If a server without the change was promoted, the operation is
 * sent to it again. */
#ifndef DW_STORE_REDIS_HELD_H
#define DW_STORE_REDIS_HELD_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/wire/node.h"

struct shard;

/* held_note notes the heads of a request's operations before the reply changes them, because the
 * operations may have to be sent again. */
void held_note(const struct redis_store *, struct op_queue *);

/* Where an operation was applied, and by which request. */
struct held_source {
	struct shard *shard;
	uint64_t number; /* 0: no handshake can tell whether a server has applied it */
	bool as_owner;
};

/* held_answer answers the operation, now or when the replicas have it. */
void held_answer(struct redis_store *, const struct held_source *, dw_op *, int status);

/* held_answer_message is held_answer for an operation on messages. */
void held_answer_message(struct redis_store *, dw_op *, int status);

/* held_again is called for a request of a lost connection, when the handshake has told whether it
 * was applied. Returns true if its answers are held back again or were handed over. Otherwise its
 * operations are as they were before they were sent. */
bool held_again(struct redis_store *, struct shard *, struct redis_request *, bool applied);

/* held_is_elsewhere returns true if the request was sent to another server than the present one, or
 * to a server with another history. Then the request says nothing about the present server. */
bool held_is_elsewhere(const struct redis_store *, const struct redis_request *);

/* held_doubt puts the held answers of a shard in doubt, because it was emptied, set back or
 * lost. */
void held_doubt(struct redis_store *, struct shard *);

/* held_release hands over, with this level, the held answers up to number `last`. */
void held_release(struct redis_store *, struct node *, uint64_t last, dw_level);

#endif
