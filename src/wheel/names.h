/*
 * names.h: the names of timers: an index and a generation are given, and taken back (alive.h).
 */
#ifndef WHEEL_NAMES_H
#define WHEEL_NAMES_H

#include "wheel/alive.h"

/* wheel_names_grow: indexes below `room`, and a ring for so many entries in so many blocks.
 * DW_ENOMEM. */
int wheel_names_grow(dw_wheel *wheel, uint32_t room, uint32_t blocks);

/* wheel_names_reserve_old: memory for the timers that the ring forgets. An ordinary wheel needs it
 * late or never; an overdue timer is one from the start. DW_ENOMEM. */
int wheel_names_reserve_old(dw_wheel *wheel);

/* wheel_names_open: the next 64 generations can be given; the last 64 all were. DW_ENOMEM. */
int wheel_names_open(dw_wheel *wheel);

/* wheel_names_start: of a wheel that has no memory yet. */
void wheel_names_start(dw_wheel *wheel);

/* wheel_names_stop: until when adds are simple, once there is room and generations can be given. */
void wheel_names_stop(dw_wheel *wheel);

/* wheel_names_clear: there is no timer, and all of them are dead. */
void wheel_names_clear(dw_wheel *wheel);

void wheel_names_free(dw_wheel *wheel);

size_t wheel_names_bytes(const dw_wheel *wheel);

/* wheel_find: the name of the timer that has this handle; 0: none has. */
uint64_t wheel_find(const dw_wheel *wheel, dw_wheel_handle handle);

/* wheel_names_age: the name of an entry from now on: it is marked if it is old. 0: it is dead. */
uint64_t wheel_names_age(dw_wheel *wheel, uint64_t name);

/* wheel_name: the next generation, for this index. */
static inline dw_wheel_handle wheel_name(dw_wheel *wheel, uint32_t index)
{
	uint64_t name = wheel->next_name;

	wheel->next_name = name + (UINT64_C(1) << 32);
	return name ^ (uint32_t)name ^ index;
}

/* wheel_young_end: the handle and the entry of this timer, which is young, are dead. */
static inline void wheel_young_end(dw_wheel *wheel, dw_wheel_handle handle)
{
	*wheel_gone(wheel, wheel_generation(handle)) |= wheel_gone_bit(wheel_generation(handle));
}

/* wheel_name_end: the handle and the entry of this timer are dead. */
static inline void wheel_name_end(dw_wheel *wheel, uint64_t name)
{
	uint32_t index = wheel_index(name);

	if (BITS_RARE(wheel_name_lasts(name)))
		wheel_chunk(wheel, index)->elders &= ~wheel_chunk_bit(index);
	else
		wheel_young_end(wheel, name);
}

/* wheel_name_fresh: the next generation, for an index that was not in use yet. */
static inline dw_wheel_handle wheel_name_fresh(dw_wheel *wheel)
{
	uint64_t name = wheel->next_name;

	wheel->next_name = name + (UINT64_C(1) << 32) + 1;
	return name;
}

/* wheel_names_quick: next_name can be taken if no index is free, until there is something to do. */
static inline void wheel_names_quick(dw_wheel *wheel)
{
	wheel->quick_until = wheel->names.opens ? 0 : (uint64_t)wheel->stop_at << 32;
}

/* wheel_index_take: one that is free, or was not in use yet. */
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

/* wheel_name_take: the next generation, for an index that is free. */
static inline dw_wheel_handle wheel_name_take(dw_wheel *wheel)
{
	uint32_t index = wheel_index_take(wheel);

	return wheel_name(wheel, index);
}

/* wheel_index_give: it is free. */
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

/* wheel_names_give: the timer is gone. */
static inline void wheel_names_give(dw_wheel *wheel, uint64_t name)
{
	wheel_name_end(wheel, name);
	wheel_index_give(wheel, wheel_index(name));
}

/* wheel_name_make_last: the name of a young timer from now on. */
static inline uint64_t wheel_name_make_last(dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle);

	wheel_young_end(wheel, handle);
	wheel_chunk(wheel, index)->elders |= wheel_chunk_bit(index);
	wheel->names.elders[index] = wheel_generation(handle);
	return handle | WHEEL_ELDER;
}

#endif
