/* Nodes in the order of (due, generation): a skip list (Pugh 1990), because it is the shortest
 * ordered structure that needs neither recursion nor rebalancing. The nodes live inside their
 * owners' structures; a node's height comes from its first generation, so that the same operations
 * make the same list. */
#ifndef DW_STORE_MEMORY_SKIPLIST_H
#define DW_STORE_MEMORY_SKIPLIST_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

#define ORDER_HEIGHT 16

struct order_node {
	dw_usec due;
	uint64_t generation;
	uint8_t height;
	struct order_node **next; /* height of them */
};

struct order {
	struct order_node *first[ORDER_HEIGHT];
};

/* order_height: how many next pointers the node of generation needs. */
uint8_t order_height(uint64_t generation);

/* order_add: due, generation, height and next of the node are set. */
void order_add(struct order *, struct order_node *);
void order_remove(struct order *, struct order_node *);

/* order_after: the first node behind (due, generation). */
struct order_node *order_after(const struct order *, dw_usec due, uint64_t generation);

/* order_after_generation: the node of the next generation. It looks through all: only tests ask for
 * that order. */
struct order_node *order_after_generation(const struct order *, const dw_cursor *after);

#endif
