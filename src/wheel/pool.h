/*
 * pool.h: the memory of blocks. Only growing can fail: room for an entry includes an index, and a
 * block in every list to which the entry may move on its way down the levels.
 */
#ifndef WHEEL_POOL_H
#define WHEEL_POOL_H

#include "base/bits.h"
#include "wheel/count.h"

/* wheel_pool_grow makes room for more entries, by one step. Returns DW_OK, DW_ENOMEM or
 * DW_ELIMIT. */
int wheel_pool_grow(dw_wheel *wheel);

/* wheel_pool_grow_to makes room for at least `room` entries. Returns DW_OK or DW_ENOMEM. */
int wheel_pool_grow_to(dw_wheel *wheel, uint32_t room);

void wheel_pool_free(dw_wheel *wheel);

size_t wheel_pool_bytes(const dw_wheel *wheel);

static inline struct wheel_head *wheel_head(const dw_wheel *wheel, uint32_t block)
{
	return &wheel->pool.cells[(size_t)block << WHEEL_BLOCK_BITS].head;
}

/* wheel_block_fetch prefetches all cache lines of a block. */
static inline void wheel_block_fetch(const dw_wheel *wheel, uint32_t block)
{
	const union wheel_cell *cells = wheel->pool.cells + ((size_t)block << WHEEL_BLOCK_BITS);

	for (unsigned cell = 0; cell < WHEEL_BLOCK_CELLS; cell += 4)
		bits_prefetch(cells + cell);
}

static inline uint32_t wheel_pool_take_block(dw_wheel *wheel)
{
	struct wheel_pool *pool = &wheel->pool;
	uint32_t block = pool->free_block;

	if (block != WHEEL_NONE) {
		pool->free_block = wheel_head(wheel, block)->next;
		if (pool->free_block != WHEEL_NONE)
			wheel_block_fetch(wheel, pool->free_block);
		return block;
	}
	assert(pool->fresh_block < pool->blocks);
	if (pool->fresh_block + 1 < pool->blocks)
		wheel_block_fetch(wheel, pool->fresh_block + 1);
	return pool->fresh_block++;
}

static inline void wheel_pool_give_block(dw_wheel *wheel, uint32_t block)
{
	wheel_head(wheel, block)->next = wheel->pool.free_block;
	wheel->pool.free_block = block;
}

#endif
