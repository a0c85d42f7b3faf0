/*
 * slots.h: the lists of the wheel, and which of them are occupied. Short functions on the hot path
 * are inline.
 *
 * Invariant:
 * - A list is empty if and only if its head is WHEEL_NONE, and if and only if its bit in occupied[]
 *   is clear.
 * - rings[r].next is the start of the earliest occupied slot of ring r. rings_next is the earliest
 *   of all rings.
 * - work_at is not after the time at which any ring needs work.
 * - idle_until is not after work_at, nor after the earliest timer that is overdue, in a fine list
 *   or sorted.
 */
#ifndef WHEEL_SLOTS_H
#define WHEEL_SLOTS_H

#include "base/bits.h"
#include "wheel/pool.h"
#include "wheel/rings.h"

/* wheel_slots_extend appends a block to a list. `deadline` is the deadline of the next entry. */
void wheel_slots_extend(dw_wheel *wheel, uint32_t list, uint64_t deadline);

/* wheel_slots_vacate marks a list as empty. Its blocks must have been given back. */
void wheel_slots_vacate(dw_wheel *wheel, uint32_t list);

/* wheel_slots_pop gives back the first block of a list after all its entries were taken out. */
void wheel_slots_pop(dw_wheel *wheel, uint32_t list);

/* wheel_slots_init initialises the lists of a wheel that is all zero. */
void wheel_slots_init(dw_wheel *wheel);

/* wheel_slots_clear empties every list and frees every block. */
void wheel_slots_clear(dw_wheel *wheel);

/* wheel_list_end returns the cell after the last entry of a list. The result is valid if the list
 * is not full. */
static inline uint32_t wheel_list_end(const dw_wheel *wheel, uint32_t list)
{
	return wheel->tails[list] + 1;
}

/* wheel_cell_none returns true if this is the cell of a block's head, which holds no entry. */
static inline bool wheel_cell_none(uint32_t cell)
{
	return cell % WHEEL_BLOCK_CELLS == 0;
}

/* wheel_list_full returns true if the list has no block, or no room in its last block. */
static inline bool wheel_list_full(const dw_wheel *wheel, uint32_t list)
{
	return wheel_cell_none(wheel_list_end(wheel, list));
}

/* wheel_list_put appends an entry to a list that is not full. `cell` is wheel_list_end(). */
static inline void wheel_list_put(dw_wheel *wheel, uint32_t list, uint32_t cell,
				  struct wheel_entry entry)
{
	wheel->tails[list] = cell;
	wheel->pool.cells[cell].entry = entry;
}

/* wheel_slots_append appends an entry to any list. */
static inline void wheel_slots_append(dw_wheel *wheel, uint32_t list, struct wheel_entry entry)
{
	if (wheel_list_full(wheel, list))
		wheel_slots_extend(wheel, list, entry.deadline);
	wheel_list_put(wheel, list, wheel_list_end(wheel, list), entry);
}

/* wheel_list_last returns the last block of an occupied list. */
static inline uint32_t wheel_list_last(const dw_wheel *wheel, uint32_t list)
{
	return wheel->tails[list] >> WHEEL_BLOCK_BITS;
}

/* wheel_block_end returns the cell after the last entry of this block. */
static inline uint32_t wheel_block_end(const dw_wheel *wheel, uint32_t list, uint32_t block)
{
	if (wheel_list_last(wheel, list) == block)
		return wheel->tails[list] % WHEEL_BLOCK_CELLS + 1;
	return wheel_head(wheel, block)->end;
}

/* wheel_slots_fetch prefetches the second block of an occupied list. */
static inline void wheel_slots_fetch(const dw_wheel *wheel, uint32_t list)
{
	uint32_t head = wheel->lists[list].head;

	if (wheel_list_last(wheel, list) != head)
		wheel_block_fetch(wheel, wheel_head(wheel, head)->next);
}

/* wheel_slots_fine returns the earliest time in the fine level. It returns WHEEL_NEVER if the level
 * is empty. A timer may be due at WHEEL_NEVER, the last tick: use fine_words to tell the two cases
 * apart. */
static inline uint64_t wheel_slots_fine(const dw_wheel *wheel)
{
	unsigned word;

	if (!wheel->fine_words)
		return WHEEL_NEVER;
	word = bits_lowest(wheel->fine_words);
	return wheel_bucket(wheel->current) | word * 64u | bits_lowest(wheel->occupied[word]);
}

#endif
