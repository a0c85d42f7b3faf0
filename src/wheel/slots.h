/*
 * slots.h: the lists of the wheel and which of them are occupied. What is on the hot path and short
 * is inline.
 *
 * Invariant: head is WHEEL_NONE exactly when the list is empty, exactly when its bit in occupied[]
 * is clear; rings[r].next is the start of ring r's earliest occupied slot, rings_next the earliest
 * of all; work_at is at or before the moment at which any ring needs attention, idle_until is not
 * after work_at, nor after the earliest timer that is overdue, in a fine list or sorted.
 */
#ifndef WHEEL_SLOTS_H
#define WHEEL_SLOTS_H

#include "base/bits.h"
#include "wheel/pool.h"
#include "wheel/rings.h"

/* wheel_slots_extend: one more block at the end of a list, whose next entry has this deadline. */
void wheel_slots_extend(dw_wheel *wheel, uint32_t list, uint64_t deadline);

/* wheel_slots_vacate: the list has no entry any more, and its blocks were given back. */
void wheel_slots_vacate(dw_wheel *wheel, uint32_t list);

/* wheel_slots_pop: give back the first block of a list, all of whose entries were taken out. */
void wheel_slots_pop(dw_wheel *wheel, uint32_t list);

/* wheel_slots_init: the lists of a wheel that is all zero. */
void wheel_slots_init(dw_wheel *wheel);

/* wheel_slots_clear: every list is empty, and every block free. */
void wheel_slots_clear(dw_wheel *wheel);

/* wheel_list_end: the cell behind the last entry of a list, if that list is not full. */
static inline uint32_t wheel_list_end(const dw_wheel *wheel, uint32_t list)
{
	return wheel->tails[list] + 1;
}

/* wheel_cell_none: this is no cell for an entry, but where the next block's head would be. */
static inline bool wheel_cell_none(uint32_t cell)
{
	return cell % WHEEL_BLOCK_CELLS == 0;
}

/* wheel_list_full: there is no room for an entry in its last block, or it has no block. */
static inline bool wheel_list_full(const dw_wheel *wheel, uint32_t list)
{
	return wheel_cell_none(wheel_list_end(wheel, list));
}

/* wheel_list_put: behind all others of a list that is not full, in the cell wheel_list_end(). */
static inline void wheel_list_put(dw_wheel *wheel, uint32_t list, uint32_t cell,
				  struct wheel_entry entry)
{
	wheel->tails[list] = cell;
	wheel->pool.cells[cell].entry = entry;
}

/* wheel_slots_append: behind all others of any list. */
static inline void wheel_slots_append(dw_wheel *wheel, uint32_t list, struct wheel_entry entry)
{
	if (wheel_list_full(wheel, list))
		wheel_slots_extend(wheel, list, entry.deadline);
	wheel_list_put(wheel, list, wheel_list_end(wheel, list), entry);
}

/* wheel_list_last: the last block of an occupied list. */
static inline uint32_t wheel_list_last(const dw_wheel *wheel, uint32_t list)
{
	return wheel->tails[list] >> WHEEL_BLOCK_BITS;
}

/* wheel_block_end: behind the last entry of this block of the list. */
static inline uint32_t wheel_block_end(const dw_wheel *wheel, uint32_t list, uint32_t block)
{
	if (wheel_list_last(wheel, list) == block)
		return wheel->tails[list] % WHEEL_BLOCK_CELLS + 1;
	return wheel_head(wheel, block)->end;
}

/* wheel_slots_fetch: ask for the block behind the first one of an occupied list. */
static inline void wheel_slots_fetch(const dw_wheel *wheel, uint32_t list)
{
	uint32_t head = wheel->lists[list].head;

	if (wheel_list_last(wheel, list) != head)
		wheel_block_fetch(wheel, wheel_head(wheel, head)->next);
}

/*
 * wheel_slots_fine: the earliest time in the fine level; WHEEL_NEVER when it is empty. That is also
 * the last tick of all, so whoever must tell them apart looks at fine_words.
 */
static inline uint64_t wheel_slots_fine(const dw_wheel *wheel)
{
	unsigned word;

	if (!wheel->fine_words)
		return WHEEL_NEVER;
	word = bits_lowest(wheel->fine_words);
	return wheel_bucket(wheel->current) | word * 64u | bits_lowest(wheel->occupied[word]);
}

#endif
