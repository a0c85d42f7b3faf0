/* The inbox of the clients. */
#ifndef DW_STORE_REDIS_INBOX_H
#define DW_STORE_REDIS_INBOX_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/rows.h"

struct redis_store;

struct redis_inbox {
	dw_op *op;     /* the INBOX that waits for news */
	unsigned left; /* shards not answered */
	struct rows rows;
	bool failed;
	dw_usec since;
};

/* A shard's. */
struct shard_inbox {
	bool has_news; /* there may be something */
	bool is_read;
	uint64_t seen; /* the last version in it: a client's, which no mark counts */
};

void inbox_work(struct redis_store *);
void inbox_expect_all(struct redis_store *);
void inbox_end(struct redis_store *, int status);

#endif
