/*
 * pool.h: where indexes and blocks come from. Nothing here but growing can fail: room for an entry
 * is an index, and a block wherever the entry may be moved to on its way down the levels.
 */
#ifndef WHEEL_POOL_H
#define WHEEL_POOL_H

#include "base/bits.h"
#include "wheel/layout.h"

#include <stdbool.h>

/* wheel_pool_grow: room for more entries, by one step. DW_ENOMEM, DW_ELIMIT. */
int wheel_pool_grow(dw_wheel *wheel);

/* wheel_pool_grow_to: room for at least so many entries. DW_ENOMEM. */
int wheel_pool_grow_to(dw_wheel *wheel, uint32_t room);

void wheel_pool_free(dw_wheel *wheel);

size_t wheel_pool_bytes(const dw_wheel *wheel);

/*
 * wheel_pool_take: an index, and with it a timer. Generations are given to all indexes in turn, so
 * that one word an index is enough to know them, and the free list goes through the words.
 */
static inline dw_wheel_handle wheel_pool_take(dw_wheel *wheel)
{
	struct wheel_pool *pool = &wheel->pool;
	uint32_t generation = wheel->sequence + 2;
	uint32_t index = pool->free_index;

	wheel->sequence = generation;
	if (index != WHEEL_NO_INDEX) {
		pool->free_index = pool->words[index] / 2;
		pool->free_indexes--;
	} else {
		index = pool->fresh_index++;
	}
	pool->words[index] = generation;
	return wheel_handle(index, generation);
}

/* wheel_pool_renew: the timer keeps its index; its old handle and entry are dead. */
static inline dw_wheel_handle wheel_pool_renew(dw_wheel *wheel, uint32_t index)
{
	uint32_t generation = wheel->sequence + 2;

	wheel->sequence = generation;
	wheel->pool.words[index] = generation;
	return wheel_handle(index, generation);
}

/* wheel_pool_give: the timer is gone; its handle and its entry, if that is still there, are dead.
 */
static inline void wheel_pool_give(dw_wheel *wheel, uint32_t index)
{
	wheel->pool.words[index] = wheel->pool.free_index * 2;
	wheel->pool.free_index = index;
	wheel->pool.free_indexes++;
}

/* wheel_pool_knows: is this the handle of a live timer? */
static inline bool wheel_pool_knows(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle);
	uint32_t generation = wheel_generation(handle);

	return index < wheel->pool.fresh_index && wheel->pool.words[index] == generation &&
	       generation % 2;
}

/* wheel_word_fetch: whether this one is live will be asked soon. */
static inline void wheel_word_fetch(const dw_wheel *wheel, dw_wheel_handle handle)
{
	bits_prefetch(&wheel->pool.words[dw_wheel_index(handle)]);
}

/* wheel_block_fetch: all lines of this block are wanted soon. */
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
