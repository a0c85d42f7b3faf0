/*
 * alive.h: who lives. names.h gives the indexes and generations, and takes them back.
 *
 * A generation is the place of an add or a move in the order of all of them, and in a ring of bits
 * each of the last ones has a bit: has its timer gone? Timers that are asked about at random were
 * mostly added not long ago, so that these bits lie in the cache where a word for each timer would
 * not. A timer that outlives half of the ring becomes an *elder*: its entry and its index are
 * marked, its generation is kept by index, and in the ring it is gone. The sweep sees to that,
 * because it comes by all entries before the ring has gone around (sweep.c).
 *
 * Invariant: the entry of a timer is marked if and only if its index is. One that is not marked,
 * dead or alive, has a generation that was given less than `span` ago. What is not gone in the ring
 * are the timers that are no elders, and what has not been given yet. A chunk is in the stack when
 * it has a free index; no index is both free and an elder's. Chunks are ready for all indexes that
 * are handed out before there is something else to do.
 *
 * Not guarded against: an elder that is cancelled just before its generation is given again, after
 * 2^32 others, leaves an entry that would be alive if that same generation went to its index and to
 * an overdue timer, before the sweep has come by.
 */
#ifndef WHEEL_ALIVE_H
#define WHEEL_ALIVE_H

#include "base/bits.h"
#include "wheel/count.h"

/* struct wheel_lives: the live entries that were met. */
struct wheel_lives {
	size_t young;
	size_t elders;
};

static inline size_t wheel_lives_count(const struct wheel_lives *lives)
{
	return lives->young + lives->elders;
}

/* wheel_names_meet: count an entry if it is alive. False: there can be no such entry. */
bool wheel_names_meet(const dw_wheel *wheel, uint64_t name, struct wheel_lives *lives);

/* wheel_names_check: does each timer have one of the entries that were met? */
bool wheel_names_check(const dw_wheel *wheel, const struct wheel_lives *lives);

/* wheel_handle_of: the handle of the timer that has this name. */
static inline dw_wheel_handle wheel_handle_of(uint64_t name)
{
	return name & ~WHEEL_ELDER;
}

/* wheel_name_lasts: the ring cannot forget this name. */
static inline bool wheel_name_lasts(uint64_t name)
{
	return name & WHEEL_ELDER;
}

/* wheel_index: of a name, or of a handle. */
static inline uint32_t wheel_index(uint64_t name)
{
	return dw_wheel_index(wheel_handle_of(name));
}

static inline struct wheel_chunk *wheel_chunk(const dw_wheel *wheel, uint32_t index)
{
	return &wheel->names.chunks[index / 64];
}

static inline uint64_t wheel_chunk_bit(uint32_t index)
{
	return UINT64_C(1) << index % 64;
}

/* wheel_gone: the word of the ring that has this generation's bit. */
static inline uint64_t *wheel_gone(const dw_wheel *wheel, uint32_t generation)
{
	return &wheel->names.gone[generation / 64 & wheel->names.ring_mask];
}

static inline uint64_t wheel_gone_bit(uint32_t generation)
{
	return UINT64_C(1) << generation % 64;
}

/* wheel_ring_has: is this generation, which the ring knows, not gone? */
static inline bool wheel_ring_has(const uint64_t *ring, uint32_t mask, uint32_t generation)
{
	return ~ring[generation / 64 & mask] >> generation % 64 & 1;
}

/* wheel_is_young: is the timer of this generation, which the ring knows, alive and no elder? */
static inline bool wheel_is_young(const dw_wheel *wheel, uint32_t generation)
{
	return wheel_ring_has(wheel->names.gone, wheel->names.ring_mask, generation);
}

/* wheel_is_elder: is this the handle or the name of an elder? */
static inline bool wheel_is_elder(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = wheel_index(handle);

	return wheel_chunk(wheel, index)->elders & wheel_chunk_bit(index) &&
	       wheel->names.elders[index] == wheel_generation(handle);
}

/* wheel_live: is the timer with this name, which an entry has, alive? */
static inline bool wheel_live(const dw_wheel *wheel, uint64_t name)
{
	if (BITS_RARE(wheel_name_lasts(name)))
		return wheel_is_elder(wheel, name);
	return wheel_is_young(wheel, wheel_generation(name));
}

/*
 * wheel_knows_young: is this the handle of a timer that is alive and no elder? It may be any that
 * this wheel has given. Of another wheel's, the generation may be alive here, with another index:
 * that is not noticed, and then a timer is lost and an index is in use for good (see go_on()).
 * Once generations began again, the answer is always no, and wheel_find() has to say.
 */
static inline bool wheel_knows_young(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t generation = wheel_generation(handle);

	return dw_wheel_index(handle) < wheel_fresh(wheel) &&
	       wheel_age(wheel, generation) < wheel->names.span_quick &&
	       wheel_is_young(wheel, generation);
}

#endif
