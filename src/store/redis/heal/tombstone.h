/* Remembers ids whose deletion this owner has seen. If the server brings such a timer back, this
 * store deletes the timer again. */
#ifndef DW_STORE_REDIS_TOMBSTONE_H
#define DW_STORE_REDIS_TOMBSTONE_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

#define TOMBSTONE_BUCKETS 256u

struct tombstone {
	struct tombstone *next;
	struct tombstone *same; /* the next tombstone in the same bucket */
	uint64_t generation;    /* 0 if the tombstone was dropped */
	dw_usec at;             /* when the deletion was seen (steady clock) */
	bool letter;            /* the timer is a dead letter now */
	char id[];
};

/* The tombstones of one shard. */
struct tombstones {
	struct tombstone *first, *last;
	struct tombstone *buckets[TOMBSTONE_BUCKETS];
	unsigned count;
	uint64_t high; /* no tombstone of the shard has a generation above this one */
};

/* tombstone_add is called when the timer was deleted, or is a dead letter now (`letter`). */
void tombstone_add(struct redis_store *, struct shard *, const char *id, uint64_t generation,
		   bool letter);

/* tombstone_drop is called when the timer is stored now. If the server was set back, the timer's
 * generation may be below that of an earlier timer with this id. */
void tombstone_drop(struct shard *, const char *id, uint64_t generation);

/* tombstone_note updates the tombstones when an operation has ended or stored a timer. */
void tombstone_note(struct redis_store *, struct shard *, const dw_op *);

/* tombstone_covers returns true if this generation of the timer, or a later one, was deleted or is
 * a dead letter now. */
bool tombstone_covers(const struct shard *, const char *id, uint64_t generation);

/* tombstone_note_ended marks rows of an answer whose timers ended after they were read; op->floor
 * is when the reading began. Otherwise the engine would keep these timers, and write them again
 * when a shard is rebuilt. */
void tombstone_note_ended(struct redis_store *, const dw_op *);

/* tombstone_note_newer adds tombstones for the timers that a newer durawheel has replaced, as the
 * rows of an answer show. The engine does not know the timers that are stored now. */
void tombstone_note_newer(struct redis_store *, const dw_op *);

/* tombstone_move moves the tombstones of an old shard to the new shards. */
void tombstone_move(struct redis_store *, struct shard *old);
void tombstone_free_all(struct alloc *, struct shard *);

#endif
