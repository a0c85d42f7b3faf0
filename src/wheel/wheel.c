/*
 * wheel.c: the timing wheel: its idea, and the calls that add, cancel and move timers. advance.c
 * takes out due timers, slots.h has the lists, alive.h knows which timers are alive, pool.h has the
 * memory, sweep.c removes dead entries, overdue.c has the timers below the current time.
 *
 * WHY A WHEEL
 *   Most timers of a server are cancelled: the order is paid, the answer arrives. A heap or a tree
 *   pays for the order of all timers. A wheel pays only for the timers whose time comes near. The
 *   price: a wheel knows its earliest deadline only to the width of a slot.
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
 *      soon     a sorted array: the timers of slots that had only few
 *      overdue  a heap of the timers below `current`
 *
 *   A timer is put into the lowest level in which it lies in another slot than the current time. It
 *   moves down as its time comes near. In an ordinary hierarchical wheel a slot is emptied all at
 *   once, at the moment the current time enters it. With a million timers in the slot, that is a
 *   pause of 40 ms. Here a ring is as long as two slots of the ring above. While the current time
 *   is in one slot, all timers of the next slot, Q, already fit in the ring below. Therefore Q is
 *   *open* from 255/256 of a slot before its start: it is drained in small pieces, in proportion to
 *   the time that is left. A slot with few timers waits until its time comes. Its timers are then
 *   sorted and do not move further down, where each would lie alone in one list after the other
 *   (soon.h).
 *
 * EXACT ORDER
 *   Timers come out by deadline, and among equal deadlines by insertion, without a sequence number.
 *   Only the slots with few timers are sorted.
 *   - Every list is a queue, filled at its end and emptied from its beginning. Draining does this
 *     too.
 *   - Among equal deadlines an older timer is never in a higher level than a younger one. A new
 *     timer goes to the level that the current time gives it, and that level only sinks as time
 *     passes.
 *   - A slot is sorted only when it still holds all timers of its time. A new timer of that time
 *     goes to a level below the slot. Among equal deadlines the sorted timers fire first.
 *   - A fine list fires only when no ring has a slot that begins at or before the current time.
 *   So the older timer is in front of the younger one in the same queue, or has moved down before
 *   it.
 *
 * INVARIANT (dw_wheel_check() checks all of it)
 *   1. Every deadline in the overdue heap is below `current`; every other deadline is not. The soon
 *      array is sorted.
 *   2. An entry in a fine list lies in the bucket of `current`, and its low 10 bits are the list.
 *   3. An entry in a ring lies in a slot that begins after `current`, less than 512 slots ahead.
 *      The current time stops one tick before such a slot until the slot is empty. Only a slot of
 *      ring 0 is entered first and then loaded into the fine level (`loading` until that is
 *      finished).
 *   4. `current` passes no timer that is still in the wheel.
 *
 * MEMORY
 *   The cost of a wheel with a million timers is cache misses. A list is therefore not linked
 *   through its timers. It consists of blocks of 63 entries (deadline, handle) of 16 bytes each,
 *   written and read in the order of memory. A timer itself is two bits: one says that its
 *   generation has not gone, the other that its index is free (alive.h). A cancel changes these two
 *   bits and nothing else. The entry is then dead, and is skipped when its list is drained. The
 *   index is reused at once, and its next timer has another generation. After many cancels, the
 *   dead entries are swept while timers are added (sweep.c). The price: there may be as many dead
 *   entries as live ones, and dw_wheel_next() may return the time of a cancelled timer.
 *
 *   Draining takes blocks and must not fail. Therefore there is always room for every list to end
 *   in a block of its own (pool.c).
 */
#include <durawheel/wheel.h>

#include "wheel/names.h"
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
	wheel_set_current(wheel, wheel_encode(now));
	wheel_names_start(wheel);
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
	wheel_names_free(wheel);
	wheel_pool_free(wheel);
	(void)wheel->allocator.resize(wheel->allocator.user, wheel, 0); /* freeing returns NULL */
}

int dw_wheel_reserve(dw_wheel *wheel, size_t count)
{
	size_t room =
	    2 * count + count / 8 + 2 * WHEEL_DEAD_FEW; /* includes room for dead entries */

	if (!wheel)
		return DW_EINVAL;
	if (count > DW_WHEEL_TIMERS_MAX)
		return DW_ELIMIT;
	if (room > DW_WHEEL_TIMERS_MAX)
		room = DW_WHEEL_TIMERS_MAX;
	if (room > wheel->pool.room) {
		int error = wheel_pool_grow_to(wheel, (uint32_t)room);

		if (error < 0)
			return error;
	}
	return wheel_names_reserve_old(wheel);
}

/* grow_or_sweep makes room for one more entry. Returns DW_OK, DW_ENOMEM or DW_ELIMIT. */
BITS_COLD static int grow_or_sweep(dw_wheel *wheel)
{
	int error = wheel_pool_grow(wheel);

	if (error == DW_OK)
		return DW_OK;
	wheel_sweep_all(wheel);
	return wheel_count(wheel) < wheel->pool.room ? DW_OK : error;
}

/* go_on makes room for one more entry, and a generation for it. It also does work that must be done
 * after 64 generations at most. Returns DW_OK, DW_ENOMEM or DW_ELIMIT. */
BITS_COLD static int go_on(dw_wheel *wheel)
{
	int error = DW_OK;

	if (wheel_sweep_due(wheel))
		wheel_sweep_some(wheel, WHEEL_SWEEP_BLOCKS);
	if (BITS_RARE(wheel_fresh(wheel) >
		      wheel->pool.room)) /* the caller has cancelled handles of another wheel */
		error = wheel_pool_grow(wheel);
	if (error == DW_OK && wheel_next_generation(wheel) == wheel->full_at)
		error = grow_or_sweep(wheel);
	if (error == DW_OK && wheel_next_generation(wheel) % 64 == 0) {
		wheel_sweep_old(wheel);
		error = wheel_names_open(wheel);
	}
	if (error == DW_OK)
		wheel_names_stop(wheel);
	return error;
}

/* make_room makes room for one more entry. Returns DW_OK, DW_ENOMEM or DW_ELIMIT. */
static inline int make_room(dw_wheel *wheel)
{
	return wheel_names_ready(wheel) ? DW_OK : go_on(wheel);
}

/* make_room_ahead makes room for one more entry at the end of a ring's slot. Returns DW_OK,
 * DW_ENOMEM or DW_ELIMIT. */
static inline int make_room_ahead(dw_wheel *wheel, uint32_t list, uint64_t deadline)
{
	int error = make_room(wheel);

	if (error < 0)
		return error;
	if (wheel_list_full(wheel, list))
		wheel_slots_extend(wheel, list, deadline);
	return DW_OK;
}

/* make_room_near makes room for one more entry with a deadline that is_near(). Returns DW_OK,
 * DW_ENOMEM or DW_ELIMIT. */
static int make_room_near(dw_wheel *wheel, uint64_t deadline)
{
	int error = make_room(wheel);

	if (error < 0 || deadline >= wheel->current)
		return error;
	error = wheel_names_reserve_old(wheel);
	return error < 0 ? error : wheel_overdue_reserve(wheel);
}

/* insert_near inserts an entry that is overdue or in the current bucket. There must be room. */
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
		list = wheel_ring_list(
		    0, entry.deadline); /* so that it comes after entries that are not loaded yet */
	wheel_slots_append(wheel, list, entry);
}

/* is_near returns true if this deadline is overdue or in the current bucket. This is rare. */
static inline bool is_near(const dw_wheel *wheel, uint64_t deadline)
{
	return BITS_RARE(deadline <= wheel->near_until);
}

/* has_room returns true if an entry with the next generation can be appended to this list at
 * once. */
static inline bool has_room(const dw_wheel *wheel, uint32_t list)
{
	return !BITS_RARE(wheel_list_full(wheel, list)) && !BITS_RARE(!wheel_names_ready(wheel));
}

/* put_ahead appends an entry to a ring's slot that has room. `handle` is the entry's new handle. */
static inline int put_ahead(dw_wheel *wheel, uint64_t deadline, uint32_t list,
			    dw_wheel_handle handle, dw_wheel_handle *ret_handle)
{
	wheel_list_put(wheel, list, wheel_list_end(wheel, list),
		       (struct wheel_entry){deadline, handle});
	*ret_handle = handle;
	return DW_OK;
}

BITS_NOINLINE static int add_ahead_rarely(dw_wheel *wheel, uint64_t deadline, uint32_t list,
					  dw_wheel_handle *ret_handle)
{
	int error = make_room_ahead(wheel, list, deadline);

	if (error < 0)
		return error;
	return put_ahead(wheel, deadline, list, wheel_name_take(wheel), ret_handle);
}

/* add_ahead_again adds a timer with a used index, if go_on() need not be called first. */
BITS_NOINLINE static int add_ahead_again(dw_wheel *wheel, uint64_t deadline, uint32_t list,
					 dw_wheel_handle *ret_handle)
{
	if (BITS_RARE(!wheel_names_ready(wheel)))
		return add_ahead_rarely(wheel, deadline, list, ret_handle);
	return put_ahead(wheel, deadline, list, wheel_name_take(wheel), ret_handle);
}

BITS_NOINLINE static int add_near(dw_wheel *wheel, uint64_t deadline, dw_wheel_handle *ret_handle)
{
	int error = make_room_near(wheel, deadline);

	if (error < 0)
		return error;
	*ret_handle = wheel_name_take(wheel);
	insert_near(wheel, (struct wheel_entry){deadline, *ret_handle});
	return DW_OK;
}

int dw_wheel_add(dw_wheel *wheel, int64_t deadline_signed, dw_wheel_handle *ret_handle)
{
	uint64_t deadline = wheel_encode(deadline_signed);
	uint32_t list;

	if (!wheel || !ret_handle)
		return DW_EINVAL;
	if (is_near(wheel, deadline))
		return add_near(wheel, deadline, ret_handle);
	list = wheel_slots_ahead(wheel, deadline);
	if (BITS_RARE(wheel_list_full(wheel, list)))
		return add_ahead_rarely(wheel, deadline, list, ret_handle);
	if (!wheel_names_ready_fresh(wheel))
		return add_ahead_again(wheel, deadline, list, ret_handle);
	return put_ahead(wheel, deadline, list, wheel_name_fresh(wheel), ret_handle);
}

/* cancel_rarely cancels an elder, or finds out that the timer does not exist. */
BITS_NOINLINE static int cancel_rarely(dw_wheel *wheel, dw_wheel_handle handle)
{
	uint64_t name = wheel_find(wheel, handle);

	if (!name)
		return DW_ENOENT;
	wheel_names_give(wheel, name);
	if (!wheel_count(wheel))
		wheel_sweep_tidy(wheel);
	return DW_OK;
}

int dw_wheel_cancel(dw_wheel *wheel, dw_wheel_handle handle)
{
	if (!wheel)
		return DW_EINVAL;
	if (BITS_RARE(!wheel_knows_young(wheel, handle)))
		return cancel_rarely(wheel, handle);
	wheel_young_end(wheel, handle);
	wheel_index_give(wheel, dw_wheel_index(handle));
	if (BITS_RARE(!wheel_count(wheel)))
		wheel_sweep_tidy(wheel);
	return DW_OK;
}

/*
 * leave_out skips the next generation if the timer to be moved still has the same one, after 2^32
 * others. Otherwise the moved timer would get its old handle again, and its old entry would look
 * alive.
 */
static bool leave_out(dw_wheel *wheel, uint32_t generation)
{
	if (generation != wheel_next_generation(wheel))
		return false;
	wheel_young_end(wheel, wheel_name(wheel, 0));
	wheel_entries_gone(wheel, 1); /* no entry has this generation */
	return true;
}

/* move_rarely moves an elder, or a timer to a near deadline or into a list without room. It returns
 * DW_ENOENT if the timer does not exist. */
BITS_NOINLINE static int move_rarely(dw_wheel *wheel, uint64_t deadline, dw_wheel_handle *handle)
{
	bool near = is_near(wheel, deadline);
	uint32_t list = near ? 0 : wheel_slots_ahead(wheel, deadline);
	int error;

	if (!wheel_find(wheel, *handle))
		return DW_ENOENT;
	do
		error =
		    near ? make_room_near(wheel, deadline) : make_room_ahead(wheel, list, deadline);
	while (error == DW_OK && leave_out(wheel, wheel_generation(*handle)));
	if (error < 0)
		return error;
	wheel_name_end(wheel,
		       wheel_find(wheel, *handle)); /* making room may have changed its name */
	if (!near)
		return put_ahead(wheel, deadline, list, wheel_name(wheel, dw_wheel_index(*handle)),
				 handle);
	*handle = wheel_name(wheel, dw_wheel_index(*handle));
	insert_near(wheel, (struct wheel_entry){deadline, *handle});
	return DW_OK;
}

int dw_wheel_move(dw_wheel *wheel, dw_wheel_handle *handle, int64_t deadline_signed)
{
	uint64_t deadline = wheel_encode(deadline_signed);
	uint32_t list;

	if (!wheel || !handle)
		return DW_EINVAL;
	if (BITS_RARE(!wheel_knows_young(wheel, *handle)) || is_near(wheel, deadline))
		return move_rarely(wheel, deadline, handle);
	list = wheel_slots_ahead(wheel, deadline);
	if (!has_room(wheel, list))
		return move_rarely(wheel, deadline, handle);
	wheel_young_end(wheel, *handle);
	return put_ahead(wheel, deadline, list, wheel_name(wheel, dw_wheel_index(*handle)), handle);
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
	return sizeof(*wheel) + wheel_names_bytes(wheel) + wheel_pool_bytes(wheel) +
	       wheel_overdue_bytes(wheel);
}
