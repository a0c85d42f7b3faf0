/* Compares the entries of the shards' sorted sets with the values. */
#ifndef DW_STORE_REDIS_REPAIR_H
#define DW_STORE_REDIS_REPAIR_H

#include <stdbool.h>

#include "durawheel/store.h"

struct redis_store;
struct shard;

/* What the repair reads in a shard: first the entries. It reads the values only if something is
 * wrong. */
enum repair_stage { REPAIR_ENTRIES, REPAIR_VALUES };

/* How far the repair has come in its pass through all shards, a page at a time. */
struct repair {
	enum repair_stage stage;
	unsigned number;   /* number of the shard that is being compared */
	bool under_way;    /* a page was asked for */
	char cursor[24];   /* where the next page begins; "" at the start of the shard */
	unsigned found;    /* how many ids of this shard were passed to mend.lua */
	bool needs_engine; /* an entry of this shard has no value, but the engine may know it */
	dw_usec at;        /* when the next page is asked for (steady clock) */
};

/* What the repair knows of one shard. */
struct shard_repair {
	bool is_due;    /* the shard is inconsistent, so it is the next one to be compared */
	bool is_second; /* the engine has rewritten the shard since it was last compared */
};

/* repair_work asks for the next page when it is time. repair_due says when that is. */
void repair_work(struct redis_store *);
dw_usec repair_due(const struct redis_store *);

/* repair_soon makes the shard the next one to be compared. It is called when the shard is
 * inconsistent, because an entry without a value was read, or the counts differ. */
void repair_soon(struct redis_store *, struct shard *);

#endif
