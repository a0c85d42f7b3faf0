/*
 * nodes.h: where the nodes come from: chunks that are never copied, a free list through the nodes,
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

/* wheel_nodes_take: a node that is in no list, its generation set; the room was reserved. */
static inline uint32_t wheel_nodes_take(dw_wheel *wheel)
{
	struct wheel_nodes *nodes = &wheel->nodes;
	uint32_t index = nodes->free_head;

	wheel->count++;
	if (index != WHEEL_NONE) {
		nodes->free_head = wheel_node_at(wheel, index)->next;
		return index;
	}
	index = nodes->fresh++;
	if (BITS_RARE(index == nodes->used)) {
		wheel_node_at(wheel, index)->generation = 1;
		nodes->used++;
	}
	return index;
}

/*
 * wheel_nodes_release: the node's handle is stale from here on. When the last one goes, the nodes
 * are handed out in the order of memory again, which years of random cancelling had shuffled.
 */
static inline void wheel_nodes_release(dw_wheel *wheel, struct wheel_node *node, uint32_t index)
{
	struct wheel_nodes *nodes = &wheel->nodes;

	node->generation += 1u + (node->generation == UINT32_MAX);
	node->prev = WHEEL_IN_FREE;
	node->next = nodes->free_head;
	nodes->free_head = index;
	if (BITS_RARE(--wheel->count == 0)) {
		nodes->free_head = WHEEL_NONE;
		nodes->fresh = 0;
	}
}

/* wheel_nodes_find: the live node of a handle, or NULL. */
static inline struct wheel_node *wheel_nodes_find(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle);
	struct wheel_node *node;

	if (index >= wheel->nodes.used)
		return NULL;
	node = wheel_node_at(wheel, index);
	if (node->generation != handle >> 32 || node->prev == WHEEL_IN_FREE)
		return NULL;
	return node;
}

#endif
