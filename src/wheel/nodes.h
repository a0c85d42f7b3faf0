/*
 * nodes.h: where the nodes come from: one array that grows, a free list through the nodes,
 * and generations that tell a timer from the next one with its index.
 */
#ifndef WHEEL_NODES_H
#define WHEEL_NODES_H

#include "base/bits.h"
#include "wheel/layout.h"

#include <stdbool.h>

/* wheel_chunks_add: one more block. DW_ENOMEM. */
int wheel_chunks_add(const dw_wheel *wheel, struct wheel_chunks *chunks, size_t size_bytes);

/* wheel_chunks_drop: free the last block. */
void wheel_chunks_drop(const dw_wheel *wheel, struct wheel_chunks *chunks);

/* wheel_chunks_free: free all blocks and the table. */
void wheel_chunks_free(const dw_wheel *wheel, struct wheel_chunks *chunks);

/* wheel_nodes_grow: room for more nodes, by one step. DW_ENOMEM, DW_ELIMIT. */
int wheel_nodes_grow(dw_wheel *wheel);

/* wheel_nodes_grow_to: room for exactly so many, more than there is. DW_ENOMEM. */
int wheel_nodes_grow_to(dw_wheel *wheel, uint32_t capacity);

/* wheel_nodes_bytes: what the nodes take, without the wheel's own structure. */
size_t wheel_nodes_bytes(const dw_wheel *wheel);

/* wheel_nodes_full: there is no node to take. */
static inline bool wheel_nodes_full(const dw_wheel *wheel)
{
	const struct wheel_nodes *nodes = &wheel->nodes;

	return nodes->free_head == WHEEL_NONE && nodes->fresh == nodes->capacity;
}

/* wheel_nodes_reserve: room for one more, so that the take cannot fail. DW_ENOMEM, DW_ELIMIT. */
static inline int wheel_nodes_reserve(dw_wheel *wheel)
{
	return wheel_nodes_full(wheel) ? wheel_nodes_grow(wheel) : DW_OK;
}

/* wheel_nodes_take: a node that is in no list, live from here on; the room was reserved. */
static inline uint32_t wheel_nodes_take(dw_wheel *wheel)
{
	struct wheel_nodes *nodes = &wheel->nodes;
	uint32_t index = nodes->free_head;
	struct wheel_node *node;

	wheel->count++;
	if (index != WHEEL_NONE) {
		node = wheel_node_at(wheel, index);
		nodes->free_head = node->next;
		node->generation++;
		return index;
	}
	index = nodes->fresh++;
	node = wheel_node_at(wheel, index);
	if (BITS_RARE(index == nodes->used)) {
		node->generation = 0;
		nodes->used++;
	}
	node->generation++;
	return index;
}

/* wheel_nodes_retire: the node's handle is stale from here on. */
static inline void wheel_nodes_retire(dw_wheel *wheel, struct wheel_node *node)
{
	node->generation++;
	wheel->count--;
}

/* wheel_nodes_free: a retired node that is in no list any more may be taken again. */
static inline void wheel_nodes_free(dw_wheel *wheel, struct wheel_node *node, uint32_t index)
{
	node->next = wheel->nodes.free_head;
	wheel->nodes.free_head = index;
}

/*
 * wheel_nodes_tidy: when the last timer has gone, the nodes are handed out in the order of memory
 * again, which years of random cancelling had shuffled.
 */
static inline void wheel_nodes_tidy(dw_wheel *wheel)
{
	if (BITS_RARE(wheel->count == 0)) {
		wheel->nodes.free_head = WHEEL_NONE;
		wheel->nodes.fresh = 0;
	}
}

/* wheel_nodes_find: the live node of a handle, or NULL. */
static inline struct wheel_node *wheel_nodes_find(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle);
	uint32_t generation = (uint32_t)(handle >> 32);
	struct wheel_node *node;

	if (index >= wheel->nodes.used)
		return NULL;
	node = wheel_node_at(wheel, index);
	return node->generation == generation && generation % 2 ? node : NULL;
}

#endif
