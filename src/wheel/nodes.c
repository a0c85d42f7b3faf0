/*
 * nodes.c: the slow half of the node store: growing and freeing.
 *
 * The nodes are one array, because every link is followed through it. It grows by realloc, which
 * for blocks of this size moves pages and no bytes: 30 us at a million timers. An allocator of the
 * caller's that copies makes a pause of it; dw_wheel_reserve() avoids both.
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

int wheel_nodes_grow_to(dw_wheel *wheel, uint32_t capacity)
{
	struct wheel_nodes *nodes = &wheel->nodes;
	struct wheel_node *array;

	array = resize(wheel, nodes->array, (size_t)capacity * sizeof(*array));
	if (!array)
		return DW_ENOMEM;
	nodes->array = array;
	nodes->capacity = capacity;
	return DW_OK;
}

int wheel_nodes_grow(dw_wheel *wheel)
{
	uint32_t capacity = wheel->nodes.capacity;

	if (capacity >= DW_WHEEL_TIMERS_MAX)
		return DW_ELIMIT;
	if (capacity == 0)
		capacity = WHEEL_FIRST_NODES;
	else if (capacity < WHEEL_NODES_DOUBLED)
		capacity *= 2;
	else
		capacity += capacity / 8;
	if (capacity > DW_WHEEL_TIMERS_MAX)
		capacity = DW_WHEEL_TIMERS_MAX;
	return wheel_nodes_grow_to(wheel, capacity);
}

size_t wheel_nodes_bytes(const dw_wheel *wheel)
{
	return wheel->nodes.capacity * sizeof(struct wheel_node);
}
