#include "store/memory/id_map.h"

#include <string.h>

#include "base/hash.h"
#include "durawheel/error.h"

/* hash_of needs no secret seed, because only the program itself chooses the ids. */
static uint64_t hash_of(const char *id)
{
	return hash_bytes(1, id, strlen(id));
}

int id_map_init(struct id_map *map, const struct alloc *alloc)
{
	int status = linear_init(&map->table, alloc);

	if (status != DW_OK)
		id_map_free(map);
	return status;
}

void id_map_free(struct id_map *map)
{
	if (map->table.alloc)
		linear_free(&map->table);
	*map = (struct id_map){0};
}

struct id_map_node *id_map_find(const struct id_map *map, const char *id)
{
	uint64_t hash = hash_of(id);
	struct linear_node *link = linear_first(&map->table, hash);

	while (link && (link->hash != hash || strcmp(((struct id_map_node *)link)->id, id) != 0))
		link = link->next;
	return (struct id_map_node *)link;
}

void id_map_add(struct id_map *map, struct id_map_node *node)
{
	node->link.hash = hash_of(node->id);
	linear_put(&map->table, &node->link);
}

void id_map_remove(struct id_map *map, struct id_map_node *node)
{
	linear_remove(&map->table, &node->link);
}
