/* A skip list (Pugh 1990): nodes in the order of (due, generation). It is the shortest ordered
 * structure that needs neither recursion nor rebalancing. The nodes live inside the structures that
 * they belong to. A node's height comes from its first generation, so the same operations always
 * make the same list. */
#ifndef DW_STORE_MEMORY_SKIPLIST_H
#define DW_STORE_MEMORY_SKIPLIST_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

#define SKIPLIST_HEIGHT 16

struct skiplist_node {
	dw_usec due;
	uint64_t generation;
	uint8_t height;
	struct skiplist_node **next; /* `height` links */
};

struct skiplist {
	struct skiplist_node *first[SKIPLIST_HEIGHT];
};

/* skiplist_height returns how many links the node of this generation needs. */
uint8_t skiplist_height(uint64_t generation);

/* skiplist_add adds a node whose due, generation, height and next are set. */
void skiplist_add(struct skiplist *, struct skiplist_node *);
void skiplist_remove(struct skiplist *, struct skiplist_node *);

/* skiplist_after returns the first node behind (due, generation). */
struct skiplist_node *skiplist_after(const struct skiplist *, dw_usec due, uint64_t generation);

/* skiplist_after_generation returns the node with the next generation. It looks through all nodes,
 * because only tests ask for this order. */
struct skiplist_node *skiplist_after_generation(const struct skiplist *, const dw_cursor *after);

#endif
