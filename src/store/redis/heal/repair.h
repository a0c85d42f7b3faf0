/* Compares the entries of the shards' sorted sets with the values. */
#ifndef DW_STORE_REDIS_REPAIR_H
#define DW_STORE_REDIS_REPAIR_H

#include <stdbool.h>

#include "durawheel/store.h"

struct redis_store;
struct shard;

/* What is read of a shard. The values only if something is wrong. */
enum repair_stage { REPAIR_ENTRIES, REPAIR_VALUES };

/* The pass through all shards, a page at a time. */
struct repair {
	enum repair_stage stage;
	unsigned number;   /* number of the shard that is compared now */
	bool under_way;    /* a page was asked for */
	char cursor[24];   /* "": at the start */
	unsigned found;    /* ids of this shard that mend.lua was given */
	bool needs_engine; /* an entry of this shard has no value, but the engine may know it */
	dw_usec at;        /* steady; when the next page is asked for */
};

/* What the repair knows of one shard. */
struct shard_repair {
	bool is_due;    /* the shard is inconsistent, so it is compared next */
	bool is_second; /* the engine has written it again since it was compared */
};

/* repair_work asks for the next page; repair_due says when it will. */
void repair_work(struct redis_store *);
dw_usec repair_due(const struct redis_store *);

/* repair_soon is called when the shard is inconsistent, because an entry without a value was read,
 * or the counts differ. It is compared next. */
void repair_soon(struct redis_store *, struct shard *);

#endif
