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

void wheel_slots_part_all(dw_wheel *wheel)
{
	while (wheel->leaving_count > 0) {
		uint32_t at = wheel->leaving_at - wheel->leaving_count--;

		wheel_slots_part(wheel, wheel->leaving[at % WHEEL_LEAVING]);
	}
}
