/* The entries of the order compared with the values. */
#ifndef DW_STORE_REDIS_REPAIR_H
#define DW_STORE_REDIS_REPAIR_H

#include <stdbool.h>

#include "durawheel/store.h"

struct redis_store;
struct shard;

/* The pass through all shards, a page at a time. */
struct repair {
	unsigned number;   /* of the shard */
	bool under_way;    /* a page was asked for */
	bool in_values;    /* values are looked through; else the order */
	char cursor[24];   /* "": at the start */
	unsigned found;    /* ids of the shard that were given to mend.lua */
	bool needs_engine; /* an entry of it has no value, which the engine may know */
	dw_usec at;        /* steady; the next page is asked for */
};

/* A shard's. */
struct shard_repair {
	bool is_due;    /* an entry has no value, or a value no entry: it is looked through next */
	bool is_second; /* it was looked through before, and the engine has written since */
};

/* repair_work asks for the next page of the pass, repair_due says when. */
void repair_work(struct redis_store *);
dw_usec repair_due(const struct redis_store *);

/* repair_soon: an entry without a value was read, or the counts differ. */
void repair_soon(struct redis_store *, struct shard *);

#endif
