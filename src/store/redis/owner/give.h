/* Gives a shard to another peer. */
#ifndef DW_STORE_REDIS_GIVE_H
#define DW_STORE_REDIS_GIVE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;

/* A shard that is given away. From the sending of the release on it is not ours; nothing but reads
 * is sent to it until the server has told whether it was released. */
struct give {
	dw_op *op;     /* the GIVE operation; NULL: it is not given */
	bool is_asked; /* a command is under way; false: its answer was lost */
};

/* give_begin releases the shard that the operation names. It is answered DW_EBUSY if something of
 * the shard is under way or waits. */
void give_begin(struct redis_store *, dw_op *);

/* give_work asks what became of releases whose answer was lost. */
void give_work(struct redis_store *);

/* give_end answers all GIVE operations. */
void give_end(struct redis_store *, int status);

#endif
