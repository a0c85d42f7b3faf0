/* A hash table by id. Its nodes live inside the structures that they belong to. It allocates
 * nothing but its buckets, so once it is made, adding never fails. */
#ifndef DW_STORE_MEMORY_ID_MAP_H
#define DW_STORE_MEMORY_ID_MAP_H

#include <stdint.h>

#include "base/alloc.h"

struct id_map_node {
	struct id_map_node *next;
	const char *id;
	uint32_t hash;
};

struct id_map {
	struct id_map_node **buckets;
	size_t bucket_count; /* a power of two */
	size_t count;
};

/* id_map_init: DW_OK, DW_ENOMEM. */
int id_map_init(struct id_map *, const struct alloc *);
void id_map_free(struct id_map *, const struct alloc *);

struct id_map_node *id_map_find(const struct id_map *, const char *id);

/* id_map_add adds a node whose id is set and not in the table. Without memory the table does not
 * grow, and only becomes slower. */
void id_map_add(struct id_map *, const struct alloc *, struct id_map_node *);
void id_map_remove(struct id_map *, struct id_map_node *);

#endif
