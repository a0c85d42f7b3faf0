/* Sends operations on one timer as script calls. */
#ifndef DW_STORE_REDIS_WRITE_H
#define DW_STORE_REDIS_WRITE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

bool write_is_one(const dw_op *);

/* write_send makes and sends a command from the operations at the head of the queue. Returns DW_OK,
 * or an error code that says why the operations must wait. */
int write_send(struct redis_store *, struct shard *, struct op_queue *);

#endif
