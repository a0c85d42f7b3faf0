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

/*
 * A cancelled timer writes to both its neighbours when it leaves, and they are seldom in the cache.
 * So all are asked for before the first is needed.
 */
void wheel_slots_part(dw_wheel *wheel)
{
	for (uint32_t i = 0; i < wheel->leaving_count; i++) {
		const struct wheel_node *node = wheel_node_at(wheel, wheel->leaving[i]);

		if (!(node->next & WHEEL_END))
			bits_prefetch(wheel_node_at(wheel, node->next));
		if (!(node->prev & WHEEL_END))
			bits_prefetch(wheel_node_at(wheel, node->prev));
	}
	for (uint32_t i = 0; i < wheel->leaving_count; i++) {
		uint32_t index = wheel->leaving[i];
		struct wheel_node *node = wheel_node_at(wheel, index);

		wheel_slots_remove(wheel, node);
		wheel_nodes_free(wheel, node, index);
	}
	wheel->leaving_count = 0;
	wheel_nodes_tidy(wheel);
}
