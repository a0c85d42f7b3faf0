/* Remembers ids whose deletion this owner has seen. If the server brings such a timer back, it is
 * deleted again. */
#ifndef DW_STORE_REDIS_TOMBSTONE_H
#define DW_STORE_REDIS_TOMBSTONE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

#define TOMBSTONE_BUCKETS 256u

struct tombstone {
	struct tombstone *next;
	struct tombstone *same; /* the next one in its bucket */
	uint64_t generation;    /* 0: dropped */
	dw_usec at;             /* steady */
	bool letter;            /* the timer is a dead letter now */
	char id[];
};

/* The tombstones of one shard. */
struct tombstones {
	struct tombstone *first, *last;
	struct tombstone *buckets[TOMBSTONE_BUCKETS];
	unsigned count;
	uint64_t high; /* no generation above it has a tombstone */
};

/* tombstone_add is called when the timer was deleted, or (letter) is a dead letter now. */
void tombstone_add(struct redis_store *, struct shard *, const char *id, uint64_t generation,
		   bool letter);

/* tombstone_drop is called when the timer is stored now. If the server was set back, its generation
 * may be below that of an earlier timer of the id. */
void tombstone_drop(struct shard *, const char *id, uint64_t generation);

/* tombstone_note keeps tombstones up to date: the operation ended a timer or stored one. */
void tombstone_note(struct redis_store *, struct shard *, const dw_op *);

/* tombstone_covers returns true if that generation of the timer, or a later one, was deleted or is
 * a dead letter. */
bool tombstone_covers(const struct shard *, const char *id, uint64_t generation);

/* tombstone_note_ended marks the rows of an answer whose timers ended after they were read; the
 * op's floor is when the reading began. Otherwise the engine would keep these timers, and write
 * them again when a shard is rebuilt. */
void tombstone_note_ended(struct redis_store *, const dw_op *);

/* tombstone_move gives the tombstones of an old shard to the new shards. */
void tombstone_move(struct redis_store *, struct shard *old);
void tombstone_free_all(struct alloc *, struct shard *);

#endif
