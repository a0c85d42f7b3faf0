/* names.c: the functions of names.h that are not on the hot path. */
#include "wheel/names.h"

static void *resize(const dw_wheel *wheel, void *block, size_t size_bytes)
{
	return wheel->allocator.resize(wheel->allocator.user, block, size_bytes);
}

/* indexes_for returns how many indexes to prepare for `room` entries. Up to 64 generations may be
 * given before a lack of room is noticed. */
static size_t indexes_for(uint32_t room)
{
	return (size_t)room + 64;
}

/* chunks_for returns how many chunks the indexes for `room` entries need. */
static size_t chunks_for(uint32_t room)
{
	return indexes_for(room) / 64 + 1;
}

/* ring_for returns how many generations the ring should hold, so that the sweep has enough time for
 * a round. */
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
 * grow_ring copies the known words to a larger ring, from the word of the next generation back;
 * that word may be partly used. The other words are cleared when they are opened, so a large ring
 * causes no pause.
 */
static int grow_ring(dw_wheel *wheel, uint32_t ring)
{
	struct wheel_names *names = &wheel->names;
	uint32_t word = wheel_next_generation(wheel) / 64, mask = ring / 64 - 1;
	uint64_t *gone, *before = names->gone;

	if (ring <= names->ring)
		return DW_OK;
	gone = resize(wheel, NULL, ring / 8);
	if (!gone)
		return DW_ENOMEM;
	gone[(wheel_next_generation(wheel) - 1) / 64 & mask] =
	    UINT64_MAX; /* generations before the first one count as gone */
	for (uint32_t known = 0; before && known <= names->span / 64 + 1; known++, word--)
		gone[word & mask] = before[word & names->ring_mask];
	if (before)
		(void)resize(wheel, before, 0); /* freeing returns NULL */
	names->gone = gone;
	names->ring = ring;
	names->ring_mask = mask;
	names->old = ring / 2;
	return DW_OK;
}

static int resize_elders(dw_wheel *wheel, uint32_t room)
{
	struct wheel_names *names = &wheel->names;
	size_t bytes = indexes_for(room) * sizeof(*names->elders);
	void *memory = resize(wheel, names->elders, bytes);

	if (!memory)
		return DW_ENOMEM;
	names->elders = memory;
	names->elders_bytes = bytes;
	return DW_OK;
}

int wheel_names_reserve_old(dw_wheel *wheel)
{
	return wheel->names.elders ? DW_OK : resize_elders(wheel, wheel->pool.room);
}

int wheel_names_grow(dw_wheel *wheel, uint32_t room, uint32_t blocks)
{
	struct wheel_names *names = &wheel->names;
	size_t chunks_bytes = chunks_for(room) * sizeof(*names->chunks);
	size_t open_bytes = chunks_for(room) * sizeof(*names->open);
	void *memory;

	if (names->elders && resize_elders(wheel, room) < 0)
		return DW_ENOMEM;
	memory = resize(wheel, names->chunks, chunks_bytes);
	if (!memory)
		return DW_ENOMEM;
	names->chunks = memory;
	names->chunks_bytes = chunks_bytes;
	memory = resize(wheel, names->open, open_bytes);
	if (!memory)
		return DW_ENOMEM;
	names->open = memory;
	names->open_bytes = open_bytes;
	return grow_ring(wheel, ring_for(room, blocks));
}

uint64_t wheel_find(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle), generation = wheel_generation(handle);
	const struct wheel_chunk *chunk;

	if (index >= wheel_fresh(wheel))
		return 0;
	chunk = wheel_chunk(wheel, index);
	if (chunk->elders & wheel_chunk_bit(index))
		return wheel_is_elder(wheel, handle) ? handle | WHEEL_ELDER : 0;
	if (chunk->free & wheel_chunk_bit(index))
		return 0;
	if (wheel_age(wheel, generation) >= wheel->names.span)
		return 0;
	return wheel_is_young(wheel, generation) ? handle : 0;
}

BITS_NOINLINE uint64_t wheel_names_age(dw_wheel *wheel, uint64_t name)
{
	if (!wheel_live(wheel, name))
		return 0;
	if (wheel_name_lasts(name) || wheel_age(wheel, wheel_generation(name)) < wheel->names.old)
		return name;
	return wheel_name_make_last(wheel, name);
}

/* open_word reuses the oldest word of the ring for the next 64 generations. */
static void open_word(dw_wheel *wheel, uint64_t gone)
{
	struct wheel_names *names = &wheel->names;

	*wheel_gone(wheel, wheel_next_generation(wheel)) = gone;
	if (names->span < names->ring - 64)
		names->span += 64;
	names->span_quick = names->again ? 0 : names->span;
}

/* A handle is never 0, so wheel_names_open leaves the 64 generations from 0 on out. */
int wheel_names_open(dw_wheel *wheel)
{
	if (wheel->names.span + 64 >= wheel->names.old && wheel_names_reserve_old(wheel) < 0)
		return DW_ENOMEM;
	if (wheel_next_generation(wheel) == 0) {
		open_word(wheel, UINT64_MAX);
		wheel->next_name += UINT64_C(64) << 32;
		wheel->full_at += 64;
		wheel->names.again = true;
	}
	open_word(wheel, 0);
	return DW_OK;
}

/* make_chunks_ready clears the chunks of the indexes that the next 64 adds may take. */
static void make_chunks_ready(dw_wheel *wheel)
{
	struct wheel_names *names = &wheel->names;

	for (; names->clean < wheel_fresh(wheel) + 64; names->clean += 64)
		*wheel_chunk(wheel, names->clean) = (struct wheel_chunk){0, 0};
}

/* wheel_names_start sets the names as if the 64 generations from 0 on had been given and all room
 * were taken. */
void wheel_names_start(dw_wheel *wheel)
{
	wheel->full_at = wheel->stop_at = wheel->swept = 64;
	wheel->next_name = wheel->quick_until = UINT64_C(64) << 32;
}

void wheel_names_stop(dw_wheel *wheel)
{
	uint32_t next = wheel_next_generation(wheel);
	uint32_t room = wheel->full_at - next, open = 64 - next % 64;

	wheel->stop_at = next + (open < room ? open : room);
	wheel_names_quick(wheel);
	make_chunks_ready(wheel);
}

void wheel_names_clear(dw_wheel *wheel)
{
	wheel->next_name -= wheel_fresh(wheel);
	wheel->names.free = 0;
	wheel->names.opens = 0;
	wheel->names.clean = 0;
	wheel_names_quick(wheel);
	if (wheel->names.chunks)
		make_chunks_ready(wheel);
}

void wheel_names_free(dw_wheel *wheel)
{
	struct wheel_names *names = &wheel->names;
	void *const blocks[] = {names->gone, names->chunks, names->open, names->elders};

	for (unsigned i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		if (blocks[i])
			(void)resize(wheel, blocks[i], 0); /* freeing returns NULL */
}

size_t wheel_names_bytes(const dw_wheel *wheel)
{
	const struct wheel_names *names = &wheel->names;

	return names->ring / 8 + names->chunks_bytes + names->open_bytes + names->elders_bytes;
}

bool wheel_names_meet(const dw_wheel *wheel, uint64_t name, struct wheel_lives *lives)
{
	uint32_t index = wheel_index(name);
	bool elder = wheel_name_lasts(name);

	if (index >= wheel->pool.room)
		return false;
	if (!elder && wheel_age(wheel, wheel_generation(name)) >= wheel->names.span)
		return false;
	if (!wheel_live(wheel, name))
		return true;
	lives->elders += elder;
	lives->young += !elder;
	return wheel_find(wheel, wheel_handle_of(name)) == name;
}

/* count_young returns how many generations that the ring knows have a clear bit. */
static size_t count_young(const dw_wheel *wheel)
{
	uint32_t last = wheel_next_generation(wheel) - 1, age = 0;
	size_t count = 0;

	for (; age < wheel->names.span; age += last % 64 + 1, last -= last % 64 + 1) {
		uint64_t given = UINT64_MAX >> (63 - last % 64);

		count += bits_count(~*wheel_gone(wheel, last) & given);
	}
	return count;
}

/* check_chunks returns true if there are exactly this many elders, and if the stack holds all
 * chunks with free indexes. */
static bool check_chunks(const dw_wheel *wheel, size_t elders)
{
	const struct wheel_names *names = &wheel->names;
	size_t free = 0, open = 0;

	for (uint32_t at = 0; at < (wheel_fresh(wheel) + 63) / 64; at++) {
		const struct wheel_chunk *chunk = &names->chunks[at];

		if (chunk->free & chunk->elders)
			return false;
		elders -= bits_count(chunk->elders);
		free += bits_count(chunk->free);
		open += chunk->free != 0;
	}
	for (uint32_t i = 0; i < names->opens; i++)
		if (names->open[i] >= (wheel_fresh(wheel) + 63) / 64 ||
		    !names->chunks[names->open[i]].free)
			return false;
	return elders == 0 && free == names->free && open == names->opens;
}

/* check_quick returns true if the next add or move calls go_on() where it must. */
static bool check_quick(const dw_wheel *wheel)
{
	uint32_t next = wheel_next_generation(wheel), left = wheel->stop_at - next;

	if (left > 64 || left > wheel->full_at - next)
		return false;
	if (wheel->names.chunks && wheel->names.clean < wheel_fresh(wheel) + left)
		return false;
	return wheel->quick_until == (wheel->names.opens ? 0 : (uint64_t)wheel->stop_at << 32);
}

bool wheel_names_check(const dw_wheel *wheel, const struct wheel_lives *lives)
{
	return wheel_fresh(wheel) <= wheel->pool.room && count_young(wheel) == lives->young &&
	       check_chunks(wheel, lives->elders) && check_quick(wheel);
}
