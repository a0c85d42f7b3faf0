/*
 * nodes.c: the slow half of the node store: growing and freeing.
 *
 * A chunk holds 2^14 nodes and stays where it is, so a million timers grow without a copy. Only the
 * first one starts small and doubles, so that a wheel with ten timers is not 320 KiB.
 */
#include "wheel/nodes.h"

static void *resize(const dw_wheel *wheel, void *block, size_t size_bytes)
{
	return wheel->allocator.resize(wheel->allocator.user, block, size_bytes);
}

static int grow_table(const dw_wheel *wheel, struct wheel_chunks *chunks)
{
	uint32_t capacity = chunks->capacity ? chunks->capacity * 2 : 4;
	void **table = resize(wheel, chunks->table, capacity * sizeof(*table));

	if (!table)
		return DW_ENOMEM;
	chunks->table = table;
	chunks->capacity = capacity;
	return DW_OK;
}

int wheel_chunks_add(const dw_wheel *wheel, struct wheel_chunks *chunks, size_t size_bytes)
{
	void *block;

	if (chunks->count == chunks->capacity && grow_table(wheel, chunks) < 0)
		return DW_ENOMEM;
	block = resize(wheel, NULL, size_bytes);
	if (!block)
		return DW_ENOMEM;
	chunks->table[chunks->count++] = block;
	return DW_OK;
}

void wheel_chunks_drop(const dw_wheel *wheel, struct wheel_chunks *chunks)
{
	assert(chunks->count > 0);
	(void)resize(wheel, chunks->table[--chunks->count], 0); /* NULL: it frees */
}

void wheel_chunks_free(const dw_wheel *wheel, struct wheel_chunks *chunks)
{
	while (chunks->count)
		wheel_chunks_drop(wheel, chunks);
	if (chunks->table)
		(void)resize(wheel, chunks->table, 0); /* NULL: it frees */
	chunks->table = NULL;
	chunks->capacity = 0;
}

static int grow_first(dw_wheel *wheel)
{
	struct wheel_nodes *nodes = &wheel->nodes;
	uint32_t capacity = nodes->capacity * 2;
	void *block = resize(wheel, nodes->chunks.table[0], capacity * sizeof(struct wheel_node));

	if (!block)
		return DW_ENOMEM;
	nodes->chunks.table[0] = block;
	nodes->capacity = capacity;
	return DW_OK;
}

int wheel_nodes_grow(dw_wheel *wheel)
{
	struct wheel_nodes *nodes = &wheel->nodes;
	uint32_t more = nodes->capacity ? WHEEL_CHUNK_NODES : WHEEL_FIRST_NODES;

	if (nodes->capacity >= DW_WHEEL_TIMERS_MAX)
		return DW_ELIMIT;
	if (nodes->capacity && nodes->capacity < WHEEL_CHUNK_NODES)
		return grow_first(wheel);
	if (wheel_chunks_add(wheel, &nodes->chunks, more * sizeof(struct wheel_node)) < 0)
		return DW_ENOMEM;
	nodes->capacity += more;
	return DW_OK;
}

size_t wheel_nodes_bytes(const dw_wheel *wheel)
{
	const struct wheel_nodes *nodes = &wheel->nodes;

	return nodes->capacity * sizeof(struct wheel_node) +
	       nodes->chunks.capacity * sizeof(*nodes->chunks.table);
}
