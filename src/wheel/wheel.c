/*
 * wheel.c: the timing wheel: its idea, and the calls that put timers in and take them away again by
 * name. advance.c takes out what is due, slots.h has the lists, nodes.h the memory, overdue.c the
 * past.
 *
 * WHY A WHEEL
 *   Most timers of a server are cancelled: the order is paid, the answer arrives. A heap or a tree
 *   pays for the order of all timers, a wheel only for those that come near. Price: a wheel knows
 * its earliest deadline to a slot's width only.
 *
 * THE LEVELS (widths in ticks; with microseconds the first bucket is 1.024 ms)
 *
 *      ring 6   512 slots of 2^58                                           all of time
 *        :
 *      ring 2   512 slots of 2^26   |---------Q---------|-------------------|----
 *                                             :   one slot above = 256 slots below
 *      ring 1   512 slots of 2^18   |.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|.|....   (512 = two of
 * Q)
 *                                    :
 *      ring 0   512 slots of 2^10   |.|.|.|.|.|.|.|.|.|.|.|...
 *                                    :
 *      fine    1024 lists of 1      ||||||||||||  the current bucket
 *                                   ^ current
 *      overdue  a heap of what is below `current`
 *
 *   A timer is put into the highest ring it is a whole slot away in, and moves down as its time
 * comes near. In an ordinary hierarchical wheel a slot is emptied at the moment the present enters
 * it, all at once: with a million timers in it, that is a pause of 40 ms. Here a ring is as long as
 * two slots of the one above it. So while the present is in one slot, all of the next, Q, fits
 * below already: from 255/256 of a slot before its start Q is *open*, that is, it takes no new
 * timers (they go below) and is drained in small pieces in proportion to the time that is left.
 *
 * EXACT ORDER
 *   Timers come out by deadline, and among equals by insertion, without sorting and without a
 *   sequence number:
 *   - Every list is in insertion order as far as equal deadlines go.
 *   - Among equal deadlines the older ones are never in a lower level than the younger ones: the
 *     level for a given deadline only sinks as time passes, and a slot takes no new timers once it
 *     is open.
 *   - So a new timer goes to the tail of its list, and draining pops the tail of the upper list and
 *     pushes it to the front of the lower one: the youngest of the upper level becomes the oldest
 * of the lower one. This may stop and go on at any timer.
 *   - A fine list fires only when no ring has a slot that begins at or before the present.
 *
 * INVARIANT (dw_wheel_check() looks at all of it)
 *   1. Every deadline in the overdue heap is below `current`; every other is not.
 *   2. A timer in a fine list lies in the bucket of `current`, and its low 10 bits are the list.
 *   3. A timer in a ring lies in a slot that begins at or after `current`, less than 512 slots
 * ahead; at `current` itself only while an advance that ran out of work is to be continued.
 *   4. `current` passes no timer that is still inside.
 *
 * MEMORY
 *   A timer is 20 bytes: deadline, two 32-bit links, generation. The ends of a list carry its
 *   number instead of a link, so cancelling needs neither a search nor a level in the node; and the
 *   generation lies in the node's own line, because what a wheel of a million costs is cache
 *   misses: a cancel touches its node and its two neighbours. It waits for none of the latter:
 *   a timer that is taken out of the middle of a list is gone at once, but its neighbours learn of
 *   each other later, when 32 such gaps are closed together and the neighbours, asked for
 *   meanwhile, are in the cache (wheel_slots_gap()). Nodes lie in one array (nodes.c).
 *
 * WHAT IT DOES NOT DO
 *   A slot's count is not lowered by cancels in the middle of the list. It only decides how fast an
 *   open slot is drained: after many cancels faster than necessary, bounded by the timers in the
 *   wheel.
 */
#include <durawheel/wheel.h>

#include "wheel/nodes.h"
#include "wheel/overdue.h"
#include "wheel/slots.h"

#include <stdlib.h>

static void *resize_by_malloc(void *user, void *block, size_t size)
{
	(void)user;
	if (size)
		return realloc(block, size);
	free(block);
	return NULL;
}

static void set_empty(dw_wheel *wheel, uint64_t now)
{
	memset(wheel, 0, sizeof(*wheel));
	wheel->current = now;
	wheel->work_at = WHEEL_NEVER;
	wheel->nodes.free_head = WHEEL_NONE;
	for (unsigned ring = 0; ring < WHEEL_RINGS; ring++)
		wheel->rings[ring].next = WHEEL_NEVER;
	for (unsigned list = 0; list < WHEEL_LISTS; list++)
		wheel->lists[list] = (struct wheel_list){WHEEL_NONE, WHEEL_END | list, 0};
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
	set_empty(wheel, wheel_encode(now));
	wheel->allocator = *allocator;
	*ret_wheel = wheel;
	return DW_OK;
}

void dw_wheel_free(dw_wheel *wheel)
{
	if (!wheel)
		return;
	wheel_overdue_free(wheel);
	(void)wheel->allocator.resize(wheel->allocator.user, wheel->nodes.array,
				      0);                               /* NULL: it frees */
	(void)wheel->allocator.resize(wheel->allocator.user, wheel, 0); /* NULL: it frees */
}

int dw_wheel_reserve(dw_wheel *wheel, size_t count)
{
	if (!wheel)
		return DW_EINVAL;
	if (count > DW_WHEEL_TIMERS_MAX)
		return DW_ELIMIT;
	if (count <= wheel->nodes.capacity)
		return DW_OK;
	return wheel_nodes_grow_to(wheel, (uint32_t)count);
}

/* place: a node that is in no list goes where its deadline belongs; room for the past is reserved.
 */
static inline void place(dw_wheel *wheel, uint32_t index, struct wheel_node *node,
			 uint64_t deadline)
{
	wheel_node_set_deadline(node, deadline);
	if (BITS_RARE(deadline < wheel->current))
		wheel_overdue_push(wheel, index, node);
	else
		wheel_slots_append(wheel, wheel_slots_choose(wheel, deadline), index, node);
}

static inline void displace(dw_wheel *wheel, const struct wheel_node *node)
{
	if (BITS_RARE(node->prev == WHEEL_IN_OVERDUE))
		wheel_overdue_remove(wheel, node);
	else
		wheel_slots_remove(wheel, node);
}

/* add_rarely: a deadline in the past, or no node left. */
BITS_COLD static int add_rarely(dw_wheel *wheel, uint64_t deadline, dw_wheel_handle *ret_handle)
{
	struct wheel_node *node;
	uint32_t index;
	int error;

	if (deadline < wheel->current && wheel_overdue_reserve(wheel) < 0)
		return DW_ENOMEM;
	error = wheel_nodes_reserve(wheel);
	if (error < 0)
		return error;
	index = wheel_nodes_take(wheel);
	node = wheel_node_at(wheel, index);
	place(wheel, index, node, deadline);
	*ret_handle = wheel_handle(node, index);
	return DW_OK;
}

int dw_wheel_add(dw_wheel *wheel, int64_t deadline_signed, dw_wheel_handle *ret_handle)
{
	uint64_t deadline = wheel_encode(deadline_signed);
	struct wheel_node *node;
	uint32_t index;

	if (!wheel || !ret_handle)
		return DW_EINVAL;
	if (BITS_RARE(deadline < wheel->current || wheel_nodes_full(wheel)))
		return add_rarely(wheel, deadline, ret_handle);
	index = wheel_nodes_take(wheel);
	node = wheel_node_at(wheel, index);
	wheel_node_set_deadline(node, deadline);
	wheel_slots_append(wheel, wheel_slots_choose(wheel, deadline), index, node);
	*ret_handle = wheel_handle(node, index);
	return DW_OK;
}

/* cancel_rarely: one that is overdue, at an end of a list, or beside a gap. */
BITS_COLD static int cancel_rarely(dw_wheel *wheel, uint32_t index, struct wheel_node *node)
{
	displace(wheel, node);
	wheel_nodes_retire(wheel, node);
	wheel_nodes_free(wheel, node, index);
	wheel_nodes_tidy(wheel);
	return DW_OK;
}

int dw_wheel_cancel(dw_wheel *wheel, dw_wheel_handle handle)
{
	uint32_t index = dw_wheel_index(handle);
	struct wheel_node *node;

	if (!wheel)
		return DW_EINVAL;
	node = wheel_nodes_find(wheel, handle);
	if (!node)
		return DW_ENOENT;
	if (BITS_RARE(!wheel_slots_can_gap(wheel, index, node)))
		return cancel_rarely(wheel, index, node);
	wheel_slots_gap(wheel, node);
	wheel_nodes_retire(wheel, node);
	wheel_nodes_free(wheel, node, index);
	return DW_OK;
}

/* move_rarely: one that is or will be overdue, at an end of a list, or beside a gap. */
BITS_COLD static int move_rarely(dw_wheel *wheel, uint32_t index, struct wheel_node *node,
				 uint64_t deadline)
{
	if (deadline < wheel->current && wheel_overdue_reserve(wheel) < 0)
		return DW_ENOMEM;
	displace(wheel, node);
	place(wheel, index, node, deadline);
	return DW_OK;
}

int dw_wheel_move(dw_wheel *wheel, dw_wheel_handle handle, int64_t deadline_signed)
{
	uint64_t deadline = wheel_encode(deadline_signed);
	uint32_t index = dw_wheel_index(handle);
	struct wheel_node *node;

	if (!wheel)
		return DW_EINVAL;
	node = wheel_nodes_find(wheel, handle);
	if (!node)
		return DW_ENOENT;
	if (BITS_RARE(deadline < wheel->current || !wheel_slots_can_gap(wheel, index, node)))
		return move_rarely(wheel, index, node, deadline);
	wheel_slots_gap(wheel, node);
	wheel_node_set_deadline(node, deadline);
	wheel_slots_append(wheel, wheel_slots_choose(wheel, deadline), index, node);
	return DW_OK;
}

int dw_wheel_deadline(const dw_wheel *wheel, dw_wheel_handle handle, int64_t *ret_deadline)
{
	const struct wheel_node *node;

	if (!wheel || !ret_deadline)
		return DW_EINVAL;
	node = wheel_nodes_find(wheel, handle);
	if (!node)
		return DW_ENOENT;
	*ret_deadline = wheel_decode(wheel_node_deadline(node));
	return DW_OK;
}

size_t dw_wheel_count(const dw_wheel *wheel)
{
	return wheel ? wheel->count : 0;
}

int64_t dw_wheel_now(const dw_wheel *wheel)
{
	return wheel ? wheel_decode(wheel->current) : 0;
}

size_t dw_wheel_bytes(const dw_wheel *wheel)
{
	if (!wheel)
		return 0;
	return sizeof(*wheel) + wheel_nodes_bytes(wheel) + wheel_overdue_bytes(wheel);
}
