#include "timer/index.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"

#define BUCKETS_MIN 64u

/* So many splits ahead the timers that will be moved are fetched. */
#define SPLITS_AHEAD 8u

int index_init(struct index *index, const struct alloc *alloc, uint64_t seed)
{
	int status;

	*index = (struct index){.alloc = alloc, .seed = seed};
	status = segments_reserve(&index->buckets, alloc, BUCKETS_MIN);
	if (status == DW_OK)
		index->bucket_count = BUCKETS_MIN;
	return status;
}

void index_free(struct index *index)
{
	segments_free(&index->buckets, index->alloc);
}

/* round_size: the power of two at or below count, count at least 1. */
static uint32_t round_size(uint32_t count)
{
	return UINT32_C(1) << (31 - __builtin_clz(count));
}

/* bucket_of: buckets below the split point are addressed by one bit more. */
static struct timer **bucket_of(const struct index *index, uint64_t hash)
{
	uint32_t size = round_size(index->bucket_count);
	uint32_t bucket = (uint32_t)hash & (2 * size - 1);

	if (bucket >= index->bucket_count)
		bucket -= size;
	return (struct timer **)segments_at(&index->buckets, bucket);
}

struct timer *index_find(const struct index *index, const char *id)
{
	uint64_t hash = hash_bytes(index->seed, id, strlen(id));
	struct timer *timer = *bucket_of(index, hash);

	while (timer && (timer->hash != hash || strcmp(timer->id, id) != 0))
		timer = timer->hash_next;
	return timer;
}

void index_fetch_bucket(const struct index *index, const char *id)
{
	bits_prefetch(bucket_of(index, hash_bytes(index->seed, id, strlen(id))));
}

void index_fetch_timer(const struct index *index, const char *id)
{
	const struct timer *timer = *bucket_of(index, hash_bytes(index->seed, id, strlen(id)));

	if (timer)
		bits_prefetch(timer);
}

/* fetch_split: the first timer of a bucket that is to be split soon. */
static void fetch_split(const struct index *index, uint32_t bucket)
{
	const struct timer *timer = *segments_at(&index->buckets, bucket);

	if (timer)
		bits_prefetch(timer);
}

/* split moves the timers of the bucket at the split point that belong to the new last one. */
static void split(struct index *index)
{
	uint32_t size = round_size(index->bucket_count);
	struct timer **from =
	    (struct timer **)segments_at(&index->buckets, index->bucket_count - size);
	struct timer **to = (struct timer **)segments_at(&index->buckets, index->bucket_count);

	*to = NULL;
	fetch_split(index, index->bucket_count - size + SPLITS_AHEAD);
	while (*from) {
		struct timer *timer = *from;

		if (((uint32_t)timer->hash & size) == 0) {
			from = &timer->hash_next;
			continue;
		}
		*from = timer->hash_next;
		timer->hash_next = *to;
		*to = timer;
	}
	index->bucket_count++;
}

int index_add(struct index *index, struct timer *timer)
{
	struct timer **bucket;

	assert(!index_find(index, timer->id));
	if (index->count >= index->bucket_count) {
		if (segments_reserve(&index->buckets, index->alloc, index->bucket_count + 1) !=
		    DW_OK)
			return DW_ENOMEM;
		split(index);
	}
	timer->hash = hash_bytes(index->seed, timer->id, strlen(timer->id));
	bucket = bucket_of(index, timer->hash);
	timer->hash_next = *bucket;
	*bucket = timer;
	index->count++;
	return DW_OK;
}

/* link_to: the link that leads to a timer of the index. */
static struct timer **link_to(const struct index *index, const struct timer *timer)
{
	struct timer **link = bucket_of(index, timer->hash);

	while (*link != timer) {
		assert(*link);
		link = &(*link)->hash_next;
	}
	return link;
}

void index_remove(struct index *index, struct timer *timer)
{
	struct timer **link = link_to(index, timer);

	*link = timer->hash_next;
	timer->hash_next = NULL;
	index->count--;
}

void index_replace(struct index *index, struct timer *old, struct timer *fresh)
{
	struct timer **link = link_to(index, old);

	assert(strcmp(old->id, fresh->id) == 0);
	fresh->hash = old->hash;
	fresh->hash_next = old->hash_next;
	*link = fresh;
	old->hash_next = NULL;
}

bool index_visit(struct index *index, uint32_t bucket, void (*visit)(struct timer *, void *user),
		 void *user)
{
	struct timer *timer;

	if (bucket >= index->bucket_count)
		return false;
	timer = *segments_at(&index->buckets, bucket);
	while (timer) {
		struct timer *next = timer->hash_next;

		visit(timer, user);
		timer = next;
	}
	return true;
}

void index_each(struct index *index, void (*visit)(struct timer *, void *user), void *user)
{
	for (uint32_t i = 0; index_visit(index, i, visit, user); i++)
		;
}
