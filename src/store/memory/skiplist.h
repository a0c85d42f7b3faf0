/* Nodes in the order of (due, generation): a skip list (Pugh 1990), because it is the shortest
 * ordered structure that needs neither recursion nor rebalancing. The nodes live inside their
 * owners' structures; a node's height comes from its first generation, so that the same operations
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
	struct skiplist_node **next; /* height of them */
};

struct skiplist {
	struct skiplist_node *first[SKIPLIST_HEIGHT];
};

/* skiplist_height: how many next pointers the node of generation needs. */
uint8_t skiplist_height(uint64_t generation);

/* skiplist_add: due, generation, height and next of the node are set. */
void skiplist_add(struct skiplist *, struct skiplist_node *);
void skiplist_remove(struct skiplist *, struct skiplist_node *);

/* skiplist_after: the first node behind (due, generation). */
struct skiplist_node *skiplist_after(const struct skiplist *, dw_usec due, uint64_t generation);

/* skiplist_after_generation: the node of the next generation. It looks through all nodes, because
 * only tests ask for that order. */
struct skiplist_node *skiplist_after_generation(const struct skiplist *, const dw_cursor *after);

#endif
