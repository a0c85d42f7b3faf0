/*
 * soon.c: a sorted array. It has at most 2 KiB, so an insertion sort is the fastest method.
 */
#include "wheel/soon.h"

/* close_ranks moves the entries to the start of the array, so that its free room is at the end. */
static void close_ranks(struct wheel_soon *soon)
{
	memmove(soon->entries, soon->entries + soon->first,
		(soon->end - soon->first) * sizeof(*soon->entries));
	soon->end -= soon->first;
	soon->first = 0;
}

void wheel_soon_put(dw_wheel *wheel, struct wheel_entry entry)
{
	struct wheel_soon *soon = &wheel->soon;
	uint32_t at;

	assert(wheel_soon_count(wheel) < WHEEL_SOON_MAX);
	if (soon->end == WHEEL_SOON_MAX)
		close_ranks(soon);
	for (at = soon->end++; at > soon->first; at--) {
		if (soon->entries[at - 1].deadline <= entry.deadline)
			break;
		soon->entries[at] = soon->entries[at - 1];
	}
	soon->entries[at] = entry;
}

void wheel_soon_sweep(dw_wheel *wheel)
{
	struct wheel_soon *soon = &wheel->soon;
	uint32_t to = 0;

	for (uint32_t from = soon->first; from < soon->end; from++) {
		uint64_t name = wheel_names_age(wheel, soon->entries[from].name);

		if (name)
			soon->entries[to++] =
			    (struct wheel_entry){soon->entries[from].deadline, name};
	}
	wheel_entries_gone(wheel, wheel_soon_count(wheel) - to);
	soon->first = 0;
	soon->end = to;
}

bool wheel_soon_check(const dw_wheel *wheel, struct wheel_lives *lives)
{
	const struct wheel_soon *soon = &wheel->soon;
	uint64_t before = wheel->current;

	if (soon->end > WHEEL_SOON_MAX || soon->first > soon->end)
		return false;
	for (uint32_t at = soon->first; at < soon->end; at++) {
		const struct wheel_entry *entry = &soon->entries[at];

		if (entry->deadline < before || !wheel_names_meet(wheel, entry->name, lives))
			return false;
		before = entry->deadline;
	}
	return true;
}
