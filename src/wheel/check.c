/*
 * check.c: checks a whole wheel and names the broken rule. The rules are the invariants of wheel.c,
 * slots.h, alive.h and overdue.c. The check changes nothing. It does not assume that the wheel is
 * sound: no walk takes more steps than the wheel has blocks.
 */
#include <durawheel/wheel.h>

#include "wheel/names.h"
#include "wheel/overdue.h"
#include "wheel/slots.h"
#include "wheel/soon.h"

#include <stdbool.h>

enum rule {
	RULE_LINKS = -101,    /* a list's blocks, ends and count agree */
	RULE_OCCUPIED = -102, /* a list's bit is set when it has entries */
	/* The deadlines in a fine list are all the same tick of the current bucket: that of the
	 * list. */
	RULE_FINE = -103,
	RULE_RING =
	    -104, /* each deadline in a slot belongs there, after the current time, in reach */
	/* A ring's `next` is the start of its earliest occupied slot. rings_next is the earliest
	 * `next`. */
	RULE_NEXT = -105,
	RULE_WORK = -106,    /* work_at and idle_until are not after the work they announce */
	RULE_OVERDUE = -107, /* the heap is ordered, and its deadlines are below the current time */
	RULE_COUNT = -108,   /* the counts of entries are right, and each timer has one */
	RULE_NAMES = -109,   /* the invariant of alive.h */
	RULE_BLOCK = -110,   /* each block is in a list or in the free list */
	RULE_SWEEP = -111,   /* the sweep is at a block of its list, with prev in the same list */
	RULE_SOON = -112,    /* the sorted array is in order, not below the current time */
};

/* struct found: counts of what the walk has met so far. */
struct found {
	size_t entries;
	struct wheel_lives lives;
	size_t blocks;
	bool sweep_block;
	bool sweep_prev;
};

static int check_ring_place(const dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	unsigned ring = wheel_list_ring(list), shift = wheel_ring_shift(ring);
	uint64_t start = deadline >> shift << shift;
	uint64_t opens = wheel_ring_opens(ring, start);
	bool loaded = wheel->loading && ring == 0 && start == wheel_bucket(wheel->current);

	if (wheel_ring_list(ring, deadline) != list || (start <= wheel->current && !loaded))
		return RULE_RING;
	if ((start >> shift) - (wheel->current >> shift) >= WHEEL_RING_SLOTS)
		return RULE_RING;
	if (wheel->rings[ring].next > start || wheel->rings_next > start)
		return RULE_NEXT;
	if (wheel->work_at > start)
		return RULE_WORK;
	return start > wheel->rings[ring].next || opens <= wheel->current || wheel->work_at <= opens
		   ? 0
		   : RULE_WORK;
}

/* check_place returns 0 if an entry with this deadline belongs in this list, else the broken
 * rule. */
static int check_place(const dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	if (list >= WHEEL_FINE_LISTS)
		return check_ring_place(wheel, list, deadline);
	if (deadline < wheel->current || (deadline ^ wheel_bucket(wheel->current)) != list)
		return RULE_FINE;
	return 0;
}

/* check_block checks the entries of one block. */
static int check_block(const dw_wheel *wheel, uint32_t list, uint32_t block, struct found *found)
{
	const struct wheel_sweep *sweep = &wheel->sweep;
	uint32_t end = wheel_block_end(wheel, list, block);
	uint32_t at = wheel_head(wheel, block)->first;

	if (at < 1 || at >= end || end > WHEEL_BLOCK_CELLS)
		return RULE_LINKS;
	found->blocks++;
	found->sweep_block |= sweep->list == list && sweep->block == block;
	found->sweep_prev |= sweep->list == list && sweep->prev == block;
	for (; at < end; at++) {
		const struct wheel_entry *entry =
		    &wheel->pool.cells[(block << WHEEL_BLOCK_BITS) + at].entry;
		int error = check_place(wheel, list, entry->deadline);

		if (error < 0)
			return error;
		if (!wheel_names_meet(wheel, entry->name, &found->lives))
			return RULE_NAMES;
		found->entries++;
	}
	return 0;
}

static int check_list(const dw_wheel *wheel, uint32_t list, struct found *found)
{
	const struct wheel_list *at = &wheel->lists[list];
	uint32_t block = at->head;
	size_t before = found->blocks;

	if (block == WHEEL_NONE)
		return wheel->tails[list] == WHEEL_NO_TAIL && at->blocks == 0 ? 0 : RULE_LINKS;
	for (;;) {
		int error;

		if (block >= wheel->pool.fresh_block || found->blocks >= wheel->pool.fresh_block)
			return RULE_LINKS;
		error = check_block(wheel, list, block, found);
		if (error < 0)
			return error;
		if (wheel_list_last(wheel, list) == block)
			return found->blocks - before == at->blocks ? 0 : RULE_LINKS;
		block = wheel_head(wheel, block)->next;
	}
}

static bool is_occupied(const dw_wheel *wheel, uint32_t list)
{
	return wheel->occupied[list / 64] >> list % 64 & 1;
}

static int check_lists(const dw_wheel *wheel, struct found *found)
{
	for (uint32_t list = 0; list < WHEEL_LISTS; list++) {
		int error = check_list(wheel, list, found);

		if (error < 0)
			return error;
		if (is_occupied(wheel, list) != (wheel->lists[list].head != WHEEL_NONE))
			return RULE_OCCUPIED;
	}
	for (uint32_t word = 0; word < WHEEL_FINE_WORDS; word++)
		if ((wheel->fine_words >> word & 1) != (wheel->occupied[word] != 0))
			return RULE_OCCUPIED;
	return 0;
}

/* check_rings checks that each ring's next names an occupied slot, or is WHEEL_NEVER. */
static int check_rings(const dw_wheel *wheel)
{
	for (unsigned ring = 0; ring < WHEEL_RINGS; ring++) {
		uint64_t next = wheel->rings[ring].next;

		if (next != WHEEL_NEVER && !is_occupied(wheel, wheel_ring_list(ring, next)))
			return RULE_NEXT;
	}
	return 0;
}

static int check_blocks(const dw_wheel *wheel, const struct found *found)
{
	const struct wheel_pool *pool = &wheel->pool;
	uint32_t block = pool->free_block;
	size_t listed = 0;

	if (pool->fresh_block > pool->blocks)
		return RULE_BLOCK;
	for (; block != WHEEL_NONE; listed++) {
		if (block >= pool->fresh_block || listed >= pool->fresh_block)
			return RULE_BLOCK;
		block = wheel_head(wheel, block)->next;
	}
	return found->blocks + listed == pool->fresh_block ? 0 : RULE_BLOCK;
}

/* check_idle returns true if idle_until is not after the first timer that is overdue, sorted or in
 * a fine list, and near_until is the last tick of the current bucket. */
static bool check_idle(const dw_wheel *wheel)
{
	uint64_t idle_until = wheel->idle_until;

	if (wheel->overdue.count && idle_until > wheel_overdue_next(wheel))
		return false;
	if (wheel->near_until != wheel_bucket(wheel->current) + (WHEEL_FINE_LISTS - 1))
		return false;
	return idle_until <= wheel->work_at && idle_until <= wheel_soon_next(wheel) &&
	       idle_until <= wheel_slots_fine(wheel);
}

static int check_rest(const dw_wheel *wheel, struct found *found)
{
	const struct wheel_sweep *sweep = &wheel->sweep;

	if (!wheel_overdue_check(wheel, &found->lives))
		return RULE_OVERDUE;
	if (!wheel_soon_check(wheel, &found->lives))
		return RULE_SOON;
	found->entries += wheel->overdue.count + wheel_soon_count(wheel);
	if (!check_idle(wheel))
		return RULE_WORK;
	if (wheel_lives_count(&found->lives) != wheel_count(wheel))
		return RULE_COUNT;
	if (found->entries != wheel_entries(wheel))
		return RULE_COUNT;
	if (!wheel_names_check(wheel, &found->lives))
		return RULE_NAMES;
	if (found->entries > wheel->pool.room)
		return RULE_COUNT;
	if ((sweep->block != WHEEL_NONE && !found->sweep_block) ||
	    (sweep->prev != WHEEL_NONE && !found->sweep_prev))
		return RULE_SWEEP;
	return 0;
}

int dw_wheel_check(const dw_wheel *wheel)
{
	struct found found = {0};
	int error;

	if (!wheel)
		return DW_EINVAL;
	error = check_lists(wheel, &found);
	if (error == 0)
		error = check_rings(wheel);
	if (error == 0)
		error = check_blocks(wheel, &found);
	if (error == 0)
		error = check_rest(wheel, &found);
	return error;
}
