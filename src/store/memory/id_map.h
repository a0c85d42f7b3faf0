/* A hash table by id, of nodes that live inside their owners' structures: it allocates nothing but
 * its buckets, so that adding never fails once it is made. */
#ifndef DW_STORE_MEMORY_ID_MAP_H
#define DW_STORE_MEMORY_ID_MAP_H

#include <stdint.h>

#include "base/alloc.h"

struct names_node {
	struct names_node *next;
	const char *id;
	uint32_t hash;
};

struct names {
	struct names_node **buckets;
	size_t bucket_count; /* a power of two */
	size_t count;
};

/* names_init: DW_OK, DW_ENOMEM. */
int names_init(struct names *, const struct alloc *);
void names_free(struct names *, const struct alloc *);

struct names_node *names_find(const struct names *, const char *id);

/* names_add: node->id, not in the table, is set. Without memory the table grows no more and only
 * becomes slower. */
void names_add(struct names *, const struct alloc *, struct names_node *);
void names_remove(struct names *, struct names_node *);

#endif
