/* names.c: the slow half of names.h. */
#include "wheel/names.h"

static void *resize(const dw_wheel *wheel, void *block, size_t size_bytes)
{
	return wheel->allocator.resize(wheel->allocator.user, block, size_bytes);
}

/* indexes_for: until it is seen that there is no room for more, 64 generations may be given. */
static size_t indexes_for(uint32_t room)
{
	return (size_t)room + 64;
}

/* chunks_for: so many indexes. */
static size_t chunks_for(uint32_t room)
{
	return indexes_for(room) / 64 + 1;
}

/* ring_for: how many generations the ring should know, so that the sweep need not hurry. */
static uint32_t ring_for(uint32_t room, uint32_t blocks)
{
	uint64_t wanted = (uint64_t)room * WHEEL_GENERATIONS_EACH, ring = 64;

	if (wanted < (uint64_t)blocks * WHEEL_GENERATIONS_BLOCK)
		wanted = (uint64_t)blocks * WHEEL_GENERATIONS_BLOCK;
	while (ring < wanted && ring < WHEEL_GENERATIONS_MAX)
		ring *= 2;
	return (uint32_t)ring;
}

/*
 * grow_ring: what it knows is copied, from the next generation's word back, which may be open; the
 * rest is cleared when its turn comes, so that a large ring costs no pause.
 */
static int grow_ring(dw_wheel *wheel, uint32_t ring)
{
	struct wheel_names *names = &wheel->names;
	uint32_t word = (wheel->sequence + 1) / 64, mask = ring / 64 - 1;
	uint64_t *gone, *before = names->gone;

	if (ring <= names->ring)
		return DW_OK;
	gone = resize(wheel, NULL, ring / 8);
	if (!gone)
		return DW_ENOMEM;
	gone[wheel->sequence / 64 & mask] = UINT64_MAX; /* those before the first */
	for (uint32_t known = 0; before && known <= names->span / 64 + 1; known++, word--)
		gone[word & mask] = before[word & names->ring_mask];
	if (before)
		(void)resize(wheel, before, 0); /* NULL: it frees */
	names->gone = gone;
	names->ring = ring;
	names->ring_mask = mask;
	names->old = ring / 2;
	return DW_OK;
}

static int resize_elders(dw_wheel *wheel, uint32_t room)
{
	struct wheel_names *names = &wheel->names;
	void *memory = resize(wheel, names->elders, indexes_for(room) * sizeof(*names->elders));

	if (!memory)
		return DW_ENOMEM;
	names->elders = memory;
	return DW_OK;
}

int wheel_names_reserve_elders(dw_wheel *wheel)
{
	return wheel->names.elders ? DW_OK : resize_elders(wheel, wheel->pool.room);
}

int wheel_names_grow(dw_wheel *wheel, uint32_t room, uint32_t blocks)
{
	struct wheel_names *names = &wheel->names;
	size_t chunks = chunks_for(room);
	void *memory;

	if (names->elders && resize_elders(wheel, room) < 0)
		return DW_ENOMEM;
	memory = resize(wheel, names->chunks, chunks * sizeof(*names->chunks));
	if (!memory)
		return DW_ENOMEM;
	names->chunks = memory;
	memory = resize(wheel, names->open, chunks * sizeof(*names->open));
	if (!memory)
		return DW_ENOMEM;
	names->open = memory;
	return grow_ring(wheel, ring_for(room, blocks));
}

uint64_t wheel_find(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle), generation = wheel_generation(handle);
	const struct wheel_chunk *chunk;

	if (index >= wheel->names.fresh)
		return 0;
	chunk = wheel_chunk(wheel, index);
	if (chunk->elders & wheel_chunk_bit(index))
		return wheel_is_elder(wheel, handle) ? handle | WHEEL_ELDER : 0;
	if (chunk->free & wheel_chunk_bit(index))
		return 0;
	if (wheel->sequence - generation >= wheel->names.span)
		return 0;
	return wheel_is_young(wheel, generation) ? handle : 0;
}

BITS_NOINLINE uint64_t wheel_names_age(dw_wheel *wheel, uint64_t name)
{
	if (!wheel_live(wheel, name))
		return 0;
	if (name & WHEEL_ELDER || wheel->sequence - wheel_generation(name) < wheel->names.old)
		return name;
	return wheel_make_elder(wheel, name);
}

/* open_word: the bits of the next 64 generations take the place of the oldest ones. */
static void open_word(dw_wheel *wheel, uint64_t gone)
{
	struct wheel_names *names = &wheel->names;

	*wheel_gone(wheel, wheel->sequence + 1) = gone;
	if (names->span < names->ring - 64)
		names->span += 64;
	names->span_quick = names->again ? 0 : names->span;
}

/* No handle is 0, so that the 64 generations from 0 on are left out. */
int wheel_names_open(dw_wheel *wheel)
{
	if (wheel->names.span + 64 >= wheel->names.old && wheel_names_reserve_elders(wheel) < 0)
		return DW_ENOMEM;
	if (wheel->sequence == UINT32_MAX) {
		open_word(wheel, UINT64_MAX);
		wheel->sequence += 64;
		wheel->full_at += 64;
		wheel->names.again = true;
	}
	open_word(wheel, 0);
	return DW_OK;
}

void wheel_names_stop(dw_wheel *wheel)
{
	uint32_t room = wheel->full_at - wheel->sequence, open = 64 - (wheel->sequence + 1) % 64;

	wheel->stop_at = wheel->sequence + (open < room ? open : room);
}

void wheel_names_clear(dw_wheel *wheel)
{
	wheel->names.fresh = 0;
	wheel->names.free = 0;
	wheel->names.opens = 0;
}

void wheel_names_free(dw_wheel *wheel)
{
	struct wheel_names *names = &wheel->names;
	void *const blocks[] = {names->gone, names->chunks, names->open, names->elders};

	for (unsigned i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (blocks[i])
			(void)resize(wheel, blocks[i], 0); /* NULL: it frees */
}

size_t wheel_names_bytes(const dw_wheel *wheel)
{
	const struct wheel_names *names = &wheel->names;
	uint32_t room = wheel->pool.room;
	size_t chunks = room ? chunks_for(room) : 0;
	size_t elders = names->elders ? indexes_for(room) * sizeof(*names->elders) : 0;

	return names->ring / 8 + elders + chunks * (sizeof(*names->chunks) + sizeof(*names->open));
}

bool wheel_names_meet(const dw_wheel *wheel, uint64_t name, struct wheel_lives *lives)
{
	uint32_t index = wheel_index(name);
	bool elder = name & WHEEL_ELDER;

	if (index >= wheel->pool.room)
		return false;
	if (!elder && wheel->sequence - wheel_generation(name) >= wheel->names.span)
		return false;
	if (!wheel_live(wheel, name))
		return true;
	lives->elders += elder;
	lives->young += !elder;
	return wheel_find(wheel, name & ~WHEEL_ELDER) == name;
}

/* count_young: what is not gone in what the ring knows. */
static size_t count_young(const dw_wheel *wheel)
{
	uint32_t last = wheel->sequence, age = 0;
	size_t count = 0;

	for (; age < wheel->names.span; age += last % 64 + 1, last -= last % 64 + 1) {
		uint64_t given = UINT64_MAX >> (63 - last % 64);

		count += bits_count(~*wheel_gone(wheel, last) & given);
	}
	return count;
}

/* check_chunks: so many elders; and the stack has what it should. */
static bool check_chunks(const dw_wheel *wheel, size_t elders)
{
	const struct wheel_names *names = &wheel->names;
	size_t free = 0, open = 0;

	for (uint32_t at = 0; at < (names->fresh + 63) / 64; at++) {
		const struct wheel_chunk *chunk = &names->chunks[at];

		if (chunk->free & chunk->elders)
			return false;
		elders -= bits_count(chunk->elders);
		free += bits_count(chunk->free);
		open += chunk->free != 0;
	}
	for (uint32_t i = 0; i < names->opens; i++)
		if (names->open[i] > names->fresh / 64 || !names->chunks[names->open[i]].free)
			return false;
	return elders == 0 && free == names->free && open == names->opens;
}

bool wheel_names_check(const dw_wheel *wheel, const struct wheel_lives *lives)
{
	return wheel->names.fresh <= wheel->pool.room && count_young(wheel) == lives->young &&
	       check_chunks(wheel, lives->elders);
}
