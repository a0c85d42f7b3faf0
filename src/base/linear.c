#include "base/linear.h"

#include <assert.h>

#include "base/bits.h"
#include "durawheel/error.h"

#define BUCKETS_MIN 64u

/* A split prefetches the entries of the bucket that will be split this many splits later. */
#define SPLITS_AHEAD 8u

int linear_init(struct linear *linear, const struct alloc *alloc)
{
	int status;

	*linear = (struct linear){.alloc = alloc};
	status = segments_reserve(&linear->buckets, alloc, BUCKETS_MIN);
	if (status == DW_OK)
		linear->bucket_count = BUCKETS_MIN;
	return status;
}

void linear_free(struct linear *linear)
{
	segments_free(&linear->buckets, linear->alloc);
}

/* round_size returns the largest power of two that is not above count. count is at least 1. */
static uint32_t round_size(uint32_t count)
{
	return UINT32_C(1) << (31 - __builtin_clz(count));
}

static struct linear_node **bucket_at(const struct linear *linear, uint32_t bucket)
{
	return (struct linear_node **)segments_at(&linear->buckets, bucket);
}

/* bucket_of returns the bucket of a hash. Buckets that have been split are addressed by one more
 * bit. */
static struct linear_node **bucket_of(const struct linear *linear, uint64_t hash)
{
	uint32_t size = round_size(linear->bucket_count);
	uint32_t bucket = (uint32_t)hash & (2 * size - 1);

	if (bucket >= linear->bucket_count)
		bucket -= size;
	return bucket_at(linear, bucket);
}

struct linear_node *linear_first(const struct linear *linear, uint64_t hash)
{
	return *bucket_of(linear, hash);
}

void linear_fetch(const struct linear *linear, uint64_t hash)
{
	bits_prefetch(bucket_of(linear, hash));
}

/* fetch_split prefetches the first entry of a bucket that will be split soon. */
static void fetch_split(const struct linear *linear, uint32_t bucket)
{
	const struct linear_node *node = *bucket_at(linear, bucket);

	if (node)
		bits_prefetch(node);
}

/* split adds a bucket, and moves into it the entries that now belong there. They come from the
 * bucket at the split point. */
static void split(struct linear *linear)
{
	uint32_t size = round_size(linear->bucket_count);
	struct linear_node **from = bucket_at(linear, linear->bucket_count - size);
	struct linear_node **to = bucket_at(linear, linear->bucket_count);

	*to = NULL;
	fetch_split(linear, linear->bucket_count - size + SPLITS_AHEAD);
	while (*from) {
		struct linear_node *node = *from;

		if (((uint32_t)node->hash & size) == 0) {
			from = &node->next;
			continue;
		}
		*from = node->next;
		node->next = *to;
		*to = node;
	}
	linear->bucket_count++;
}

static int grow(struct linear *linear)
{
	int status = DW_OK;

	if (linear->count < linear->bucket_count)
		return DW_OK;
	status = segments_reserve(&linear->buckets, linear->alloc, linear->bucket_count + 1);
	if (status == DW_OK)
		split(linear);
	return status;
}

static void put(struct linear *linear, struct linear_node *node)
{
	struct linear_node **bucket = bucket_of(linear, node->hash);

	node->next = *bucket;
	*bucket = node;
	linear->count++;
}

int linear_add(struct linear *linear, struct linear_node *node)
{
	int status = grow(linear);

	if (status == DW_OK)
		put(linear, node);
	return status;
}

void linear_put(struct linear *linear, struct linear_node *node)
{
	(void)grow(linear); /* without memory the table does not grow, and is slower */
	put(linear, node);
}

/* link_to returns the pointer that points to an entry of the table. */
static struct linear_node **link_to(const struct linear *linear, const struct linear_node *node)
{
	struct linear_node **link = bucket_of(linear, node->hash);

	while (*link != node) {
		assert(*link);
		link = &(*link)->next;
	}
	return link;
}

void linear_remove(struct linear *linear, struct linear_node *node)
{
	*link_to(linear, node) = node->next;
	node->next = NULL;
	linear->count--;
}

void linear_replace(struct linear *linear, struct linear_node *old, struct linear_node *fresh)
{
	struct linear_node **link = link_to(linear, old);

	*fresh = *old;
	*link = fresh;
	old->next = NULL;
}

bool linear_visit(struct linear *linear, uint32_t bucket,
		  void (*visit)(struct linear_node *, void *user), void *user)
{
	struct linear_node *node;

	if (bucket >= linear->bucket_count)
		return false;
	node = *bucket_at(linear, bucket);
	while (node) {
		struct linear_node *next = node->next;

		visit(node, user);
		node = next;
	}
	return true;
}
