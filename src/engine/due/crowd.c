#include "engine/due/crowd.h"

#include <assert.h>

#define ROOM_FIRST 64u
#define TIME_OUT (UINT64_C(1) << 63)

/* rank_of returns the order of a timer among timers with the same time: starts in the order of
 * generation, then time-outs. A generation is below TIME_OUT. */
static uint64_t rank_of(const struct timer *timer)
{
	bool starts = timer->state == TIMER_CLAIMED && !timer->gathered && !timer->backing_off;

	return timer->head.generation | (starts ? 0 : TIME_OUT);
}

static bool is_before(const struct crowd_entry *a, const struct crowd_entry *b)
{
	return a->at < b->at || (a->at == b->at && a->rank < b->rank);
}

int crowd_reserve(struct crowd *crowd, const struct alloc *alloc)
{
	uint32_t room = crowd->room ? 2 * crowd->room : ROOM_FIRST;
	struct crowd_entry *entries;

	if (crowd->count < crowd->room)
		return DW_OK;
	entries = alloc->resize(alloc->user, crowd->entries, room * sizeof *entries);
	if (!entries)
		return DW_ENOMEM;
	crowd->entries = entries;
	crowd->room = room;
	return DW_OK;
}

void crowd_free(struct crowd *crowd, const struct alloc *alloc)
{
	alloc_free(alloc, crowd->entries);
	*crowd = (struct crowd){0};
}

static void put_at(struct crowd *crowd, uint32_t at, struct crowd_entry entry)
{
	crowd->entries[at] = entry;
	entry.timer->slot = at;
}

/* rise puts the entry at the free place `at`, or nearer to the root. */
static void rise(struct crowd *crowd, uint32_t at, struct crowd_entry entry)
{
	while (at > 0 && is_before(&entry, &crowd->entries[(at - 1) / 2])) {
		put_at(crowd, at, crowd->entries[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put_at(crowd, at, entry);
}

/* sink puts the entry at the free place `at`, or farther from the root. */
static void sink(struct crowd *crowd, uint32_t at, struct crowd_entry entry)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < crowd->count &&
		    is_before(&crowd->entries[child + 1], &crowd->entries[child]))
			child++;
		if (child >= crowd->count || !is_before(&crowd->entries[child], &entry))
			break;
		put_at(crowd, at, crowd->entries[child]);
		at = child;
	}
	put_at(crowd, at, entry);
}

void crowd_add(struct crowd *crowd, struct timer *timer)
{
	struct crowd_entry entry = {timer->slot_time, rank_of(timer), timer};

	assert(crowd->count < crowd->room && !timer->crowded);
	timer->crowded = true;
	rise(crowd, crowd->count++, entry);
}

void crowd_remove(struct crowd *crowd, struct timer *timer)
{
	uint32_t at = (uint32_t)timer->slot;
	struct crowd_entry last = crowd->entries[--crowd->count];

	assert(crowd->entries[at].timer == timer);
	if (at < crowd->count && at > 0 && is_before(&last, &crowd->entries[(at - 1) / 2]))
		rise(crowd, at, last);
	else if (at < crowd->count)
		sink(crowd, at, last);
	timer->crowded = false;
	timer->slot = 0;
}

bool crowd_has(const struct crowd *crowd, const struct timer *timer)
{
	return timer->slot < crowd->count && crowd->entries[timer->slot].timer == timer;
}

bool crowd_check(const struct crowd *crowd)
{
	for (uint32_t i = 1; i < crowd->count; i++)
		if (is_before(&crowd->entries[i], &crowd->entries[(i - 1) / 2]))
			return false;
	return crowd->count <= crowd->room;
}
