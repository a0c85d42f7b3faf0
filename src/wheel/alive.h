/*
 * alive.h: which timers are alive. names.h gives indexes and generations out and takes them back.
 *
 * Every add and every move gets the next generation. A ring of bits has one bit for each recent
 * generation: the bit is set when the timer of that generation has gone. Most lookups ask for
 * timers that were added recently. Their bits therefore stay in the cache, and one word for each
 * timer would not. A timer that outlives half of the ring becomes an *elder*: its entry and its
 * index are marked, its generation is stored by index, and its bit in the ring is set. The sweep
 * does this, because it meets every entry before the ring has gone around (sweep.c).
 *
 * Invariant:
 * - The entry of a timer is marked if and only if its index is marked.
 * - An unmarked entry, dead or alive, has a generation that was given less than `span` ago.
 * - The clear bits of the ring belong to timers that are not elders, and to generations that were
 *   not given yet.
 * - A chunk is in the stack if and only if it has a free index.
 * - An index is never both free and marked as an elder's.
 * - The chunks of all indexes that can be given before the next call of wheel_names_stop() are
 *   ready.
 *
 * Not guarded against: an elder is cancelled just before its generation is given again, after 2^32
 * others. If the same index and an overdue timer then get that generation before the sweep comes
 * by, the elder's dead entry looks alive.
 */
#ifndef WHEEL_ALIVE_H
#define WHEEL_ALIVE_H

#include "base/bits.h"
#include "wheel/count.h"

/* struct wheel_lives: how many live entries a walk has met. */
struct wheel_lives {
	size_t young;
	size_t elders;
};

static inline size_t wheel_lives_count(const struct wheel_lives *lives)
{
	return lives->young + lives->elders;
}

/* wheel_names_meet counts an entry if it is alive. Returns false for an entry that no sound wheel
 * has. */
bool wheel_names_meet(const dw_wheel *wheel, uint64_t name, struct wheel_lives *lives);

/* wheel_names_check returns true if each timer has exactly one of the entries that the walk has
 * met. */
bool wheel_names_check(const dw_wheel *wheel, const struct wheel_lives *lives);

/* wheel_handle_of returns the handle of the timer that has this name. */
static inline dw_wheel_handle wheel_handle_of(uint64_t name)
{
	return name & ~WHEEL_ELDER;
}

/* wheel_name_lasts returns true if this is the name of an elder, which does not depend on the
 * ring. */
static inline bool wheel_name_lasts(uint64_t name)
{
	return name & WHEEL_ELDER;
}

/* wheel_index returns the index in a name or a handle. */
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

/* wheel_gone returns the word of the ring that holds the bit of this generation. */
static inline uint64_t *wheel_gone(const dw_wheel *wheel, uint32_t generation)
{
	return &wheel->names.gone[generation / 64 & wheel->names.ring_mask];
}

static inline uint64_t wheel_gone_bit(uint32_t generation)
{
	return UINT64_C(1) << generation % 64;
}

/* wheel_ring_has returns true if the bit of this generation is clear. The ring must know the
 * generation. */
static inline bool wheel_ring_has(const uint64_t *ring, uint32_t mask, uint32_t generation)
{
	return ~ring[generation / 64 & mask] >> generation % 64 & 1;
}

/* wheel_is_young returns true if the timer of this generation is alive and not an elder. The ring
 * must know the generation. */
static inline bool wheel_is_young(const dw_wheel *wheel, uint32_t generation)
{
	return wheel_ring_has(wheel->names.gone, wheel->names.ring_mask, generation);
}

/* wheel_is_elder returns true if this is the handle or the name of an elder. */
static inline bool wheel_is_elder(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = wheel_index(handle);

	return wheel_chunk(wheel, index)->elders & wheel_chunk_bit(index) &&
	       wheel->names.elders[index] == wheel_generation(handle);
}

/* wheel_live returns true if the timer of an entry with this name is alive. */
static inline bool wheel_live(const dw_wheel *wheel, uint64_t name)
{
	if (BITS_RARE(wheel_name_lasts(name)))
		return wheel_is_elder(wheel, name);
	return wheel_is_young(wheel, wheel_generation(name));
}

/* wheel_knows_young returns true if this is the handle of a live timer that is not an elder. The
 * handle may be any that this wheel has given. A handle of another wheel may have a generation that
 * is alive here with another index. This mistake is not noticed: a timer is then lost, and an index
 * stays in use for good (see go_on()). Once the generations have started again, it always returns
 * false, and the caller must ask wheel_find(). */
static inline bool wheel_knows_young(const dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t generation = wheel_generation(handle);

	return dw_wheel_index(handle) < wheel_fresh(wheel) &&
	       wheel_age(wheel, generation) < wheel->names.span_quick &&
	       wheel_is_young(wheel, generation);
}

#endif
