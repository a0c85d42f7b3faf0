/* What is stored, and times that are near it: what a random call is compared with. */
#include "keyspace/both.h"

#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "store/redis/value.h"

static const unsigned char *field_of(struct both *both, const char *end, const char *field,
				     size_t *ret_size)
{
	char key[32];

	(void)snprintf(key, sizeof key, "{t:%02u}:%s", both->shard, end);
	return (const unsigned char *)keyspace_value(both->keyspace, key, field, ret_size);
}

const unsigned char *both_stored(struct both *both, const char *id, size_t *ret_size)
{
	return field_of(both, "h", id, ret_size);
}

uint64_t both_version(struct both *both, const char *id)
{
	size_t size;
	const unsigned char *value = both_stored(both, id, &size);

	return value && size >= 16 ? bytes_get(value + 8, 8) & ((UINT64_C(1) << 53) - 1) : 0;
}

static uint64_t stored_ver(struct both *both, const char *id)
{
	size_t size;
	const unsigned char *value = both_stored(both, id, &size);

	return value && size >= 16 ? bytes_get(value + 8, 8) : 0;
}

static uint64_t last_ver(struct both *both)
{
	size_t size;
	const unsigned char *ver = field_of(both, "m", "ver", &size);
	char text[32];

	if (!ver)
		return 0;
	(void)snprintf(text, sizeof text, "%.*s", (int)size, (const char *)ver);
	return strtoull(text, NULL, 10);
}

static uint64_t news_of(struct both *both, const char *id)
{
	char key[32];
	double score;

	(void)snprintf(key, sizeof key, "{t:%02u}:i", both->shard);
	return keyspace_score(both->keyspace, key, id, &score) ? (uint64_t)fabs(score) : 0;
}

uint64_t both_time(struct both *both, uint64_t before, uint64_t after)
{
	uint64_t now = (uint64_t)both->now;
	const char *id = both_id(both);
	uint64_t edges[] = {stored_ver(both, id), news_of(both, id), last_ver(both), now - 2000000};
	uint64_t edge = edges[both_draw(both, sizeof edges / sizeof *edges)];

	if (both_draw(both, 4) == 0 && edge >= now - 20000000 && edge <= now + 20000000)
		return edge + both_draw(both, 3) - 1;
	return now - before + both_draw(both, before + after);
}

int64_t both_score(struct both *both)
{
	char key[32];
	double score;

	(void)snprintf(key, sizeof key, "{t:%02u}:z", both->shard);
	if (both_draw(both, 2) && keyspace_score(both->keyspace, key, both_id(both), &score))
		return (int64_t)fabs(score);
	return value_score(both_any_due(both));
}
