/*
 * names.h: gives out the names of timers, an index and a generation each, and takes them back
 * (alive.h).
 */
#ifndef WHEEL_NAMES_H
#define WHEEL_NAMES_H

#include "wheel/alive.h"

/* wheel_names_grow makes room for the indexes below `room`, and for a ring that suits `room`
 * entries in `blocks` blocks. Returns DW_OK or DW_ENOMEM. */
int wheel_names_grow(dw_wheel *wheel, uint32_t room, uint32_t blocks);

/* wheel_names_reserve_old allocates memory for elders. Most wheels need it late or never; an
 * overdue timer needs it at once. Returns DW_OK or DW_ENOMEM. */
int wheel_names_reserve_old(dw_wheel *wheel);

/* wheel_names_open opens the next 64 generations after the last 64 were all given. Returns DW_OK or
 * DW_ENOMEM. */
int wheel_names_open(dw_wheel *wheel);

/* wheel_names_start initialises the names of a wheel that has no memory yet. */
void wheel_names_start(dw_wheel *wheel);

/* wheel_names_stop sets the generation at which the next add or move must call go_on(). There must
 * be room, and open generations. */
void wheel_names_stop(dw_wheel *wheel);

/* wheel_names_clear forgets all indexes. The wheel has no timer, and every entry is dead. */
void wheel_names_clear(dw_wheel *wheel);

void wheel_names_free(dw_wheel *wheel);

size_t wheel_names_bytes(const dw_wheel *wheel);

/* wheel_find returns the name of the timer with this handle, or 0 if it does not exist. */
uint64_t wheel_find(const dw_wheel *wheel, dw_wheel_handle handle);

/* wheel_names_age returns the name that the entry has from now on, marked if its timer has become
 * an elder. It returns 0 if the entry is dead. */
uint64_t wheel_names_age(dw_wheel *wheel, uint64_t name);

/* wheel_name takes the next generation, for this index. */
static inline dw_wheel_handle wheel_name(dw_wheel *wheel, uint32_t index)
{
	uint64_t name = wheel->next_name;

	wheel->next_name = name + (UINT64_C(1) << 32);
	return name ^ (uint32_t)name ^ index;
}

/* wheel_young_end ends the handle and the entry of a timer that is not an elder. */
static inline void wheel_young_end(dw_wheel *wheel, dw_wheel_handle handle)
{
	*wheel_gone(wheel, wheel_generation(handle)) |= wheel_gone_bit(wheel_generation(handle));
}

/* wheel_name_end ends the handle and the entry of a timer. */
static inline void wheel_name_end(dw_wheel *wheel, uint64_t name)
{
	uint32_t index = wheel_index(name);

	if (BITS_RARE(wheel_name_lasts(name)))
		wheel_chunk(wheel, index)->elders &= ~wheel_chunk_bit(index);
	else
		wheel_young_end(wheel, name);
}

/* wheel_name_fresh takes the next generation, for an index that was not used yet. */
static inline dw_wheel_handle wheel_name_fresh(dw_wheel *wheel)
{
	uint64_t name = wheel->next_name;

	wheel->next_name = name + (UINT64_C(1) << 32) + 1;
	return name;
}

/* wheel_names_quick allows adds to take next_name directly, up to stop_at, if no used index is
 * free. */
static inline void wheel_names_quick(dw_wheel *wheel)
{
	wheel->quick_until = wheel->names.opens ? 0 : (uint64_t)wheel->stop_at << 32;
}

/* wheel_index_take takes a free index, or one that was not used yet. */
static inline uint32_t wheel_index_take(dw_wheel *wheel)
{
	struct wheel_names *names = &wheel->names;
	struct wheel_chunk *chunk;
	uint32_t at;

	if (!names->opens)
		return (uint32_t)wheel->next_name++;
	at = names->open[names->opens - 1];
	chunk = &names->chunks[at];
	at = at * 64 + bits_lowest(chunk->free);
	chunk->free &= chunk->free - 1;
	names->free--;
	if (!chunk->free) {
		names->opens--;
		wheel_names_quick(wheel);
	}
	return at;
}

/* wheel_name_take takes the next generation, for a free index. */
static inline dw_wheel_handle wheel_name_take(dw_wheel *wheel)
{
	uint32_t index = wheel_index_take(wheel);

	return wheel_name(wheel, index);
}

/* wheel_index_give makes an index free. */
static inline void wheel_index_give(dw_wheel *wheel, uint32_t index)
{
	struct wheel_names *names = &wheel->names;
	struct wheel_chunk *chunk = wheel_chunk(wheel, index);

	if (BITS_RARE(chunk->free & wheel_chunk_bit(index)))
		return; /* a handle of another wheel was given to this one */
	if (!chunk->free) {
		names->open[names->opens++] = index / 64;
		wheel->quick_until = 0;
	}
	chunk->free |= wheel_chunk_bit(index);
	names->free++;
}

/* wheel_names_give ends a timer and makes its index free. */
static inline void wheel_names_give(dw_wheel *wheel, uint64_t name)
{
	wheel_name_end(wheel, name);
	wheel_index_give(wheel, wheel_index(name));
}

/* wheel_name_make_last makes a timer an elder. Returns its new name. */
static inline uint64_t wheel_name_make_last(dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle);

	wheel_young_end(wheel, handle);
	wheel_chunk(wheel, index)->elders |= wheel_chunk_bit(index);
	wheel->names.elders[index] = wheel_generation(handle);
	return handle | WHEEL_ELDER;
}

#endif
