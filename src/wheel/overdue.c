/*
 * overdue.c: a heap of overdue timers, ordered by deadline and then by insertion.
 *
 * The lists of the wheel only hold deadlines at or after the current time. Earlier deadlines go to
 * this heap:
 * - a timer that was added with a deadline in the past,
 * - the timers that fell due while the program was down,
 * - after the clock was stepped back, new timers between the clock's time and the wheel's.
 *
 * It is a heap because the order must be exact and such timers come in any order. If they come in
 * order, which is usual, a push takes one compare. A node has four children, so a million timers
 * need 10 levels instead of 20.
 *
 * The entries lie in chunks, which are allocated as the heap grows and freed as it shrinks. A
 * cancelled timer leaves a dead entry, which is removed when it reaches the top or is swept. The
 * sweep walks from the last entry to the first: the entry that fills a hole has then nearly always
 * been swept already.
 *
 * Invariant: every deadline in the heap is below wheel->current, and every other deadline in the
 * wheel is not. So, if the heap is not empty, its first entry is the first of the wheel.
 */
#include "wheel/overdue.h"

#include "wheel/time.h"

#define CHILDREN 4u
#define CHUNK_BITS 10u
#define CHUNK_ITEMS (1u << CHUNK_BITS)

struct item {
	struct wheel_entry entry;
	uint64_t sequence;
};

static struct item *item_at(const dw_wheel *wheel, uint32_t position)
{
	struct item *chunk = wheel->overdue.chunks[position >> CHUNK_BITS];

	return chunk + (position & (CHUNK_ITEMS - 1));
}

static bool before(const struct item *a, const struct item *b)
{
	if (a->entry.deadline != b->entry.deadline)
		return a->entry.deadline < b->entry.deadline;
	return a->sequence < b->sequence;
}

static uint32_t sift_up(dw_wheel *wheel, uint32_t position, const struct item *item)
{
	while (position) {
		uint32_t parent = (position - 1) / CHILDREN;

		if (!before(item, item_at(wheel, parent)))
			break;
		*item_at(wheel, position) = *item_at(wheel, parent);
		position = parent;
	}
	return position;
}

static uint32_t first_child(const dw_wheel *wheel, uint32_t position)
{
	uint32_t child = position * CHILDREN + 1;
	uint32_t end = child + CHILDREN;
	uint32_t best = child;

	if (end > wheel->overdue.count)
		end = wheel->overdue.count;
	while (++child < end)
		if (before(item_at(wheel, child), item_at(wheel, best)))
			best = child;
	return best;
}

static uint32_t sift_down(dw_wheel *wheel, uint32_t position, const struct item *item)
{
	/* Positions are below 2^30, but a child's position may not fit in 32 bits. */
	while ((uint64_t)position * CHILDREN + 1 < wheel->overdue.count) {
		uint32_t child = first_child(wheel, position);

		if (!before(item_at(wheel, child), item))
			break;
		*item_at(wheel, position) = *item_at(wheel, child);
		position = child;
	}
	return position;
}

static void *resize(const dw_wheel *wheel, void *block, size_t size_bytes)
{
	return wheel->allocator.resize(wheel->allocator.user, block, size_bytes);
}

static int grow_table(dw_wheel *wheel)
{
	struct wheel_overdue *overdue = &wheel->overdue;
	uint32_t capacity = overdue->chunks_capacity ? overdue->chunks_capacity * 2 : 4;
	void **table = resize(wheel, overdue->chunks, capacity * sizeof(*table));

	if (!table)
		return DW_ENOMEM;
	overdue->chunks = table;
	overdue->chunks_capacity = capacity;
	return DW_OK;
}

int wheel_overdue_reserve(dw_wheel *wheel)
{
	struct wheel_overdue *overdue = &wheel->overdue;
	void *chunk;

	if (overdue->count < (uint64_t)overdue->chunks_count * CHUNK_ITEMS)
		return DW_OK;
	if (overdue->chunks_count == overdue->chunks_capacity && grow_table(wheel) < 0)
		return DW_ENOMEM;
	chunk = resize(wheel, NULL, CHUNK_ITEMS * sizeof(struct item));
	if (!chunk)
		return DW_ENOMEM;
	overdue->chunks[overdue->chunks_count++] = chunk;
	return DW_OK;
}

/* drop_chunks frees all chunks but the first `keep`. */
static void drop_chunks(dw_wheel *wheel, uint32_t keep)
{
	struct wheel_overdue *overdue = &wheel->overdue;

	while (overdue->chunks_count > keep)
		(void)resize(wheel, overdue->chunks[--overdue->chunks_count],
			     0); /* freeing returns NULL */
}

void wheel_overdue_push(dw_wheel *wheel, struct wheel_entry entry)
{
	struct wheel_entry lasting = {entry.deadline, wheel_name_make_last(wheel, entry.name)};
	struct item item = {lasting, wheel->overdue.sequence++};
	uint32_t position = wheel->overdue.count++;

	assert(entry.deadline < wheel->current);
	*item_at(wheel, sift_up(wheel, position, &item)) = item;
}

/* remove_at removes an entry. Frees the last chunk if the one before it is empty too, but never the
 * first chunk. */
static void remove_at(dw_wheel *wheel, uint32_t position)
{
	struct wheel_overdue *overdue = &wheel->overdue;
	struct item last = *item_at(wheel, --overdue->count);

	if (position < overdue->count) {
		uint32_t up = sift_up(wheel, position, &last);

		if (up == position)
			up = sift_down(wheel, position, &last);
		*item_at(wheel, up) = last;
	}
	if (overdue->chunks_count > 1 &&
	    overdue->count <= (overdue->chunks_count - 2) * CHUNK_ITEMS)
		drop_chunks(wheel, overdue->chunks_count - 1);
}

uint64_t wheel_overdue_next(const dw_wheel *wheel)
{
	return item_at(wheel, 0)->entry.deadline;
}

size_t wheel_overdue_take(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max,
			  size_t *moves)
{
	size_t taken = 0;

	while (taken < max && *moves && wheel->overdue.count) {
		struct wheel_entry first = item_at(wheel, 0)->entry;

		if (first.deadline > now)
			break;
		remove_at(wheel, 0);
		wheel_entries_gone(wheel, 1);
		if (!wheel_live(wheel, first.name)) {
			(*moves)--;
			continue;
		}
		out[taken].handle = wheel_handle_of(first.name);
		out[taken++].deadline = wheel_decode(first.deadline);
		wheel_names_give(wheel, first.name);
	}
	return taken;
}

bool wheel_overdue_sweep(dw_wheel *wheel, unsigned max)
{
	struct wheel_overdue *overdue = &wheel->overdue;

	if (overdue->swept > overdue->count)
		overdue->swept = overdue->count;
	while (overdue->swept && max--) {
		overdue->swept--;
		if (wheel_live(wheel, item_at(wheel, overdue->swept)->entry.name))
			continue;
		remove_at(wheel, overdue->swept);
		wheel_entries_gone(wheel, 1);
		/* Another entry was moved to this place. */
		overdue->swept += overdue->swept < overdue->count;
	}
	if (overdue->swept)
		return true;
	overdue->swept = UINT32_MAX;
	return false;
}

void wheel_overdue_clear(dw_wheel *wheel)
{
	wheel->overdue.count = 0;
	if (wheel->overdue.chunks_count > 1)
		drop_chunks(wheel, 1);
}

void wheel_overdue_free(dw_wheel *wheel)
{
	drop_chunks(wheel, 0);
	if (wheel->overdue.chunks)
		(void)resize(wheel, wheel->overdue.chunks, 0); /* freeing returns NULL */
}

size_t wheel_overdue_bytes(const dw_wheel *wheel)
{
	const struct wheel_overdue *overdue = &wheel->overdue;

	return overdue->chunks_count * CHUNK_ITEMS * sizeof(struct item) +
	       overdue->chunks_capacity * sizeof(*overdue->chunks);
}

bool wheel_overdue_check(const dw_wheel *wheel, struct wheel_lives *lives)
{
	for (uint32_t position = 0; position < wheel->overdue.count; position++) {
		const struct item *item = item_at(wheel, position);
		const struct item *parent =
		    item_at(wheel, position ? (position - 1) / CHILDREN : 0);

		if (item->entry.deadline >= wheel->current || before(item, parent))
			return false;
		if (!wheel_name_lasts(item->entry.name) ||
		    !wheel_names_meet(wheel, item->entry.name, lives))
			return false;
	}
	return true;
}
