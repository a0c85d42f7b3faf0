/* slots.c: the functions of slots.h that are not on the hot path. */
#include "wheel/slots.h"

#include "wheel/sweep.h"

static uint64_t slot_start(unsigned ring, uint64_t deadline)
{
	unsigned shift = wheel_ring_shift(ring);

	return deadline >> shift << shift;
}

/* note_work is called when a slot was empty, or when the number of its blocks has doubled since its
 * work time was computed. */
static void note_work(dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	unsigned ring = wheel_list_ring(list);
	uint64_t start = slot_start(ring, deadline);
	uint64_t opens = wheel_ring_opens(ring, start);

	if (start < wheel->rings[ring].next)
		wheel->rings[ring].next = start;
	if (start < wheel->rings_next)
		wheel->rings_next = start;
	if (opens < wheel->work_at)
		wheel->work_at = opens;
	if (opens < wheel->idle_until)
		wheel->idle_until = opens;
}

void wheel_slots_extend(dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	struct wheel_list *at = &wheel->lists[list];
	uint32_t block = wheel_pool_take_block(wheel);
	uint32_t last = wheel_list_last(wheel, list);

	wheel_head(wheel, block)->first = 1;
	if (at->head == WHEEL_NONE) {
		at->head = block;
		wheel->occupied[list / 64] |= UINT64_C(1) << list % 64;
		if (list < WHEEL_FINE_LISTS)
			wheel->fine_words |= 1u << list / 64;
	} else {
		wheel_head(wheel, last)->next = block;
		wheel_head(wheel, last)->end = WHEEL_BLOCK_CELLS;
	}
	wheel->tails[list] = block << WHEEL_BLOCK_BITS;
	at->blocks++;
	if (list >= WHEEL_FINE_LISTS && !(at->blocks & (at->blocks - 1)))
		note_work(wheel, list, deadline);
}

/*
 * find_next returns the start of the ring's earliest occupied slot. The bitmap is as long as the
 * ring, and no entry of the ring lies before the current time. The search therefore begins at the
 * current slot and goes around the end of the bitmap: the first set bit is the earliest slot.
 */
static uint64_t find_next(const dw_wheel *wheel, unsigned ring)
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

			return (present + ahead) << shift;
		}
	}
	return WHEEL_NEVER;
}

/* forget resets the list's own fields. The caller changes the bitmap and the rings. */
static void forget(dw_wheel *wheel, uint32_t list)
{
	wheel->lists[list] = (struct wheel_list){WHEEL_NONE, 0};
	wheel->tails[list] = WHEEL_NO_TAIL;
}

/* find_earliest returns the earliest occupied slot of all rings. */
static uint64_t find_earliest(const dw_wheel *wheel)
{
	uint64_t next = wheel->rings[0].next;

	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++)
		if (wheel->rings[ring].next < next)
			next = wheel->rings[ring].next;
	return next;
}

void wheel_slots_vacate(dw_wheel *wheel, uint32_t list)
{
	uint64_t *word = &wheel->occupied[list / 64];
	unsigned ring;

	forget(wheel, list);
	*word &= ~(UINT64_C(1) << list % 64);
	if (list < WHEEL_FINE_LISTS) {
		if (!*word)
			wheel->fine_words &= ~(1u << list / 64);
		return;
	}
	ring = wheel_list_ring(list);
	if (wheel_ring_list(ring, wheel->rings[ring].next) != list)
		return;
	wheel->rings[ring].next = find_next(wheel, ring);
	wheel->rings_next = find_earliest(wheel);
}

void wheel_slots_pop(dw_wheel *wheel, uint32_t list)
{
	struct wheel_list *at = &wheel->lists[list];
	struct wheel_sweep *sweep = &wheel->sweep;
	bool last = wheel_list_last(wheel, list) == at->head;
	uint32_t block = at->head;
	uint32_t next = last ? WHEEL_NONE : wheel_head(wheel, block)->next;

	if (sweep->prev == block)
		sweep->prev = WHEEL_NONE;
	if (sweep->block == block)
		sweep->block = next;
	wheel_pool_give_block(wheel, block);
	at->head = next;
	at->blocks--;
	if (last)
		wheel_slots_vacate(wheel, list);
}

void wheel_slots_init(dw_wheel *wheel)
{
	for (uint32_t list = 0; list < WHEEL_LISTS; list++)
		forget(wheel, list);
	wheel_slots_clear(wheel);
}

void wheel_slots_clear(dw_wheel *wheel)
{
	for (uint32_t word = 0; word < WHEEL_WORDS; word++)
		for (; wheel->occupied[word]; wheel->occupied[word] &= wheel->occupied[word] - 1)
			forget(wheel, word * 64 + bits_lowest(wheel->occupied[word]));
	for (unsigned ring = 0; ring < WHEEL_RINGS; ring++)
		wheel->rings[ring].next = WHEEL_NEVER;
	wheel->fine_words = 0;
	wheel->rings_next = WHEEL_NEVER;
	wheel->work_at = WHEEL_NEVER;
	wheel->idle_until = WHEEL_NEVER;
	wheel_sweep_start(wheel);
	wheel->loading = 0;
	wheel->soon.first = wheel->soon.end = 0;
	wheel->pool.fresh_block = 0;
	wheel->pool.free_block = WHEEL_NONE;
}
