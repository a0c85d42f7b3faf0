/* slots.c: the slow half of slots.h. */
#include "wheel/slots.h"

/*
 * A ring is as long as its bitmap, and nothing in it lies before the present; so the first set bit
 * from the present's own slot on, around the end of the bitmap, is the earliest.
 */
void wheel_slots_find_next(dw_wheel *wheel, unsigned ring)
{
	const uint64_t *words = wheel->occupied + WHEEL_FINE_WORDS + ring * WHEEL_RING_WORDS;
	unsigned shift = wheel_ring_shift(ring);
	uint64_t present = wheel->current >> shift;
	unsigned from = (unsigned)(present & (WHEEL_RING_SLOTS - 1));
	uint64_t mask = UINT64_MAX << from % 64;

	for (unsigned step = 0; step <= WHEEL_RING_WORDS; step++) {
		unsigned at = (from / 64 + step) % WHEEL_RING_WORDS;
		uint64_t word = words[at] & mask;

		mask = UINT64_MAX;
		if (word) {
			unsigned slot = at * 64 + bits_lowest(word);
			uint64_t ahead = (slot - from) & (WHEEL_RING_SLOTS - 1);

			wheel->rings[ring].next = (present + ahead) << shift;
			return;
		}
	}
	wheel->rings[ring].next = WHEEL_NEVER;
}

void wheel_slots_close_gaps(dw_wheel *wheel)
{
	for (uint32_t i = 0; i < wheel->gaps_count; i++) {
		struct wheel_gap gap = wheel->gaps[i];

		wheel_node_at(wheel, gap.prev)->next = gap.next;
		wheel_node_at(wheel, gap.next)->prev = gap.prev;
		wheel->gap_marks[gap.prev % WHEEL_GAP_MARKS] = 0;
		wheel->gap_marks[gap.next % WHEEL_GAP_MARKS] = 0;
	}
	wheel->gaps_count = 0;
}

void wheel_slots_remove(dw_wheel *wheel, const struct wheel_node *node)
{
	uint32_t next, prev;

	wheel_slots_close_gaps(wheel);
	next = node->next;
	prev = node->prev;
	if (next & prev & WHEEL_END) {
		wheel_slots_vacate(wheel, prev & ~WHEEL_END);
		return;
	}
	if (prev & WHEEL_END)
		wheel->lists[prev & ~WHEEL_END].head = next;
	else
		wheel_node_at(wheel, prev)->next = next;
	if (next & WHEEL_END)
		wheel->lists[next & ~WHEEL_END].tail = prev;
	else
		wheel_node_at(wheel, next)->prev = prev;
}
