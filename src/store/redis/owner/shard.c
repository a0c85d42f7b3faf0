/* One shard: the names of its keys, which ids belong to it, and the sets that it is in. */
#include "store/redis/owner/shard.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "store/redis/core.h"
#include "store/redis/store.h"

/* The remainder of a byte divided by x^16 + x^12 + x^5 + 1. The quotient is the byte XOR its upper
 * half, and each term of the divisor shifts the quotient. */
#define QUOTIENT(n) ((n) ^ (n) >> 4)
#define REST(n) (uint16_t)(QUOTIENT(n) << 12 ^ QUOTIENT(n) << 5 ^ QUOTIENT(n))
#define REST_4(n) REST(n), REST((n) + 1), REST((n) + 2), REST((n) + 3)
#define REST_16(n) REST_4(n), REST_4((n) + 4), REST_4((n) + 8), REST_4((n) + 12)
#define REST_64(n) REST_16(n), REST_16((n) + 16), REST_16((n) + 32), REST_16((n) + 48)

static const uint16_t rests[256] = {REST_64(0u), REST_64(64u), REST_64(128u), REST_64(192u)};

/* crc16_of computes the CRC-16 of Redis Cluster (XMODEM) over the id, or over its part in
 * braces. */
unsigned crc16_of(const char *id)
{
	const char *open = strchr(id, '{');
	const char *end = open ? strchr(open + 1, '}') : NULL;
	size_t size = strlen(id);
	unsigned crc = 0;

	if (end && end > open + 1) {
		id = open + 1;
		size = (size_t)(end - id);
	}
	for (size_t i = 0; i < size; i++)
		crc = (crc << 8 & 0xffff) ^ rests[crc >> 8 ^ (unsigned char)id[i]];
	return crc;
}

struct shard *shard_of(struct redis_store *store, const char *id)
{
	return &store->shards[crc16_of(id) % store->shard_count];
}

int shard_make_keys(struct redis_store *store, struct shard *shard)
{
	size_t room = sizeof store->names.name + sizeof store->names.nonce + 16;
	char *at = alloc_new(&store->alloc, NAMES_OF_SHARD * room);

	if (!at)
		return DW_ENOMEM;
	for (unsigned i = 0; i < NAMES_OF_SHARD; i++, at += room) {
		shard->keys.name[i] = at;
		shard->keys.size[i] =
		    (size_t)snprintf(at, room, "{%s:%02u}:%s%s", store->names.name, shard->number,
				     redis_key_ends[i], i == KEY_SESSION ? store->names.nonce : "");
	}
	return DW_OK;
}

bool shard_is_shared(const struct redis_store *store)
{
	return store->env.role == DW_PEER;
}

/* may_take returns true if a peer wants the shard, and no change that this store sent as a client
 * still waits for the shard's owner. */
static bool may_take(const struct shard_sets *sets, const struct shard *shard)
{
	return shard_is_in(&sets->wanted, shard->number) && !shard->confirm.ops.first &&
	       !shard->confirm.is_asked;
}

bool shard_take(struct redis_store *store, struct shard *shard)
{
	if (store->ownership.role != DW_OWNER || shard_is_ours(shard) || store->stopped ||
	    !shard->node->connection || shard->channel.is_moving ||
	    shard->in_doubt.requests.first || store->now < shard->lease.again_at ||
	    node_is_new(shard->node) || (shard_is_shared(store) && !may_take(&store->sets, shard)))
		return false;
	/* If the mark were set while the shard is being acquired, it would be read when the shard
	 * is ours. */
	if (shard->channel.under_way == 0 && shard->rebuild.state != REBUILD_ACQUIRING)
		shard_mark(&store->sets, shard, SHARD_TAKEN);
	return true;
}

struct shard *shard_first(const struct redis_store *store)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (!shard_is_cut_off(&store->shards[i]))
			return &store->shards[i];
	return NULL;
}

bool shard_is_in(const struct shard_set *set, unsigned number)
{
	return set->bits[number / 64] >> number % 64 & 1;
}

void shard_add(struct shard_set *set, unsigned number)
{
	set->bits[number / 64] |= UINT64_C(1) << number % 64;
}

void shard_remove(struct shard_set *set, unsigned number)
{
	set->bits[number / 64] &= ~(UINT64_C(1) << number % 64);
}

unsigned shard_next(const struct shard_set *set, unsigned from)
{
	while (from < SHARDS_MAX) {
		uint64_t word = set->bits[from / 64] >> from % 64;

		if (word)
			return from + bits_lowest(word);
		from = (from / 64 + 1) * 64;
	}
	return SHARDS_MAX;
}

void shard_mark(struct shard_sets *sets, struct shard *shard, enum shard_mark mark)
{
	shard->marks |= mark;
	shard_add(&sets->marked, shard->number);
}

void shard_queued(struct shard_sets *sets, const struct shard *shard)
{
	shard_add(&sets->queued, shard->number);
}

void shard_pause(struct shard_sets *sets, struct shard *shard, dw_usec until)
{
	shard->channel.pause_until = until;
	shard_add(&sets->paused, shard->number);
}

void shard_expect_news(struct shard_sets *sets, struct shard *shard)
{
	shard->inbox.has_news = true;
	shard_add(&sets->news, shard->number);
}

bool shard_has_queue(const struct shard *shard)
{
	return shard->queues.rebuild.first || shard->queues.retry.first ||
	       shard->queues.waiting.first || shard->in_doubt.requests.first;
}
