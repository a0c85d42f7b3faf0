/*
 * wheel.c: the timing wheel: its idea, and the calls that put timers in and take them away again by
 * name. advance.c takes out what is due, slots.h has the lists, pool.h the memory, sweep.c clears
 * up after cancels, overdue.c has the past.
 *
 * WHY A WHEEL
 *   Most timers of a server are cancelled: the order is paid, the answer arrives. A heap or a tree
 *   pays for the order of all timers, a wheel only for those that come near. Price: a wheel knows
 *   its earliest deadline to a slot's width only.
 *
 * THE LEVELS (widths in ticks; with microseconds the first bucket is 1.024 ms)
 *
 *      ring 6   512 slots of 2^58                                           all of time
 *        :
 *      ring 2   512 slots of 2^26   |---------Q---------|-------------------|----
 *                                             :   one slot above = 256 slots below
 *      ring 1   512 slots of 2^18   |.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.... (512 = two of Q)
 *                                    :
 *      ring 0   512 slots of 2^10   |.|.|.|.|.|.|.|.|.|.|.|...
 *                                    :
 *      fine    1024 lists of 1      ||||||||||||  the current bucket
 *                                   ^ current
 *      soon     a sorted array: what was in a slot that had only few
 *      overdue  a heap of what is below `current`
 *
 *   A timer is put into the lowest level in which it lies in another slot than the present, and
 *   moves down as its time comes near. In an ordinary hierarchical wheel a slot is emptied at the
 *   moment the present enters it, all at once: with a million timers in it, that is a pause of 40
 *   ms. Here a ring is as long as two slots of the one above it. So while the present is in one
 *   slot, all of the next, Q, fits below already: from 255/256 of a slot before its start Q is
 *   *open*, that is, it is drained in small pieces in proportion to the time that is left. A slot
 *   with few timers waits until the present comes to it. They are then sorted and go no further
 *   down, where each would lie alone in one list after the other (soon.h).
 *
 * EXACT ORDER
 *   Timers come out by deadline, and among equals by insertion, without sorting and without a
 *   sequence number:
 *   - Every list is a queue, filled at its end and emptied from its beginning, also by draining.
 *   - Among equal deadlines the older ones are never in a higher level than the younger ones. For
 *     a new timer goes to the level that the present gives it, and that only sinks as time passes.
 *   - A slot is sorted only when all there is in its time is still in it; a new timer then goes
 *     below it, and of equal deadlines the sorted ones fire first.
 *   - A fine list fires only when no ring has a slot that begins at or before the present.
 *   So the older one is in front of the younger in the same queue, or has gone down before it.
 *
 * INVARIANT (dw_wheel_check() looks at all of it)
 *   1. Every deadline in the overdue heap is below `current`; every other is not. What is due soon
 *      is sorted.
 *   2. An entry in a fine list lies in the bucket of `current`, and its low 10 bits are the list.
 *   3. An entry in a ring lies in a slot that begins after `current`, less than 512 slots ahead.
 *      The present stops one tick before such a slot until it is empty; only a slot of ring 0 is
 *      entered first and then loaded into the fine level (`loading` while that is unfinished).
 *   4. `current` passes no timer that is still inside.
 *
 * MEMORY
 *   What a wheel of a million costs is cache misses. So a list is not linked through the timers: it
 *   is blocks of 31 entries (deadline, handle), 16 bytes each, written and read in the order of
 *   memory. A timer itself is one word of 4 bytes, its generation. Cancelling changes that word and
 *   nothing else; the entry, whose generation is another now, is dead, and is passed over when the
 *   list is drained. An index is reused at once, its next timer has another generation. What many
 *   cancels leave behind is swept while timers are added (sweep.c). Price: dead entries, up to as
 *   many as live ones, and dw_wheel_next() may name the time of a cancelled timer.
 *
 *   Draining takes blocks and must not fail, so there is always room for every list to end in a
 *   block of its own (pool.c).
 */
#include <durawheel/wheel.h>

#include "wheel/overdue.h"
#include "wheel/pool.h"
#include "wheel/slots.h"
#include "wheel/sweep.h"

#include <stdlib.h>

static void *resize_by_malloc(void *user, void *block, size_t size)
{
	(void)user;
	if (size)
		return realloc(block, size);
	free(block);
	return NULL;
}

int dw_wheel_new(dw_wheel **ret_wheel, int64_t now, const dw_wheel_allocator *allocator)
{
	const dw_wheel_allocator usual = {resize_by_malloc, NULL};
	dw_wheel *wheel;

	if (!ret_wheel || (allocator && !allocator->resize))
		return DW_EINVAL;
	if (!allocator)
		allocator = &usual;
	wheel = allocator->resize(allocator->user, NULL, sizeof(*wheel));
	if (!wheel)
		return DW_ENOMEM;
	memset(wheel, 0, sizeof(*wheel));
	wheel->allocator = *allocator;
	wheel->current = wheel_encode(now);
	wheel->sequence = wheel->full_at = 1;
	wheel->pool.free_index = WHEEL_NO_INDEX;
	wheel_slots_init(wheel);
	wheel_overdue_clear(wheel);
	*ret_wheel = wheel;
	return DW_OK;
}

void dw_wheel_free(dw_wheel *wheel)
{
	if (!wheel)
		return;
	wheel_overdue_free(wheel);
	wheel_pool_free(wheel);
	(void)wheel->allocator.resize(wheel->allocator.user, wheel, 0); /* NULL: it frees */
}

int dw_wheel_reserve(dw_wheel *wheel, size_t count)
{
	size_t room = 2 * count + count / 8 + 2 * WHEEL_DEAD_FEW; /* for the dead */

	if (!wheel)
		return DW_EINVAL;
	if (count > DW_WHEEL_TIMERS_MAX)
		return DW_ELIMIT;
	if (room > DW_WHEEL_TIMERS_MAX)
		room = DW_WHEEL_TIMERS_MAX;
	if (room <= wheel->pool.room)
		return DW_OK;
	return wheel_pool_grow_to(wheel, (uint32_t)room);
}

/* grow_or_sweep: there is room for one more entry afterwards. DW_ENOMEM, DW_ELIMIT. */
BITS_COLD static int grow_or_sweep(dw_wheel *wheel)
{
	int error = wheel_pool_grow(wheel);

	if (error == DW_OK)
		return DW_OK;
	wheel_sweep_all(wheel);
	return wheel_count(wheel) < wheel->pool.room ? DW_OK : error;
}

/* make_room: for one more entry. DW_ENOMEM, DW_ELIMIT. */
static inline int make_room(dw_wheel *wheel)
{
	if (wheel_sweep_due(wheel))
		wheel_sweep_some(wheel);
	return wheel->sequence != wheel->full_at ? DW_OK : grow_or_sweep(wheel);
}

/* make_room_ahead: for one more entry at the end of a ring's slot. DW_ENOMEM, DW_ELIMIT. */
static inline int make_room_ahead(dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	int error = make_room(wheel);

	if (error < 0)
		return error;
	if (wheel_list_full(wheel, list))
		wheel_slots_extend(wheel, list, deadline);
	return DW_OK;
}

/* make_room_near: for one more entry that is_near(). DW_ENOMEM, DW_ELIMIT. */
static int make_room_near(dw_wheel *wheel, uint64_t deadline)
{
	if (deadline < wheel->current && wheel_overdue_reserve(wheel) < 0)
		return DW_ENOMEM;
	return make_room(wheel);
}

/* insert_near: a new entry that is overdue or belongs into the current bucket; there is room. */
static void insert_near(dw_wheel *wheel, struct wheel_entry entry)
{
	uint32_t list = (uint32_t)entry.deadline & (WHEEL_FINE_LISTS - 1);

	if (entry.deadline < wheel->idle_until)
		wheel->idle_until = entry.deadline;
	if (entry.deadline < wheel->current) {
		wheel_overdue_push(wheel, entry);
		return;
	}
	if (wheel->loading)
		list = wheel_ring_list(0, entry.deadline); /* behind those still to be loaded */
	wheel_slots_append(wheel, list, entry);
}

/* is_near: is it overdue or due in the current bucket, which may be being loaded? Rarely. */
static inline bool is_near(const dw_wheel *wheel, uint64_t deadline)
{
	return BITS_RARE(deadline <= (wheel->current | (WHEEL_FINE_LISTS - 1)));
}

/* has_room: can an entry simply be put into this cell, behind the last one of a ring's slot? */
static inline bool has_room(const dw_wheel *wheel, uint32_t cell)
{
	return !BITS_RARE(wheel_cell_none(cell)) && !BITS_RARE(wheel->sequence == wheel->full_at);
}

/* add_ahead: a new timer into a ring's slot, where has_room(). */
static inline int add_ahead(dw_wheel *wheel, uint64_t deadline, uint32_t list, uint32_t cell,
			    dw_wheel_handle *ret_handle)
{
	dw_wheel_handle handle = wheel_pool_take(wheel);

	wheel_list_put(wheel, list, cell, (struct wheel_entry){deadline, handle});
	*ret_handle = handle;
	return DW_OK;
}

BITS_NOINLINE static int add_ahead_rarely(dw_wheel *wheel, uint64_t deadline, uint32_t list,
					  dw_wheel_handle *ret_handle)
{
	int error = make_room_ahead(wheel, list, deadline);

	if (error < 0)
		return error;
	return add_ahead(wheel, deadline, list, wheel_list_end(wheel, list), ret_handle);
}

BITS_NOINLINE static int add_near(dw_wheel *wheel, uint64_t deadline, dw_wheel_handle *ret_handle)
{
	int error = make_room_near(wheel, deadline);

	if (error < 0)
		return error;
	*ret_handle = wheel_pool_take(wheel);
	insert_near(wheel, (struct wheel_entry){deadline, *ret_handle});
	return DW_OK;
}

int dw_wheel_add(dw_wheel *wheel, int64_t deadline_signed, dw_wheel_handle *ret_handle)
{
	uint64_t deadline = wheel_encode(deadline_signed);
	uint32_t list, cell;

	if (!wheel || !ret_handle)
		return DW_EINVAL;
	if (is_near(wheel, deadline))
		return add_near(wheel, deadline, ret_handle);
	list = wheel_slots_ahead(wheel, deadline);
	cell = wheel_list_end(wheel, list);
	if (!has_room(wheel, cell))
		return add_ahead_rarely(wheel, deadline, list, ret_handle);
	return add_ahead(wheel, deadline, list, cell, ret_handle);
}

int dw_wheel_cancel(dw_wheel *wheel, dw_wheel_handle handle)
{
	if (!wheel)
		return DW_EINVAL;
	if (!wheel_pool_knows(wheel, handle))
		return DW_ENOENT;
	wheel_pool_give(wheel, dw_wheel_index(handle));
	if (BITS_RARE(!wheel_count(wheel)))
		wheel_sweep_tidy(wheel);
	return DW_OK;
}

/* move_ahead: a timer into a ring's slot, where has_room(). */
static inline int move_ahead(dw_wheel *wheel, uint64_t deadline, uint32_t list, uint32_t cell,
			     dw_wheel_handle *handle)
{
	dw_wheel_handle renewed = wheel_pool_renew(wheel, dw_wheel_index(*handle));

	wheel_list_put(wheel, list, cell, (struct wheel_entry){deadline, renewed});
	*handle = renewed;
	return DW_OK;
}

BITS_NOINLINE static int move_ahead_rarely(dw_wheel *wheel, uint64_t deadline, uint32_t list,
					   dw_wheel_handle *handle)
{
	int error = make_room_ahead(wheel, list, deadline);

	if (error < 0)
		return error;
	return move_ahead(wheel, deadline, list, wheel_list_end(wheel, list), handle);
}

BITS_NOINLINE static int move_near(dw_wheel *wheel, uint64_t deadline, dw_wheel_handle *handle)
{
	int error = make_room_near(wheel, deadline);

	if (error < 0)
		return error;
	*handle = wheel_pool_renew(wheel, dw_wheel_index(*handle));
	insert_near(wheel, (struct wheel_entry){deadline, *handle});
	return DW_OK;
}

int dw_wheel_move(dw_wheel *wheel, dw_wheel_handle *handle, int64_t deadline_signed)
{
	uint64_t deadline = wheel_encode(deadline_signed);
	uint32_t list, cell;

	if (!wheel || !handle)
		return DW_EINVAL;
	if (!wheel_pool_knows(wheel, *handle))
		return DW_ENOENT;
	if (is_near(wheel, deadline))
		return move_near(wheel, deadline, handle);
	list = wheel_slots_ahead(wheel, deadline);
	cell = wheel_list_end(wheel, list);
	if (!has_room(wheel, cell))
		return move_ahead_rarely(wheel, deadline, list, handle);
	return move_ahead(wheel, deadline, list, cell, handle);
}

size_t dw_wheel_count(const dw_wheel *wheel)
{
	return wheel ? wheel_count(wheel) : 0;
}

int64_t dw_wheel_now(const dw_wheel *wheel)
{
	return wheel ? wheel_decode(wheel->current) : 0;
}

size_t dw_wheel_bytes(const dw_wheel *wheel)
{
	if (!wheel)
		return 0;
	return sizeof(*wheel) + wheel_pool_bytes(wheel) + wheel_overdue_bytes(wheel);
}
