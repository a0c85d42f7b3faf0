/* The version and the value of a timer that a PUT or a NEXT makes. */
#ifndef DW_STORE_REDIS_FRESH_H
#define DW_STORE_REDIS_FRESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/op.h"

struct redis_store;
struct shard;

/* fresh_version returns the version that the operation asks for: its floor, rounded up to the next
 * version that belongs to this shard. The script gives the timer this version if it is later
 * than the shard's last one and near the server's clock. Otherwise the timer gets another one. */
uint64_t fresh_version(const struct redis_store *, const struct shard *, const dw_op *);

/* fresh_add adds the whole values of `count` operations to the words of a command. Returns false if
 * one body is not a record. */
bool fresh_add(struct redis_store *, const struct shard *, const dw_op *first, size_t count);

/* fresh_value writes the whole value, and returns its size. Returns 0 if the body is not a
 * record. */
size_t fresh_value(const struct redis_store *, const struct shard *, const dw_op *,
		   unsigned char *ret_value);

#endif
