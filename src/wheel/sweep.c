/*
 * sweep.c: a cancelled timer leaves a dead entry in its list. Whoever drains the list or fires from
 * it passes over that; but of many cancels far ahead the lists would grow without end. So adding
 * sweeps: a cursor goes around all lists and the heap, block by block, and closes ranks.
 *
 * When a block needs a new one and a quarter more than the live entries are dead, a few blocks are
 * swept. With random cancels that is about three entries looked at for each timer added, in the
 * order of memory, and only their words are at random places. Where nothing is added, nothing is
 * swept: memory does not grow then.
 */
#include "wheel/sweep.h"

#include "wheel/overdue.h"
#include "wheel/slots.h"

/* next_list: the first occupied list from this one on; WHEEL_LISTS: none. */
static uint32_t next_list(const dw_wheel *wheel, uint32_t from)
{
	uint64_t mask = UINT64_MAX << from % 64;

	for (uint32_t word = from / 64; word < WHEEL_WORDS; word++, mask = UINT64_MAX)
		if (wheel->occupied[word] & mask)
			return word * 64 + bits_lowest(wheel->occupied[word] & mask);
	return WHEEL_LISTS;
}

/* close_ranks: the live entries of a block move to its beginning; returns behind the last one. */
static uint32_t close_ranks(const dw_wheel *wheel, uint32_t block, uint32_t end)
{
	union wheel_cell *cells = wheel->pool.cells + ((size_t)block << WHEEL_BLOCK_BITS);
	uint32_t to = 1;

	for (uint32_t from = cells->head.first; from < end; from++) {
		struct wheel_entry entry = cells[from].entry;

		cells[to].entry = entry;
		to += (uint32_t)wheel_live(wheel, &entry);
	}
	cells->head.first = 1;
	return to;
}

/* fill: entries of a block move to the end of the one before it; returns where the block ends now.
 */
static uint32_t fill(const dw_wheel *wheel, uint32_t prev, uint32_t block, uint32_t end)
{
	union wheel_cell *to = wheel->pool.cells + ((size_t)prev << WHEEL_BLOCK_BITS);
	union wheel_cell *from = wheel->pool.cells + ((size_t)block << WHEEL_BLOCK_BITS);
	uint32_t moved = WHEEL_BLOCK_CELLS - to->head.end;

	if (moved > end - 1)
		moved = end - 1;
	memcpy(to + to->head.end, from + 1, moved * sizeof(*to));
	memmove(from + 1, from + 1 + moved, (end - 1 - moved) * sizeof(*from));
	to->head.end += moved;
	return end - moved;
}

/* unlink: an empty block, behind prev or the first one, leaves its list. */
static void unlink(dw_wheel *wheel, uint32_t list, uint32_t prev, bool last)
{
	uint32_t block = wheel->sweep.block;

	if (prev == WHEEL_NONE) {
		wheel_slots_pop(wheel, list);
		return;
	}
	wheel_head(wheel, prev)->next = wheel_head(wheel, block)->next;
	if (last)
		wheel->tails[list] = (prev << WHEEL_BLOCK_BITS) + wheel_head(wheel, prev)->end - 1;
	wheel->lists[list].blocks--;
	wheel_pool_give_block(wheel, block);
}

static void sweep_block(dw_wheel *wheel)
{
	struct wheel_sweep *sweep = &wheel->sweep;
	uint32_t block = sweep->block, prev = sweep->prev;
	struct wheel_head *head = wheel_head(wheel, block);
	bool last = wheel_list_last(wheel, sweep->list) == block;
	uint32_t next = last ? WHEEL_NONE : head->next;
	uint32_t old_end = wheel_block_end(wheel, sweep->list, block);
	uint32_t dead = old_end - head->first, end;

	if (!last)
		wheel_block_fetch(wheel, next);
	end = close_ranks(wheel, block, old_end);
	dead -= end - 1;
	wheel->entries -= dead;
	if (prev != WHEEL_NONE)
		end = fill(wheel, prev, block, end);
	if (end == 1) {
		unlink(wheel, sweep->list, prev, last);
	} else {
		head->end = end;
		if (last)
			wheel->tails[sweep->list] = (block << WHEEL_BLOCK_BITS) + end - 1;
		sweep->prev = block;
	}
	sweep->block = next;
}

/* step: one block, or as much of the heap. False: the cursor has gone around. */
static bool step(dw_wheel *wheel)
{
	struct wheel_sweep *sweep = &wheel->sweep;

	if (sweep->list == WHEEL_LISTS) {
		if (wheel_overdue_sweep(wheel, WHEEL_BLOCK_ENTRIES))
			return true;
		*sweep = WHEEL_SWEEP_START;
		return false;
	}
	if (sweep->block == WHEEL_NONE) {
		sweep->list = next_list(wheel, sweep->list + 1);
		sweep->prev = WHEEL_NONE;
		if (sweep->list == WHEEL_LISTS)
			return true;
		sweep->block = wheel->lists[sweep->list].head;
	}
	sweep_block(wheel);
	return true;
}

void wheel_sweep_some(dw_wheel *wheel)
{
	for (unsigned i = 0; i < WHEEL_SWEEP_BLOCKS; i++)
		(void)step(wheel); /* going around once more is as good */
}

/* wheel_sweep_all: to the end of this time around, and once around from the beginning. */
void wheel_sweep_all(dw_wheel *wheel)
{
	while (step(wheel))
		continue;
	while (step(wheel))
		continue;
}

void wheel_sweep_tidy(dw_wheel *wheel)
{
	struct wheel_pool *pool = &wheel->pool;

	pool->free_index = WHEEL_NO_INDEX;
	pool->fresh_index = 0;
	/* Looking at every list is worth it when that many entries paid for it. */
	if (wheel->entries && wheel->entries < WHEEL_LISTS)
		return;
	if (wheel->entries) {
		wheel_slots_clear(wheel);
		wheel_overdue_clear(wheel);
		wheel->entries = 0;
	}
	pool->fresh_block = 0;
	pool->free_block = WHEEL_NONE;
}
