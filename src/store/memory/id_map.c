#include "store/memory/id_map.h"

#include <assert.h>
#include <string.h>

#include "durawheel/error.h"

enum { BUCKETS_MIN = 64 };

/* FNV-1a: ids are short, and nobody but the program itself chooses them. */
static uint32_t hash_of(const char *id)
{
	uint32_t hash = 2166136261u;

	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 16777619u;
	return hash ^ hash >> 15;
}

int names_init(struct names *names, const struct alloc *alloc)
{
	struct names_node **buckets = alloc_new(alloc, BUCKETS_MIN * sizeof *buckets);

	if (!buckets)
		return DW_ENOMEM;
	*names = (struct names){.buckets = buckets, .bucket_count = BUCKETS_MIN};
	return DW_OK;
}

void names_free(struct names *names, const struct alloc *alloc)
{
	alloc_free(alloc, names->buckets);
	*names = (struct names){0};
}

static struct names_node **bucket_of(const struct names *names, uint32_t hash)
{
	return &names->buckets[hash & (names->bucket_count - 1)];
}

struct names_node *names_find(const struct names *names, const char *id)
{
	uint32_t hash = hash_of(id);
	struct names_node *node = *bucket_of(names, hash);

	while (node && (node->hash != hash || strcmp(node->id, id) != 0))
		node = node->next;
	return node;
}

static void grow(struct names *names, const struct alloc *alloc)
{
	struct names wider = {.bucket_count = names->bucket_count * 2, .count = names->count};

	wider.buckets = alloc_new(alloc, wider.bucket_count * sizeof *wider.buckets);
	if (!wider.buckets)
		return;
	for (size_t i = 0; i < names->bucket_count; i++) {
		struct names_node *node = names->buckets[i];

		while (node) {
			struct names_node *next = node->next;
			struct names_node **bucket = bucket_of(&wider, node->hash);

			node->next = *bucket;
			*bucket = node;
			node = next;
		}
	}
	alloc_free(alloc, names->buckets);
	*names = wider;
}

void names_add(struct names *names, const struct alloc *alloc, struct names_node *node)
{
	struct names_node **bucket;

	if (names->count >= names->bucket_count)
		grow(names, alloc);
	node->hash = hash_of(node->id);
	bucket = bucket_of(names, node->hash);
	node->next = *bucket;
	*bucket = node;
	names->count++;
}

void names_remove(struct names *names, struct names_node *node)
{
	struct names_node **at = bucket_of(names, node->hash);

	while (*at && *at != node)
		at = &(*at)->next;
	assert(*at == node);
	*at = node->next;
	node->next = NULL;
	names->count--;
}
