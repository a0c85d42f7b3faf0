/*
 * check.c: looks at a whole wheel and says which rule is broken. The rules are the invariant in
 * wheel.c and those of slots.h, nodes.h and overdue.c. It changes nothing and does not assume that
 * what it reads is sound: no walk is longer than the wheel has timers.
 */
#include <durawheel/wheel.h>

#include "wheel/nodes.h"
#include "wheel/overdue.h"
#include "wheel/slots.h"

#include <stdbool.h>

enum rule {
	RULE_LINKS = -101,    /* a list's links, ends and count agree */
	RULE_OCCUPIED = -102, /* a list's bit is set when it has timers */
	RULE_FINE = -103,     /* a fine list's deadlines are its tick of the current bucket */
	RULE_RING = -104,     /* a slot's deadlines are its own, not before the present, in reach */
	RULE_NEXT = -105,     /* a ring's next is its earliest slot */
	RULE_WORK = -106,     /* work_at is not after the opening or start of a slot */
	RULE_OVERDUE = -107,  /* the heap is a heap of deadlines below the present */
	RULE_COUNT = -108,    /* live timers are counted, the others are in the free list */
	RULE_GAPS = -109,     /* a gap lies between live timers, and both are marked */
};

/* check_place: is this timer's deadline one for this list? */
static int check_place(const dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	unsigned ring, shift;
	uint64_t start;

	if (list < WHEEL_FINE_LISTS) {
		uint64_t distance = deadline ^ wheel_bucket(wheel->current);

		return deadline >= wheel->current && distance == list ? 0 : RULE_FINE;
	}
	ring = wheel_list_ring(list);
	shift = wheel_ring_shift(ring);
	start = deadline >> shift << shift;
	if (wheel_ring_list(ring, deadline) != list || start < wheel->current)
		return RULE_RING;
	if ((start >> shift) - (wheel->current >> shift) >= WHEEL_RING_SLOTS)
		return RULE_RING;
	if (wheel->rings[ring].next > start)
		return RULE_NEXT;
	if (wheel->work_at > start)
		return RULE_WORK;
	return start > wheel->rings[ring].next || wheel_ring_opens(ring, start) <= wheel->current ||
		       wheel->work_at <= wheel_ring_opens(ring, start)
		   ? 0
		   : RULE_WORK;
}

static bool is_live(const struct wheel_node *node)
{
	return node->generation % 2 == 1;
}

/* next_of, prev_of: the node's neighbours, as they are once all gaps are closed. */
static uint32_t next_of(const dw_wheel *wheel, uint32_t index)
{
	for (uint32_t i = 0; i < wheel->gaps_count; i++)
		if (wheel->gaps[i].prev == index)
			return wheel->gaps[i].next;
	return wheel_node_at(wheel, index)->next;
}

static uint32_t prev_of(const dw_wheel *wheel, uint32_t index)
{
	for (uint32_t i = 0; i < wheel->gaps_count; i++)
		if (wheel->gaps[i].next == index)
			return wheel->gaps[i].prev;
	return wheel_node_at(wheel, index)->prev;
}

/* check_gaps: both sides of each are live and marked. */
static int check_gaps(const dw_wheel *wheel)
{
	if (wheel->gaps_count > WHEEL_GAPS)
		return RULE_GAPS;
	for (uint32_t i = 0; i < wheel->gaps_count; i++) {
		const uint32_t sides[2] = {wheel->gaps[i].prev, wheel->gaps[i].next};

		for (unsigned side = 0; side < 2; side++)
			if (sides[side] >= wheel->nodes.fresh ||
			    !is_live(wheel_node_at(wheel, sides[side])) ||
			    !wheel->gap_marks[sides[side] % WHEEL_GAP_MARKS])
				return RULE_GAPS;
	}
	return 0;
}

/* check_list: walk one list; adds its timers to *total. */
static int check_list(const dw_wheel *wheel, uint32_t list, size_t *total)
{
	uint32_t prev = WHEEL_END | list;
	uint32_t index = wheel->lists[list].head;
	uint32_t found = 0;

	for (; !(index & WHEEL_END); found++) {
		const struct wheel_node *node;
		int error;

		if (index >= wheel->nodes.fresh || found >= wheel->count)
			return RULE_LINKS;
		node = wheel_node_at(wheel, index);
		if (prev_of(wheel, index) != prev || !is_live(node))
			return RULE_LINKS;
		error = check_place(wheel, list, wheel_node_deadline(node));
		if (error < 0)
			return error;
		prev = index;
		index = next_of(wheel, index);
	}
	*total += found;
	if (!found)
		return index == WHEEL_NONE && wheel->lists[list].tail == prev ? 0 : RULE_LINKS;
	if (index != (WHEEL_END | list) || wheel->lists[list].tail != prev)
		return RULE_LINKS;
	return list < WHEEL_FINE_LISTS || wheel->lists[list].count >= found ? 0 : RULE_LINKS;
}

static bool is_occupied(const dw_wheel *wheel, uint32_t list)
{
	return wheel->occupied[list / 64] >> list % 64 & 1;
}

static int check_lists(const dw_wheel *wheel, size_t *total)
{
	for (uint32_t list = 0; list < WHEEL_LISTS; list++) {
		int error = check_list(wheel, list, total);

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

/* check_rings: a ring without timers says so, and next names a slot that has some. */
static int check_rings(const dw_wheel *wheel)
{
	for (unsigned ring = 0; ring < WHEEL_RINGS; ring++) {
		uint64_t next = wheel->rings[ring].next;

		if (next != WHEEL_NEVER && !is_occupied(wheel, wheel_ring_list(ring, next)))
			return RULE_NEXT;
	}
	return 0;
}

static int check_nodes(const dw_wheel *wheel, size_t total)
{
	const struct wheel_nodes *nodes = &wheel->nodes;
	uint32_t index = nodes->free_head;

	if (total != wheel->count)
		return RULE_COUNT;
	if (nodes->fresh > nodes->used || nodes->used > nodes->capacity)
		return RULE_COUNT;
	for (; index != WHEEL_NONE; total++) {
		if (index >= nodes->fresh || total >= nodes->fresh)
			return RULE_COUNT;
		if (is_live(wheel_node_at(wheel, index)))
			return RULE_COUNT;
		index = wheel_node_at(wheel, index)->next;
	}
	for (index = nodes->fresh; index < nodes->used; index++)
		if (is_live(wheel_node_at(wheel, index)))
			return RULE_COUNT;
	return total == nodes->fresh ? 0 : RULE_COUNT;
}

int dw_wheel_check(const dw_wheel *wheel)
{
	size_t total;
	int error;

	if (!wheel)
		return DW_EINVAL;
	total = wheel->overdue.count;
	error = check_gaps(wheel);
	if (error == 0)
		error = check_lists(wheel, &total);
	if (error == 0)
		error = check_rings(wheel);
	if (error == 0 && !wheel_overdue_check(wheel))
		error = RULE_OVERDUE;
	if (error == 0)
		error = check_nodes(wheel, total);
	return error;
}
