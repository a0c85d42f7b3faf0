/*
 * sweep.c: a cancelled timer leaves a dead entry in its list. Whoever drains the list or fires from
 * it passes over that; but of many cancels far ahead the lists would grow without end. So adding
 * sweeps: a cursor goes around all lists and the heap, block by block, and closes ranks.
 *
 * When a list needs a new block and there are as many dead entries as live ones and a few hundred,
 * or the last time around was long ago, a few blocks are swept. With random cancels that is about
 * one entry looked at for each timer added, in the order of memory, and only their words are at
 * random places. Sweeping sooner would take more time, half as many dead ones a fifth of all that a
 * cancel and an add take; sweeping later gains nothing, the lists are then so long that they fall
 * out of the cache. Where nothing is added, nothing is swept: memory does not grow.
 */
#include "wheel/sweep.h"

#include "wheel/overdue.h"
#include "wheel/slots.h"
#include "wheel/soon.h"

/* next_list: the first occupied list from this one on; WHEEL_LISTS: none. */
static uint32_t next_list(const dw_wheel *wheel, uint32_t from)
{
	uint64_t mask = UINT64_MAX << from % 64;

	for (uint32_t word = from / 64; word < WHEEL_WORDS; word++, mask = UINT64_MAX)
		if (wheel->occupied[word] & mask)
			return word * 64 + bits_lowest(wheel->occupied[word] & mask);
	return WHEEL_LISTS;
}

/*
 * gather: the live ones of `count` entries move to the cells from `to` on; returns behind the last
 * one. Which ones are live cannot be predicted, so there is no branch.
 */
static uint32_t gather(const dw_wheel *wheel, uint32_t to, uint32_t from, uint32_t count)
{
	const uint32_t *words = wheel->pool.words;
	const union wheel_cell *source = wheel->pool.cells + from;
	union wheel_cell *const first = wheel->pool.cells + to, *target = first;

	for (const union wheel_cell *end = source + count; source < end; source++) {
		uint64_t deadline = source->entry.deadline;
		dw_wheel_handle handle = source->entry.handle;

		target->entry.deadline = deadline;
		target->entry.handle = handle;
		target += words[dw_wheel_index(handle)] == wheel_generation(handle);
	}
	return to + (uint32_t)(target - first);
}

/* fill: as many of the live ones of *count entries as there is room for go behind those of block;
 * *from and *count are what was not looked at. Returns how many went.
 */
static uint32_t fill(dw_wheel *wheel, uint32_t block, uint32_t *from, uint32_t *count)
{
	struct wheel_head *head = wheel_head(wheel, block);
	uint32_t before = head->end;

	while (*count && head->end < WHEEL_BLOCK_CELLS) {
		uint32_t room = WHEEL_BLOCK_CELLS - head->end;
		uint32_t some = room < *count ? room : *count;
		uint32_t to = (block << WHEEL_BLOCK_BITS) + head->end;

		head->end += gather(wheel, to, *from, some) - to;
		*from += some;
		*count -= some;
	}
	return head->end - before;
}

/* take_out: an empty block, behind prev or the first one, leaves its list. */
static void take_out(dw_wheel *wheel, uint32_t list, uint32_t prev, bool last)
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

/* sweep_block: its live entries fill the block before it, and what is left closes ranks. */
static void sweep_block(dw_wheel *wheel)
{
	struct wheel_sweep *sweep = &wheel->sweep;
	uint32_t block = sweep->block, prev = sweep->prev;
	uint32_t first = (block << WHEEL_BLOCK_BITS) + 1;
	struct wheel_head *head = wheel_head(wheel, block);
	bool last = wheel_list_last(wheel, sweep->list) == block;
	uint32_t next = last ? WHEEL_NONE : head->next;
	uint32_t from = first - 1 + head->first;
	uint32_t count = wheel_block_end(wheel, sweep->list, block) - head->first;
	uint32_t before, live = 0, to;

	/* The next block was asked for by the last step. */
	if (!last && next != wheel_list_last(wheel, sweep->list))
		wheel_block_fetch(wheel, wheel_head(wheel, next)->next);
	before = count;
	if (prev != WHEEL_NONE)
		live = fill(wheel, prev, &from, &count);
	to = gather(wheel, first, from, count);
	wheel_entries_gone(wheel, before - live - (to - first));
	if (to == first) {
		take_out(wheel, sweep->list, prev, last);
	} else {
		head->first = 1;
		head->end = to - first + 1;
		if (last)
			wheel->tails[sweep->list] = to - 1;
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
		wheel_soon_sweep(wheel);
		*sweep = WHEEL_SWEEP_START;
		wheel->swept = wheel->sequence;
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
	uint32_t entries = wheel_entries(wheel);

	pool->free_index = WHEEL_NO_INDEX;
	pool->fresh_index = 0;
	pool->free_indexes = 0;
	/* Looking for the occupied lists is worth it when so many entries paid for it. */
	if (entries && entries < WHEEL_WORDS)
		return;
	if (entries) {
		wheel_slots_clear(wheel);
		wheel_overdue_clear(wheel);
		wheel_entries_gone(wheel, entries);
	}
	pool->fresh_block = 0;
	pool->free_block = WHEEL_NONE;
}
