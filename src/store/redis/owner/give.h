/* Gives a shard to another peer. */
#ifndef DW_STORE_REDIS_GIVE_H
#define DW_STORE_REDIS_GIVE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;

/* A shard that this store is giving away. As soon as the release is sent, the shard is not ours.
 * Then only reads are sent to it until the server has told whether the release was applied. */
struct give {
	dw_op *op;     /* the GIVE operation; NULL: the shard is not being given away */
	bool is_asked; /* a command is under way; false: its answer was lost */
};

/* give_begin releases the shard that the operation names. If a command of the shard is under way,
 * or an operation waits for it, the answer is DW_EBUSY. */
void give_begin(struct redis_store *, dw_op *);

/* give_work asks the server about releases whose answer was lost. */
void give_work(struct redis_store *);

/* give_end answers all GIVE operations. */
void give_end(struct redis_store *, int status);

#endif
