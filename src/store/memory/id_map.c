#include "store/memory/id_map.h"

#include <assert.h>
#include <string.h>

#include "durawheel/error.h"

enum { BUCKETS_MIN = 64 };

/* hash_of is FNV-1a, which is good enough: ids are short, and only the program itself chooses
 * them. */
static uint32_t hash_of(const char *id)
{
	uint32_t hash = 2166136261u;

	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 16777619u;
	return hash ^ hash >> 15;
}

int id_map_init(struct id_map *map, const struct alloc *alloc)
{
	struct id_map_node **buckets = alloc_new(alloc, BUCKETS_MIN * sizeof *buckets);

	if (!buckets)
		return DW_ENOMEM;
	*map = (struct id_map){.buckets = buckets, .bucket_count = BUCKETS_MIN};
	return DW_OK;
}

void id_map_free(struct id_map *map, const struct alloc *alloc)
{
	alloc_free(alloc, map->buckets);
	*map = (struct id_map){0};
}

static struct id_map_node **bucket_of(const struct id_map *map, uint32_t hash)
{
	return &map->buckets[hash & (map->bucket_count - 1)];
}

struct id_map_node *id_map_find(const struct id_map *map, const char *id)
{
	uint32_t hash = hash_of(id);
	struct id_map_node *node = *bucket_of(map, hash);

	while (node && (node->hash != hash || strcmp(node->id, id) != 0))
		node = node->next;
	return node;
}

static void grow(struct id_map *map, const struct alloc *alloc)
{
	struct id_map wider = {.bucket_count = map->bucket_count * 2, .count = map->count};

	wider.buckets = alloc_new(alloc, wider.bucket_count * sizeof *wider.buckets);
	if (!wider.buckets)
		return;
	for (size_t i = 0; i < map->bucket_count; i++) {
		struct id_map_node *node = map->buckets[i];

		while (node) {
			struct id_map_node *next = node->next;
			struct id_map_node **bucket = bucket_of(&wider, node->hash);

			node->next = *bucket;
			*bucket = node;
			node = next;
		}
	}
	alloc_free(alloc, map->buckets);
	*map = wider;
}

void id_map_add(struct id_map *map, const struct alloc *alloc, struct id_map_node *node)
{
	struct id_map_node **bucket;

	if (map->count >= map->bucket_count)
		grow(map, alloc);
	node->hash = hash_of(node->id);
	bucket = bucket_of(map, node->hash);
	node->next = *bucket;
	*bucket = node;
	map->count++;
}

void id_map_remove(struct id_map *map, struct id_map_node *node)
{
	struct id_map_node **at = bucket_of(map, node->hash);

	while (*at && *at != node)
		at = &(*at)->next;
	assert(*at == node);
	*at = node->next;
	node->next = NULL;
	map->count--;
}
