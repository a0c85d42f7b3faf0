/*
 * sweep.c: a cursor goes around all lists and the heap, block by block, while timers are added.
 *
 * The sweep closes gaps. A cancelled timer leaves a dead entry in its list. Draining and firing
 * skip dead entries, but after many cancels far ahead the lists would grow without end. When there
 * are more dead entries than live ones and a few hundred, a few blocks are swept. With random
 * cancels that is about one entry for each timer added, read in the order of memory. Sweeping
 * sooner would take more time. Sweeping later gains nothing, because the lists would then no longer
 * fit in the cache. If nothing is added, nothing is swept, and memory does not grow.
 *
 * The sweep also makes old timers elders (alive.h) before the ring forgets them. Therefore it goes
 * around often enough even if no timer is cancelled. It goes from the highest list to the lowest,
 * in the same direction as draining: so it meets every entry that is in the wheel when the round
 * starts, even if the entry moves down meanwhile.
 */
#include "wheel/sweep.h"

#include "wheel/lens.h"
#include "wheel/overdue.h"
#include "wheel/slots.h"
#include "wheel/soon.h"

/* list_below returns the last occupied list before this one, or WHEEL_NONE. */
static uint32_t list_below(const dw_wheel *wheel, uint32_t list)
{
	for (uint32_t word = (list + 63) / 64; word-- > 0;) {
		uint64_t bits = wheel->occupied[word];

		if (word == list / 64)
			bits &= (UINT64_C(1) << list % 64) - 1;
		if (bits)
			return word * 64 + bits_highest(bits);
	}
	return WHEEL_NONE;
}

/* struct gap: the cells that take live entries: first from `to` up to `full`, then from `rest`
 * on. */
struct gap {
	union wheel_cell *to;
	const union wheel_cell *full;
	union wheel_cell *rest;
};

/*
 * gather moves the live entries from `source` to `end` into the gap, which lies before them.
 * Returns the new start of the gap.
 */
static union wheel_cell *gather(dw_wheel *wheel, const union wheel_cell *source,
				const union wheel_cell *end, struct gap gap)
{
	const struct wheel_lens lens = wheel_lens(wheel);
	union wheel_cell *to = gap.to;

	for (; source < end; source++) {
		uint64_t deadline = source->entry.deadline, name = source->entry.name;
		bool live = wheel_lens_keeps(wheel, lens, &name);

		to->entry.deadline = deadline;
		to->entry.name = name;
		to += live;
		if (to == gap.full)
			to = gap.rest;
	}
	return to;
}

/*
 * take_out removes an empty block from its list. `prev` is the block before it, or WHEEL_NONE if it
 * is the first.
 */
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

/* close_ranks moves the live entries of a block, the cells from `first` up to `end`. They fill the
 * block before it, if the list has one; the rest goes to the beginning of this block. Returns the
 * cell after the last entry of this block. */
static uint32_t close_ranks(dw_wheel *wheel, uint32_t prev, uint32_t block, uint32_t first,
			    uint32_t end)
{
	union wheel_cell *cells = &wheel->pool.cells[(size_t)block << WHEEL_BLOCK_BITS];
	struct gap gap = {cells + 1, NULL, cells + 1};
	union wheel_cell *before, *to;

	if (prev == WHEEL_NONE || wheel_head(wheel, prev)->end == WHEEL_BLOCK_CELLS)
		return (uint32_t)(gather(wheel, cells + first, cells + end, gap) - cells);
	before = &wheel->pool.cells[(size_t)prev << WHEEL_BLOCK_BITS];
	gap.to = before + before->head.end;
	gap.full = before + WHEEL_BLOCK_CELLS;
	to = gather(wheel, cells + first, cells + end, gap);
	if (to >= cells && to < cells + WHEEL_BLOCK_CELLS) {
		before->head.end = WHEEL_BLOCK_CELLS;
		return (uint32_t)(to - cells);
	}
	before->head.end = (uint32_t)(to - before);
	return 1;
}

/* sweep_block sweeps one block. The last step has already prefetched it. */
static void sweep_block(dw_wheel *wheel)
{
	struct wheel_sweep *sweep = &wheel->sweep;
	uint32_t block = sweep->block, prev = sweep->prev;
	struct wheel_head *head = wheel_head(wheel, block);
	bool last = wheel_list_last(wheel, sweep->list) == block;
	uint32_t next = last ? WHEEL_NONE : head->next;
	uint32_t end = wheel_block_end(wheel, sweep->list, block);
	uint32_t gone = end - head->first, before = 0;

	if (!last && next != wheel_list_last(wheel, sweep->list))
		wheel_block_fetch(wheel, wheel_head(wheel, next)->next);
	if (prev != WHEEL_NONE)
		before = wheel_head(wheel, prev)->end;
	end = close_ranks(wheel, prev, block, head->first, end);
	gone -= end - 1;
	if (prev != WHEEL_NONE)
		gone -= wheel_head(wheel, prev)->end - before;
	wheel_entries_gone(wheel, gone);
	if (end == 1) {
		take_out(wheel, sweep->list, prev, last);
	} else {
		head->first = 1;
		head->end = end;
		if (last)
			wheel->tails[sweep->list] = (block << WHEEL_BLOCK_BITS) + end - 1;
		sweep->prev = block;
	}
	sweep->block = next;
}

/* next_block makes sure that the sweep is at a block. Returns false if all lists were swept. */
static bool next_block(dw_wheel *wheel)
{
	struct wheel_sweep *sweep = &wheel->sweep;

	if (sweep->block != WHEEL_NONE)
		return true;
	if (sweep->list == WHEEL_LISTS)
		sweep->began = wheel_next_generation(wheel);
	if (sweep->list != WHEEL_NONE)
		sweep->list = list_below(wheel, sweep->list);
	sweep->prev = WHEEL_NONE;
	if (sweep->list == WHEEL_NONE)
		return false;
	sweep->block = wheel->lists[sweep->list].head;
	return true;
}

/* step sweeps one block, or as many entries of the heap as a block has. Returns false if the round
 * is finished. */
static bool step(dw_wheel *wheel)
{
	if (next_block(wheel)) {
		sweep_block(wheel);
		return true;
	}
	if (wheel_overdue_sweep(wheel, WHEEL_BLOCK_ENTRIES))
		return true;
	wheel_soon_sweep(wheel);
	wheel->swept = wheel->sweep.began;
	wheel_sweep_start(wheel);
	return false;
}

void wheel_sweep_some(dw_wheel *wheel, unsigned blocks)
{
	while (blocks--)
		(void)step(wheel); /* a new round may begin here */
}

/* wheel_sweep_all finishes this round of the sweep, and then does a whole round. */
void wheel_sweep_all(dw_wheel *wheel)
{
	while (step(wheel))
		continue;
	while (step(wheel))
		continue;
}

BITS_COLD void wheel_sweep_old(dw_wheel *wheel)
{
	uint32_t since = wheel_next_generation(wheel) - wheel->swept;
	uint32_t ring = wheel_names_known(wheel);

	if (since >= ring / 8 * 3)
		wheel_sweep_all(wheel);
	else if (since >= ring / 4)
		wheel_sweep_some(wheel, WHEEL_SWEEP_OLD_BLOCKS);
}

void wheel_sweep_tidy(dw_wheel *wheel)
{
	struct wheel_pool *pool = &wheel->pool;
	uint32_t entries = wheel_entries(wheel);

	wheel_names_clear(wheel);
	/* Clearing the lists takes time, and is worth it only if there were many entries. */
	if (entries && entries < WHEEL_WORDS)
		return;
	if (entries) {
		wheel_slots_clear(wheel);
		wheel_overdue_clear(wheel);
		wheel_entries_gone(wheel, entries);
	}
	pool->fresh_block = 0;
	pool->free_block = WHEEL_NONE;
	wheel->swept = wheel_next_generation(wheel);
	wheel_sweep_start(wheel); /* a round begun earlier would end with an old `swept` */
}
