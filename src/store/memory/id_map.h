/* A hash table by id. Its nodes live inside the structures that they belong to. Adding a node never
 * fails. */
#ifndef DW_STORE_MEMORY_ID_MAP_H
#define DW_STORE_MEMORY_ID_MAP_H

#include "base/linear.h"

struct id_map_node {
	struct linear_node link; /* must be the first field */
	const char *id;
};

struct id_map {
	struct linear table;
};

/* id_map_init returns DW_OK or DW_ENOMEM. The allocator must outlive the map. */
int id_map_init(struct id_map *, const struct alloc *);
void id_map_free(struct id_map *);

struct id_map_node *id_map_find(const struct id_map *, const char *id);

/* id_map_add adds a node whose id is set. The id must not be in the table. */
void id_map_add(struct id_map *, struct id_map_node *);
void id_map_remove(struct id_map *, struct id_map_node *);

#endif
