/* One shard: the names of its keys, which ids belong to it, and the sets that it is in. */
#include "store/redis/shard.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "store/redis/core.h"
#include "store/redis/store.h"

/* crc16_byte divides by x^16 + x^12 + x^5 + 1 without a table: a byte's quotient is the byte with
 * its upper half, and each term of the divisor shifts it. */
static unsigned crc16_byte(unsigned crc, unsigned char byte)
{
	unsigned quotient = crc >> 8 ^ byte;

	quotient ^= quotient >> 4;
	return (crc << 8 & 0xffff) ^ (quotient << 12 & 0xffff) ^ quotient << 5 ^ quotient;
}

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
		crc = crc16_byte(crc, (unsigned char)id[i]);
	return crc;
}

struct shard *shard_of(struct redis_store *store, const char *id)
{
	return &store->shards[crc16_of(id) % store->shard_count];
}

int shard_make_keys(struct redis_store *store, struct shard *shard)
{
	static const char *const ends[KEY_COUNT] = {"l", "m", "z",  "h", "i", "d",
						    "D", "e", "s:", "k", "E", "x"};
	size_t room = sizeof store->names.name + sizeof store->names.nonce + 16;
	char *at = alloc_new(&store->alloc, KEY_COUNT * room);

	if (!at)
		return DW_ENOMEM;
	for (unsigned i = 0; i < KEY_COUNT; i++, at += room) {
		shard->keys.name[i] = at;
		shard->keys.size[i] =
		    (size_t)snprintf(at, room, "{%s:%02u}:%s%s", store->names.name, shard->number,
				     ends[i], i == KEY_SESSION ? store->names.nonce : "");
	}
	return DW_OK;
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

void shard_mark(struct redis_store *store, struct shard *shard, enum shard_mark mark)
{
	shard->marks |= mark;
	shard_add(&store->sets.marked, shard->number);
}

void shard_queued(struct redis_store *store, const struct shard *shard)
{
	shard_add(&store->sets.queued, shard->number);
}

void shard_pause(struct redis_store *store, struct shard *shard, dw_usec until)
{
	shard->channel.pause_until = until;
	shard_add(&store->sets.paused, shard->number);
}

void shard_expect_news(struct redis_store *store, struct shard *shard)
{
	shard->inbox.has_news = true;
	shard_add(&store->sets.news, shard->number);
}

bool shard_has_queue(const struct shard *shard)
{
	return shard->queues.rebuild.first || shard->queues.retry.first ||
	       shard->queues.waiting.first || shard->in_doubt.requests.first;
}
