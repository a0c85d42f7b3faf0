/*
 * slots.h: the lists of the wheel and which of them are occupied. Everything here is on the hot
 * path and short, so it is inline.
 *
 * Invariant: head is WHEEL_NONE exactly when the list is empty, exactly when its bit in occupied[]
 * is clear; rings[r].next is the start of ring r's earliest occupied slot; work_at is at or before
 * the moment at which any ring needs attention.
 */
#ifndef WHEEL_SLOTS_H
#define WHEEL_SLOTS_H

#include "base/bits.h"
#include "wheel/nodes.h"

/* wheel_slots_close_gaps: whoever walks a list does this first. */
void wheel_slots_close_gaps(dw_wheel *wheel);

/* wheel_slots_remove: out of whatever list it is in; the end marks say which. */
void wheel_slots_remove(dw_wheel *wheel, const struct wheel_node *node);

/* wheel_slots_find_next: look for the earliest occupied slot of a ring anew. */
void wheel_slots_find_next(dw_wheel *wheel, unsigned ring);

static inline unsigned wheel_ring_shift(unsigned ring)
{
	return WHEEL_FINE_BITS + WHEEL_STEP_BITS * ring;
}

/*
 * wheel_ring_window: how long before its start a slot is open, that is, may be drained and takes no
 * new timers. All but one slot of the ring below: then what is drained fits there beside the
 * present.
 */
static inline uint64_t wheel_ring_window(unsigned ring)
{
	return ring ? UINT64_C(255) << wheel_ring_shift(ring - 1) : 0;
}

static inline uint64_t wheel_ring_opens(unsigned ring, uint64_t start)
{
	uint64_t window = wheel_ring_window(ring);

	return start > window ? start - window : 0;
}

static inline uint32_t wheel_ring_list(unsigned ring, uint64_t time)
{
	uint32_t slot = (uint32_t)(time >> wheel_ring_shift(ring)) & (WHEEL_RING_SLOTS - 1);

	return WHEEL_FINE_LISTS + ring * WHEEL_RING_SLOTS + slot;
}

static inline unsigned wheel_list_ring(uint32_t list)
{
	return (list - WHEEL_FINE_LISTS) / WHEEL_RING_SLOTS;
}

/* wheel_slots_choose: the list for a new timer; deadline >= current. */
static inline uint32_t wheel_slots_choose(const dw_wheel *wheel, uint64_t deadline)
{
	uint64_t current = wheel->current;
	uint64_t distance = deadline - current;
	unsigned ring, shift;
	uint64_t start;

	if ((deadline ^ current) < WHEEL_FINE_LISTS)
		return (uint32_t)deadline & (WHEEL_FINE_LISTS - 1);
	ring = (bits_highest(distance | WHEEL_FINE_LISTS) - WHEEL_FINE_BITS) / WHEEL_STEP_BITS;
	shift = wheel_ring_shift(ring);
	start = deadline >> shift << shift;
	if (ring && (start <= current || start - current <= wheel_ring_window(ring)))
		ring--;
	return wheel_ring_list(ring, deadline);
}

/* wheel_slots_occupy: the list has got its first timer. */
static inline void wheel_slots_occupy(dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	unsigned ring, shift;
	uint64_t start;

	wheel->occupied[list / 64] |= UINT64_C(1) << list % 64;
	if (list < WHEEL_FINE_LISTS) {
		wheel->fine_words |= 1u << list / 64;
		return;
	}
	ring = wheel_list_ring(list);
	shift = wheel_ring_shift(ring);
	start = deadline >> shift << shift;
	if (start < wheel->rings[ring].next) {
		uint64_t opens = wheel_ring_opens(ring, start);

		wheel->rings[ring].next = start;
		if (opens < wheel->work_at)
			wheel->work_at = opens;
	}
}

/* wheel_slots_vacate: the list has lost its last timer. */
static inline void wheel_slots_vacate(dw_wheel *wheel, uint32_t list)
{
	uint64_t *word = &wheel->occupied[list / 64];
	unsigned ring;

	wheel->lists[list].head = WHEEL_NONE;
	wheel->lists[list].tail = WHEEL_END | list;
	wheel->lists[list].count = 0;
	*word &= ~(UINT64_C(1) << list % 64);
	if (list < WHEEL_FINE_LISTS) {
		if (!*word)
			wheel->fine_words &= ~(1u << list / 64);
		return;
	}
	ring = wheel_list_ring(list);
	if (wheel_ring_list(ring, wheel->rings[ring].next) == list)
		wheel_slots_find_next(wheel, ring);
}

/* wheel_slots_append: behind all others of the list. */
static inline void wheel_slots_append(dw_wheel *wheel, uint32_t list, uint32_t index,
				      struct wheel_node *node)
{
	struct wheel_list *to = &wheel->lists[list];
	uint32_t tail = to->tail;

	to->count++;
	to->tail = index;
	node->next = WHEEL_END | list;
	node->prev = tail;
	if (!(tail & WHEEL_END)) {
		wheel_node_at(wheel, tail)->next = index;
		return;
	}
	to->head = index;
	wheel_slots_occupy(wheel, list, wheel_node_deadline(node));
}

/* wheel_slots_prepend: before all others of the list. */
static inline void wheel_slots_prepend(dw_wheel *wheel, uint32_t list, uint32_t index,
				       struct wheel_node *node)
{
	struct wheel_list *to = &wheel->lists[list];

	to->count++;
	node->prev = WHEEL_END | list;
	if (to->head == WHEEL_NONE) {
		node->next = WHEEL_END | list;
		to->head = to->tail = index;
		wheel_slots_occupy(wheel, list, wheel_node_deadline(node));
		return;
	}
	node->next = to->head;
	wheel_node_at(wheel, to->head)->prev = index;
	to->head = index;
}

/*
 * wheel_slots_can_gap: may wheel_slots_gap() take it out? Not at an end of a list, beside a gap, or
 * when there are enough gaps.
 */
static inline bool wheel_slots_can_gap(const dw_wheel *wheel, uint32_t index,
				       const struct wheel_node *node)
{
	return !((node->next | node->prev) & WHEEL_END) &&
	       !wheel->gap_marks[index % WHEEL_GAP_MARKS] && wheel->gaps_count < WHEEL_GAPS;
}

/*
 * wheel_slots_gap: out of the middle of a list; the node may be used again at once. That writes to
 * both its neighbours, which are seldom in the cache: they are asked for now, and written to later,
 * all gaps together. Until then nothing but their own removal or a walk reads what is not written
 * yet.
 */
static inline void wheel_slots_gap(dw_wheel *wheel, const struct wheel_node *node)
{
	uint32_t next = node->next, prev = node->prev;
	struct wheel_gap *gap = &wheel->gaps[wheel->gaps_count++];

	bits_prefetch(wheel_node_at(wheel, next));
	bits_prefetch(wheel_node_at(wheel, prev));
	wheel->gap_marks[next % WHEEL_GAP_MARKS] = 1;
	wheel->gap_marks[prev % WHEEL_GAP_MARKS] = 1;
	gap->prev = prev;
	gap->next = next;
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

/* wheel_slots_next: where the earliest occupied slot of all rings begins. */
static inline uint64_t wheel_slots_next(const dw_wheel *wheel)
{
	uint64_t next = wheel->rings[0].next;

	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++)
		if (wheel->rings[ring].next < next)
			next = wheel->rings[ring].next;
	return next;
}

#endif
