/*
 * side_heap.h: a binary heap of (deadline, order, object) in one array, as a std::priority_queue.
 *
 * Such a queue cannot take an entry out of its middle. So a cancel forgets the order that the
 * object has, and its entry is passed over when it comes to the top. When more than half of the
 * entries are such, the others are made a new heap, as asyncio of Python does.
 */
#ifndef BENCH_SIDE_HEAP_H
#define BENCH_SIDE_HEAP_H

#include "bench/bench_support.h"
#include "bench/sides.h"

#define HEAP_DEAD_LEAST 100

struct heap_object {
	struct body body;
	uint64_t order; /* of its live entry; 0: none */
};

struct heap_entry {
	int64_t deadline;
	uint64_t order; /* of insertion, from 1 */
	struct heap_object *object;
};

struct heap_side {
	struct heap_entry *entries;
	size_t count;
	size_t dead;
	size_t room;
	uint64_t order;
	struct heap_object *objects;
	struct record *record;
	size_t n;
	int64_t now;
};

static void heap_open(struct heap_side *side, size_t n, struct record *record)
{
	*side = (struct heap_side){.n = n, .record = record, .room = 64};
	side->entries = bench_alloc(side->room, sizeof(*side->entries));
	side->objects = bench_alloc(n, sizeof(*side->objects));
	for (size_t i = 0; i < n; i++)
		side->objects[i].body.number = i;
}

static void heap_close(struct heap_side *side)
{
	free(side->entries);
	free(side->objects);
}

static void heap_begin(struct heap_side *side, int64_t now)
{
	side->now = now;
}

static int64_t heap_now(const struct heap_side *side)
{
	return side->now;
}

BENCH_INLINE bool heap_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->deadline < b->deadline || (a->deadline == b->deadline && a->order < b->order);
}

BENCH_INLINE void heap_up(struct heap_entry *entries, size_t at, struct heap_entry entry)
{
	while (at > 0 && heap_before(&entry, &entries[(at - 1) / 2])) {
		entries[at] = entries[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	entries[at] = entry;
}

/* heap_down: the hole goes down to a leaf, then the entry up from there, as std::pop_heap does. */
BENCH_INLINE void heap_down(struct heap_entry *entries, size_t count, size_t at)
{
	struct heap_entry entry = entries[at];
	size_t top = at, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && heap_before(&entries[child + 1], &entries[child]))
			child++;
		entries[at] = entries[child];
		at = child;
	}
	while (at > top && heap_before(&entry, &entries[(at - 1) / 2])) {
		entries[at] = entries[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	entries[at] = entry;
}

/* heap_sweep: only live entries stay. */
static void heap_sweep(struct heap_side *side)
{
	size_t live = 0;

	for (size_t i = 0; i < side->count; i++)
		if (side->entries[i].object->order == side->entries[i].order)
			side->entries[live++] = side->entries[i];
	side->count = live;
	side->dead = 0;
	for (size_t i = live / 2; i-- > 0;)
		heap_down(side->entries, live, i);
}

static void heap_grow(struct heap_side *side)
{
	side->room *= 2;
	side->entries = realloc(side->entries, side->room * sizeof(*side->entries));
	bench_require(side->entries != NULL, "out of memory");
}

BENCH_INLINE void heap_arm(struct heap_side *side, struct heap_object *object, int64_t deadline)
{
	object->order = ++side->order;
	if (side->count == side->room)
		heap_grow(side);
	heap_up(side->entries, side->count++, (struct heap_entry){deadline, object->order, object});
}

BENCH_INLINE void heap_bury(struct heap_side *side)
{
	if (++side->dead > HEAP_DEAD_LEAST && side->dead > side->count / 2)
		heap_sweep(side);
}

BENCH_INLINE void heap_add(struct heap_side *side, uint32_t id, int64_t deadline)
{
	side->objects[id].body.touched++;
	heap_arm(side, &side->objects[id], deadline);
}

BENCH_INLINE void heap_cancel(struct heap_side *side, uint32_t id)
{
	side->objects[id].body.touched++;
	side->objects[id].order = 0;
	heap_bury(side);
}

BENCH_INLINE void heap_move(struct heap_side *side, uint32_t id, int64_t deadline)
{
	heap_add(side, id, deadline);
	heap_bury(side);
}

/* heap_pop: the first object, or NULL when its entry is dead. */
BENCH_INLINE struct heap_object *heap_pop(struct heap_side *side)
{
	struct heap_entry first = side->entries[0];

	side->entries[0] = side->entries[--side->count];
	if (side->count > 1)
		heap_down(side->entries, side->count, 0);
	if (first.object->order == first.order) {
		first.object->order = 0;
		return first.object;
	}
	side->dead--;
	return NULL;
}

BENCH_INLINE void heap_advance(struct heap_side *side, int64_t now, bool rearm)
{
	side->now = now;
	while (side->count > 0 && side->entries[0].deadline <= now) {
		struct heap_object *object = heap_pop(side);

		if (!object)
			continue;
		record_fired(side->record, &object->body);
		if (rearm)
			heap_arm(side, object, now + record_delay(side->record));
	}
}

BENCH_INLINE int64_t heap_next(struct heap_side *side)
{
	return side->count > 0 ? side->entries[0].deadline : INT64_MAX;
}

/* heap_bytes: the array with its room, and the orders in the objects. */
static double heap_bytes(const struct heap_side *side)
{
	return (double)(side->room * sizeof(*side->entries) + side->n * sizeof(uint64_t));
}

#endif
