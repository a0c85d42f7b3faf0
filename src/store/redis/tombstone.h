/* Ids whose deletion this owner has seen. If the server brings one back, it is deleted again. */
#ifndef DW_STORE_REDIS_TOMBSTONE_H
#define DW_STORE_REDIS_TOMBSTONE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

#define TOMBSTONE_BUCKETS 256u

struct tombstone {
	struct tombstone *next;
	struct tombstone *same; /* the next of its bucket */
	uint64_t generation;    /* 0: dropped */
	dw_usec at;             /* steady */
	bool letter;            /* the timer is a dead letter now */
	char id[];
};

/* A shard's. */
struct tombstones {
	struct tombstone *first, *last;
	struct tombstone *buckets[TOMBSTONE_BUCKETS];
	unsigned count;
	uint64_t high; /* no generation above it has a tombstone */
};

/* tombstone_add: the timer was deleted, or is a dead letter now. */
void tombstone_add(struct redis_store *, struct shard *, const char *id, uint64_t generation,
		   bool letter);

/* tombstone_drop: the timer is stored now. Where the server was set back, its generation may be
 * below that of an earlier timer of the id. */
void tombstone_drop(struct shard *, const char *id, uint64_t generation);

/* tombstone_covers: that generation of the timer, or a later one, was deleted or is a letter. */
bool tombstone_covers(const struct shard *, const char *id, uint64_t generation);

/* tombstone_note_ended marks the rows of timers that ended after they were read. Otherwise memory
 * would keep them, and write them again when a shard is rebuilt. its floor: since then they
 * were read. */
void tombstone_note_ended(struct redis_store *, const dw_op *);

/* tombstone_move gives those of an old shard to the new ones. */
void tombstone_move(struct redis_store *, struct shard *old);
void tombstone_free_all(struct redis_store *, struct shard *);

#endif
