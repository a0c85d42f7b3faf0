/* Remembers ids whose deletion this owner has seen in the last minute. When a shard loses data, it
 * may still have these timers, or the engine may want to write them. So the store deletes them
 * again, and refuses to write them. */
#include "store/redis/heal/tombstone.h"

#include <string.h>

#include "base/hash.h"
#include "store/redis/core.h"

#define TOMBSTONE_AGE DW_SECONDS(60)
#define TOMBSTONES_MAX 131072u /* most tombstones of all shards together */

static size_t bucket_of(const char *id)
{
	return hash_bytes(0, id, strlen(id)) % TOMBSTONE_BUCKETS;
}

static void drop_first(struct alloc *alloc, struct shard *shard)
{
	struct tombstone *tombstone = shard->tombstones.first;
	struct tombstone **at = &shard->tombstones.buckets[bucket_of(tombstone->id)];

	while (*at != tombstone)
		at = &(*at)->same;
	*at = tombstone->same;
	shard->tombstones.first = tombstone->next;
	if (!shard->tombstones.first)
		shard->tombstones.last = NULL;
	shard->tombstones.count--;
	alloc_free(alloc, tombstone);
}

static void link_tombstone(struct shard *shard, struct tombstone *tombstone)
{
	struct tombstone **bucket = &shard->tombstones.buckets[bucket_of(tombstone->id)];

	tombstone->next = NULL;
	tombstone->same = *bucket;
	*bucket = tombstone;
	*(shard->tombstones.last ? &shard->tombstones.last->next : &shard->tombstones.first) =
	    tombstone;
	shard->tombstones.last = tombstone;
	shard->tombstones.count++;
}

void tombstone_add(struct redis_store *store, struct shard *shard, const char *id,
		   uint64_t generation, bool letter)
{
	size_t id_size = strlen(id) + 1;
	struct tombstone *tombstone;

	while (shard->tombstones.first &&
	       (shard->tombstones.first->at + TOMBSTONE_AGE < store->now ||
		shard->tombstones.count >= TOMBSTONES_MAX / store->shard_count))
		drop_first(&store->alloc, shard);
	if (!shard_is_ours(shard) || generation == 0)
		return;
	tombstone = alloc_new(&store->alloc, sizeof *tombstone + id_size);
	if (!tombstone)
		return; /* without a tombstone the timer might be delivered once more */
	memcpy(tombstone->id, id, id_size);
	tombstone->generation = generation;
	tombstone->at = store->now;
	tombstone->letter = letter;
	link_tombstone(shard, tombstone);
	if (shard->tombstones.high < generation)
		shard->tombstones.high = generation;
}

/* tombstone_of returns the tombstone of this id with this generation or a later one. NULL: there is
 * none. */
static struct tombstone *tombstone_of(const struct shard *shard, const char *id,
				      uint64_t generation)
{
	struct tombstone *tombstone = NULL;

	if (generation <= shard->tombstones.high)
		tombstone = shard->tombstones.buckets[bucket_of(id)];
	while (tombstone && (tombstone->generation < generation || strcmp(tombstone->id, id) != 0))
		tombstone = tombstone->same;
	return tombstone;
}

bool tombstone_covers(const struct shard *shard, const char *id, uint64_t generation)
{
	return tombstone_of(shard, id, generation) != NULL;
}

void tombstone_note_ended(struct redis_store *store, const dw_op *op)
{
	for (dw_row *row = op->rows; row; row = row->next) {
		const struct shard *shard = shard_of(store, row->id);
		const struct tombstone *tombstone =
		    tombstone_of(shard, row->id, row->head.generation);

		if (row->status == DW_OK && tombstone &&
		    tombstone->at >= (dw_usec)place_of_const(op)->floor)
			row->gone = 1;
	}
}

void tombstone_note_newer(struct redis_store *store, const dw_op *op)
{
	for (const dw_row *row = op->rows; row; row = row->next) {
		struct shard *shard = shard_of(store, row->id);
		uint64_t generation = row->head.generation;

		if (row->status == DW_ENEWER && generation > 0 &&
		    !tombstone_covers(shard, row->id, generation - 1))
			tombstone_add(store, shard, row->id, generation - 1, false);
	}
}

void tombstone_drop(struct shard *shard, const char *id, uint64_t generation)
{
	struct tombstone *tombstone;

	if (generation == 0)
		return;
	while ((tombstone = tombstone_of(shard, id, generation)))
		tombstone->generation = 0;
}

void tombstone_free_all(struct alloc *alloc, struct shard *shard)
{
	while (shard->tombstones.first)
		drop_first(alloc, shard);
}

void tombstone_move(struct redis_store *store, struct shard *old)
{
	struct tombstone *tombstone = old->tombstones.first;

	old->tombstones.first = old->tombstones.last = NULL;
	while (tombstone) {
		struct tombstone *next = tombstone->next;
		struct shard *shard = shard_of(store, tombstone->id);

		link_tombstone(shard, tombstone);
		if (shard->tombstones.high < tombstone->generation)
			shard->tombstones.high = tombstone->generation;
		tombstone = next;
	}
}

void tombstone_note(struct redis_store *store, struct shard *shard, const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_SETTLE:
	case DW_OP_CANCEL:
		tombstone_add(store, shard, op->id, op->head.generation, false);
		return;
	case DW_OP_BURY:
		tombstone_add(store, shard, op->id, op->head.generation, true);
		return;
	case DW_OP_REPLAY:
		if (op->replay->what == DW_OP_SETTLE || op->replay->what == DW_OP_CANCEL)
			tombstone_add(store, shard, op->id, op->head.generation, false);
		else
			shard_expect_news(&store->sets,
					  shard); /* the inbox names the new generation */
		return;
	case DW_OP_PUT:
	case DW_OP_CLAIM:
	case DW_OP_MOVE:
	case DW_OP_NEXT:
	case DW_OP_REQUEUE:
		tombstone_drop(shard, op->id, op->head.generation);
		return;
	default:
		return;
	}
}
