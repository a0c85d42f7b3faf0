/* Claims, settles and renewals of timers that the script need not read. */
#ifndef DW_STORE_REDIS_KNOWN_H
#define DW_STORE_REDIS_KNOWN_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

/* known_add adds the words of operations of one kind. batch.packed must have space for their
 * bodies. Returns false if one body is not a record. */
bool known_add(struct redis_store *, const struct shard *, const dw_op *first, size_t count);

#endif
