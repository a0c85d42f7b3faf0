/*
 * advance.c: moves the current time on, drains slots towards it, and takes out due timers.
 *
 * The current time moves in one of three ways: to the next due timer; to the tick before the next
 * occupied slot and, once that slot is empty, to its start; or to `now`, if no timer is left before
 * it. Little is usually left to drain by then, because open slots are drained ahead of their time.
 * All moves of one call share one allowance, so a jump of the clock leads to many short calls
 * instead of one long one.
 */
#include <durawheel/wheel.h>

#include "wheel/names.h"
#include "wheel/overdue.h"
#include "wheel/slots.h"
#include "wheel/soon.h"
#include "wheel/sweep.h"

#include <stdbool.h>

/*
 * sink moves the live entries from `at` to `end` of a ring's block one level down. The branch
 * predictor cannot guess which entries are dead. Therefore a dead entry is also written after the
 * last entry of its list, but not counted: the next entry overwrites it.
 */
static void sink(dw_wheel *wheel, unsigned ring, const union wheel_cell *at,
		 const union wheel_cell *end)
{
	uint32_t dead = 0;

	for (; at < end; at++) {
		struct wheel_entry entry = at->entry;
		bool live = wheel_live(wheel, entry.name);
		uint32_t list = wheel_list_below(ring, entry.deadline);

		dead += !live;
		if (wheel_list_full(wheel, list)) {
			if (!live)
				continue;
			wheel_slots_extend(wheel, list, entry.deadline);
		}
		wheel->pool.cells[wheel_list_end(wheel, list)].entry = entry;
		wheel->tails[list] += live;
	}
	wheel_entries_gone(wheel, dead);
}

/*
 * drain handles at most max entries of the ring's earliest slot, and moves the live ones one level
 * down. Returns how many entries were handled.
 */
static size_t drain(dw_wheel *wheel, unsigned ring, size_t max)
{
	uint32_t from = wheel_ring_list(ring, wheel->rings[ring].next);
	struct wheel_list *list = &wheel->lists[from];
	size_t handled = 0;

	while (handled < max && list->head != WHEEL_NONE) {
		const union wheel_cell *cells =
		    &wheel->pool.cells[(size_t)list->head << WHEEL_BLOCK_BITS];
		struct wheel_head *head = wheel_head(wheel, list->head);
		uint32_t end = wheel_block_end(wheel, from, list->head);
		uint32_t some = end - head->first;

		wheel_slots_fetch(wheel, from);
		if (some > max - handled)
			some = (uint32_t)(max - handled);
		sink(wheel, ring, cells + head->first, cells + head->first + some);
		handled += some;
		head->first += some;
		if (head->first == end)
			wheel_slots_pop(wheel, from);
	}
	return handled;
}

/* is_sparse returns true if all entries of this slot, which begins at `start`, can be sorted. It
 * returns false if a lower level holds entries of the same time, because those are older and must
 * fire first. */
static bool is_sparse(const dw_wheel *wheel, unsigned ring, uint64_t start)
{
	uint32_t blocks = wheel->lists[wheel_ring_list(ring, start)].blocks;
	uint64_t width = UINT64_C(1) << wheel_ring_shift(ring);

	if (blocks * WHEEL_BLOCK_ENTRIES > WHEEL_SOON_MAX - wheel_soon_count(wheel))
		return false;
	while (ring-- > 0)
		if (wheel->rings[ring].next - start < width)
			return false;
	return true;
}

/* sort_slot moves all live entries of a sparse slot into the sorted array. */
static void sort_slot(dw_wheel *wheel, unsigned ring, uint64_t start, size_t *moves)
{
	uint32_t from = wheel_ring_list(ring, start);

	while (wheel->lists[from].head != WHEEL_NONE) {
		uint32_t block = wheel->lists[from].head;
		uint32_t end = wheel_block_end(wheel, from, block);
		uint32_t at = wheel_head(wheel, block)->first;
		const union wheel_cell *cells = &wheel->pool.cells[block << WHEEL_BLOCK_BITS];

		*moves -= end - at < *moves ? end - at : *moves;
		wheel_slots_fetch(wheel, from);
		for (; at < end; at++)
			if (wheel_live(wheel, cells[at].entry.name))
				wheel_soon_put(wheel, cells[at].entry);
			else
				wheel_entries_gone(wheel, 1);
		wheel_slots_pop(wheel, from);
	}
}

/* enter drains the slots that begin at `start`, before the current time enters them. One pass from
 * the highest ring down is enough. Returns false if the allowance is used up. */
static bool enter(dw_wheel *wheel, uint64_t start, size_t *moves)
{
	for (unsigned ring = WHEEL_RINGS; --ring > 0;) {
		if (wheel->rings[ring].next != start)
			continue;
		if (is_sparse(wheel, ring, start)) {
			sort_slot(wheel, ring, start, moves);
			continue;
		}
		*moves -= drain(wheel, ring, *moves);
		if (wheel->rings[ring].next == start)
			return false;
	}
	return true;
}

/* load moves the current bucket into the fine level or the sorted array. Returns false if the
 * allowance is used up. */
static bool load(dw_wheel *wheel, size_t *moves)
{
	uint64_t bucket = wheel_bucket(wheel->current);

	if (wheel->rings[0].next == bucket) {
		if (!wheel->loading && is_sparse(wheel, 0, bucket))
			sort_slot(wheel, 0, bucket, moves);
		else
			*moves -= drain(wheel, 0, *moves);
	}
	wheel->loading = wheel->rings[0].next == bucket;
	return !wheel->loading;
}

/* take_list takes out at most max timers of one fine list, oldest first. */
static size_t take_list(dw_wheel *wheel, uint32_t from, dw_wheel_due *out, size_t max,
			size_t *moves)
{
	struct wheel_list *list = &wheel->lists[from];
	int64_t deadline = wheel_decode(wheel->current);
	size_t taken = 0;

	while (taken < max && *moves && list->head != WHEEL_NONE) {
		uint32_t first_cell = list->head << WHEEL_BLOCK_BITS;
		struct wheel_head *head = wheel_head(wheel, list->head);
		uint32_t end = wheel_block_end(wheel, from, list->head), at = head->first;

		for (; at < end && taken < max && *moves; at++) {
			struct wheel_entry entry = wheel->pool.cells[first_cell + at].entry;

			wheel_entries_gone(wheel, 1);
			if (!wheel_live(wheel, entry.name)) {
				(*moves)--;
				continue;
			}
			out[taken].handle = wheel_handle_of(entry.name);
			out[taken++].deadline = deadline;
			wheel_names_give(wheel, entry.name);
		}
		head->first = at;
		if (at == end)
			wheel_slots_pop(wheel, from);
	}
	return taken;
}

/* take_soon takes out the first entry of the sorted array. Returns 1, or 0 if the entry was
 * dead. */
static size_t take_soon(dw_wheel *wheel, dw_wheel_due *out, size_t *moves)
{
	struct wheel_entry entry = wheel->soon.entries[wheel->soon.first++];

	wheel_entries_gone(wheel, 1);
	if (!wheel_live(wheel, entry.name)) {
		(*moves)--;
		return 0;
	}
	out->handle = wheel_handle_of(entry.name);
	out->deadline = wheel_decode(entry.deadline);
	wheel_names_give(wheel, entry.name);
	return 1;
}

/*
 * next_known returns the earliest deadline in the fine level and the sorted array, where deadlines
 * are exact.
 */
static uint64_t next_known(const dw_wheel *wheel)
{
	uint64_t fine = wheel_slots_fine(wheel), soon = wheel_soon_next(wheel);

	return soon < fine ? soon : fine;
}

/* is_known returns true if the fine level or the sorted array has entries. */
static bool is_known(const dw_wheel *wheel)
{
	return wheel->fine_words || wheel_soon_count(wheel);
}

/*
 * take_known takes out at most max due timers of the fine level and the sorted array, and moves the
 * current time with them. No slot of a ring may begin at or before `until`.
 */
static size_t take_known(dw_wheel *wheel, uint64_t until, dw_wheel_due *out, size_t max,
			 size_t *moves)
{
	size_t taken = 0;

	while (taken < max && *moves && is_known(wheel)) {
		uint64_t time = next_known(wheel);
		uint32_t list = (uint32_t)time & (WHEEL_FINE_LISTS - 1);

		if (time > until)
			break;
		wheel_set_current(wheel, time);
		if (wheel_soon_count(wheel) && wheel_soon_next(wheel) == time)
			taken += take_soon(wheel, out + taken, moves);
		else
			taken += take_list(wheel, list, out + taken, max - taken, moves);
	}
	return taken;
}

/* piece_time returns the time between two pieces of the ring's earliest slot, so that the whole
 * slot is drained between `base` and its start. It returns 0 if the slot has at most one piece and
 * can wait for its start. */
static uint64_t piece_time(const dw_wheel *wheel, unsigned ring, uint64_t base)
{
	const struct wheel_ring *at = &wheel->rings[ring];
	uint32_t blocks = wheel->lists[wheel_ring_list(ring, at->next)].blocks;
	uint64_t count = (uint64_t)blocks * WHEEL_BLOCK_ENTRIES;
	uint64_t span = at->next - base, time;

	if (count <= WHEEL_PIECE)
		return 0;
	time = span / count * WHEEL_PIECE + span % count * WHEEL_PIECE / count;
	return time ? time : 1;
}

/*
 * drained_until returns the time until which the ring's earliest slot has been drained in
 * proportion. If no piece was drained yet, it returns the time at which the slot opens.
 */
static uint64_t drained_until(const dw_wheel *wheel, unsigned ring)
{
	const struct wheel_ring *at = &wheel->rings[ring];
	uint64_t opens = wheel_ring_opens(ring, at->next);

	return opens > at->drained ? opens : at->drained;
}

/* work_time returns when to drain the ring's earliest slot next. The slot must exist. */
static uint64_t work_time(const dw_wheel *wheel, unsigned ring)
{
	uint64_t base = drained_until(wheel, ring);
	uint64_t start = wheel->rings[ring].next;
	uint64_t piece;

	if (base >= start)
		return start;
	piece = piece_time(wheel, ring, base);
	return piece && piece < start - base ? base + piece : start;
}

/* drain_piece drains as many whole pieces of the ring's earliest slot as are due by now. */
static void drain_piece(dw_wheel *wheel, unsigned ring, size_t *moves)
{
	uint64_t base = drained_until(wheel, ring);
	uint64_t pieces, piece;

	if (wheel->current <= base || wheel->rings[ring].next <= base)
		return;
	piece = piece_time(wheel, ring, base);
	if (!piece || wheel->current - base < piece)
		return;
	pieces = (wheel->current - base) / piece;
	if (pieces > *moves / WHEEL_PIECE)
		pieces = *moves / WHEEL_PIECE;
	*moves -= drain(wheel, ring, (size_t)pieces * WHEEL_PIECE);
	wheel->rings[ring].drained = wheel->current;
}

/* look_ahead drains open slots in proportion to the time left, and sets work_at to the next
 * time. */
static void look_ahead(dw_wheel *wheel, size_t moves)
{
	uint64_t work_at;

	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++)
		if (wheel->rings[ring].next != WHEEL_NEVER)
			drain_piece(wheel, ring, &moves);
	work_at =
	    wheel->rings[0].next; /* read after draining, which may have put entries before it */
	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++) {
		uint64_t start = wheel->rings[ring].next;
		uint64_t opens = wheel_ring_opens(ring, start);
		uint64_t at;

		if (start == WHEEL_NEVER)
			continue;
		/* More timers may come into the slot before it opens. So look again when it
		 * opens. */
		at = opens > wheel->current ? opens : work_time(wheel, ring);
		if (at < work_at)
			work_at = at;
	}
	wheel->work_at = work_at;
}

/* fetch_next prefetches the entries with which the next advances begin to drain. */
static void fetch_next(const dw_wheel *wheel)
{
	for (unsigned ring = 0; ring < 2; ring++)
		if (wheel->rings[ring].next != WHEEL_NEVER) {
			uint32_t list = wheel_ring_list(ring, wheel->rings[ring].next);

			bits_prefetch(wheel_head(wheel, wheel->lists[list].head));
		}
}

/*
 * take_rings takes out due timers that may lie beyond the current bucket. The current time may
 * jump. If the allowance is used up, the next advance calls take_rings again.
 */
static size_t take_rings(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max,
			 size_t *moves)
{
	size_t taken = 0;

	wheel->work_at = 0;
	for (;;) {
		uint64_t next, until;

		if (!load(wheel, moves))
			return taken;
		next = wheel->rings_next;
		until = next > wheel_bucket(now) ? now : next - 1;
		taken += take_known(wheel, until, out + taken, max - taken, moves);
		if (is_known(wheel) && next_known(wheel) <= until)
			return taken;
		if (next > wheel_bucket(now))
			break;
		wheel_set_current(wheel, next - 1);
		if (!enter(wheel, next, moves))
			return taken;
		wheel_set_current(wheel, next);
	}
	wheel_set_current(wheel, now);
	look_ahead(wheel, *moves);
	fetch_next(wheel);
	return taken;
}

static size_t advance(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max)
{
	size_t moves = max < SIZE_MAX / 8 ? max * WHEEL_MOVES_EACH + WHEEL_MOVES : SIZE_MAX;
	size_t taken = 0;

	if (wheel->overdue.count)
		taken = wheel_overdue_take(wheel, now, out, max, &moves);
	/* If the clock went back, or max was reached, no other timer may come out now. */
	if (wheel->overdue.count || now < wheel->current)
		return taken;
	if (now >= wheel->work_at)
		return taken + take_rings(wheel, now, out + taken, max - taken, &moves);
	taken += take_known(wheel, now, out + taken, max - taken, &moves);
	if (!is_known(wheel) || next_known(wheel) > now)
		wheel_set_current(wheel, now);
	return taken;
}

/* idle_until returns the time at which the next timer is due or the next slot needs draining. */
static uint64_t idle_until(const dw_wheel *wheel)
{
	uint64_t known = wheel->overdue.count ? wheel_overdue_next(wheel) : next_known(wheel);

	return known < wheel->work_at ? known : wheel->work_at;
}

size_t dw_wheel_advance(dw_wheel *wheel, int64_t now_signed, dw_wheel_due *out, size_t max)
{
	uint64_t now = wheel_encode(now_signed);
	size_t taken;

	if (!wheel || (!out && max))
		return 0;
	if (now < wheel->idle_until) {
		if (now > wheel->current)
			wheel_set_current(wheel, now);
		return 0;
	}
	taken = advance(wheel, now, out, max);
	if (!wheel_count(wheel))
		wheel_sweep_tidy(wheel);
	wheel->idle_until = idle_until(wheel);
	return taken;
}

int64_t dw_wheel_next(const dw_wheel *wheel)
{
	uint64_t next, known;

	if (!wheel || !wheel_count(wheel))
		return INT64_MAX;
	if (wheel->overdue.count)
		return wheel_decode(wheel_overdue_next(wheel));
	known = next_known(wheel);
	next = wheel->rings_next < known ? wheel->rings_next : known;
	/* An unfinished advance leaves timers of the current bucket in ring 0, and some may be
	 * due. */
	return wheel_decode(next > wheel->current ? next : wheel->current);
}

int64_t dw_wheel_next_work(const dw_wheel *wheel)
{
	int64_t earliest = dw_wheel_next(wheel);

	if (!wheel || !wheel_count(wheel))
		return earliest;
	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++) {
		uint64_t time;

		if (wheel->rings[ring].next == WHEEL_NEVER)
			continue;
		/* An advance before work_at does nothing, even if the slot has got more timers. */
		time = work_time(wheel, ring);
		if (time < wheel->work_at)
			time = wheel->work_at;
		if (wheel_decode(time) < earliest)
			earliest = wheel_decode(time);
	}
	return earliest;
}
