/*
 * pool.c: grows the pool.
 *
 * All cells are one array, and so is each table that is addressed by an index, because every access
 * to an entry goes through them. The arrays grow by realloc, which for blocks of this size moves
 * pages and copies no bytes: 30 us at a million timers. If the caller's allocator copies, growing
 * causes a pause. dw_wheel_reserve() avoids both.
 */
#include "wheel/pool.h"

#include "wheel/names.h"

/* blocks_for returns a number of blocks that is enough for `room` entries in any lists, because
 * moving entries down must not fail. The last block of each list may be partly empty. All other
 * blocks but a few are full. */
static uint32_t blocks_for(uint32_t room)
{
	uint32_t lists = room < WHEEL_LISTS ? room : WHEEL_LISTS;

	return room / WHEEL_BLOCK_ENTRIES + lists + WHEEL_SPARE_BLOCKS;
}

int wheel_pool_grow_to(dw_wheel *wheel, uint32_t room)
{
	const dw_wheel_allocator *allocator = &wheel->allocator;
	struct wheel_pool *pool = &wheel->pool;
	uint32_t blocks = blocks_for(room);
	size_t cells = (size_t)blocks << WHEEL_BLOCK_BITS;
	void *memory;

	if (cells > SIZE_MAX / sizeof(*pool->cells))
		return DW_ENOMEM; /* size_t has only 32 bits here */
	if (wheel_names_grow(wheel, room, blocks) < 0)
		return DW_ENOMEM;
	memory = allocator->resize(allocator->user, pool->cells, cells * sizeof(*pool->cells));
	if (!memory)
		return DW_ENOMEM;
	pool->cells = memory;
	pool->blocks = blocks;
	wheel->full_at += room - pool->room;
	pool->room = room;
	return DW_OK;
}

int wheel_pool_grow(dw_wheel *wheel)
{
	uint32_t room = wheel->pool.room;

	if (room >= DW_WHEEL_TIMERS_MAX)
		return DW_ELIMIT;
	if (room == 0)
		room = WHEEL_ROOM_FIRST;
	else if (room < WHEEL_ROOM_DOUBLED)
		room *= 2;
	else
		room += room / WHEEL_ROOM_SHARE;
	if (room > DW_WHEEL_TIMERS_MAX)
		room = DW_WHEEL_TIMERS_MAX;
	return wheel_pool_grow_to(wheel, room);
}

void wheel_pool_free(dw_wheel *wheel)
{
	const dw_wheel_allocator *allocator = &wheel->allocator;

	(void)allocator->resize(allocator->user, wheel->pool.cells, 0); /* freeing returns NULL */
}

size_t wheel_pool_bytes(const dw_wheel *wheel)
{
	const struct wheel_pool *pool = &wheel->pool;

	return ((size_t)pool->blocks << WHEEL_BLOCK_BITS) * sizeof(*pool->cells);
}
