/*
 * advance.c: time passes: slots are drained towards the present and what is due is taken out.
 *
 * The present only ever moves to the next due timer, to the start of the next occupied slot, or,
 * when nothing before it is left, to `now`. A slot that begins at the present is emptied before
 * anything fires ("settle"); that is usually little, because open slots were drained ahead of their
 * time. All moves of one call come out of one allowance, so that a jump of the clock makes many
 * short calls and not one long one.
 */
#include <durawheel/wheel.h>

#include "wheel/nodes.h"
#include "wheel/overdue.h"
#include "wheel/slots.h"

#include <stdbool.h>

/* lower_list: the list one level below ring for a timer of its open slot. */
static inline uint32_t lower_list(unsigned ring, uint64_t deadline)
{
	if (ring == 0)
		return (uint32_t)deadline & (WHEEL_FINE_LISTS - 1);
	return wheel_ring_list(ring - 1, deadline);
}

/*
 * drain: move at most max timers of the ring's earliest slot one level down; returns how many.
 *
 * Each step waits for the node that the last one named. So a second walk comes from the list's
 * other end, which only fetches: what the first one finds in its second half is in the cache.
 */
static size_t drain(dw_wheel *wheel, unsigned ring, size_t max)
{
	uint32_t from = wheel_ring_list(ring, wheel->rings[ring].next);
	struct wheel_list *list = &wheel->lists[from];
	size_t fetches = list->count <= max ? list->count / 2 : 0;
	uint32_t index = list->tail, other = list->head;
	size_t moved = 0;

	while (moved < max) {
		struct wheel_node *node = wheel_node_at(wheel, index);
		uint32_t prev = node->prev;

		if (moved < fetches && !(other & WHEEL_END)) {
			bits_prefetch(wheel_node_at(wheel, other));
			other = wheel_node_at(wheel, other)->next;
		}

		if (!(prev & WHEEL_END))
			bits_prefetch(wheel_node_at(wheel, prev));
		wheel_slots_prepend(wheel, lower_list(ring, wheel_node_deadline(node)), index,
				    node);
		moved++;
		if (prev & WHEEL_END) {
			wheel_slots_vacate(wheel, from);
			return moved;
		}
		index = prev;
	}
	list->tail = index;
	list->count -= moved;
	wheel_node_at(wheel, index)->next = WHEEL_END | from;
	return moved;
}

/*
 * settle: bring every timer of the current bucket into the fine level. From the top down, so one
 * pass is enough. False when the allowance was used up first.
 */
static bool settle(dw_wheel *wheel, size_t *moves)
{
	uint64_t bucket = wheel_bucket(wheel->current);

	for (unsigned ring = WHEEL_RINGS; ring-- > 0;) {
		if (wheel->rings[ring].next > bucket)
			continue;
		*moves -= drain(wheel, ring, *moves);
		if (wheel->rings[ring].next <= bucket)
			return false;
	}
	return true;
}

/* take_list: at most max timers of one fine list, oldest first. */
static size_t take_list(dw_wheel *wheel, uint32_t from, dw_wheel_due *out, size_t max)
{
	struct wheel_list *list = &wheel->lists[from];
	int64_t deadline = wheel_decode(wheel->current);
	uint32_t index = list->head;

	for (size_t taken = 0; taken < max;) {
		struct wheel_node *node = wheel_node_at(wheel, index);
		uint32_t next = node->next;

		out[taken].handle = wheel_handle(node, index);
		out[taken++].deadline = deadline;
		if (next & WHEEL_END) {
			wheel_slots_vacate(wheel, from);
			wheel_nodes_retire(wheel, node);
			wheel_nodes_free(wheel, node, index);
			return taken;
		}
		bits_prefetch(wheel_node_at(wheel, next));
		wheel_nodes_retire(wheel, node);
		wheel_nodes_free(wheel, node, index);
		index = next;
	}
	list->head = index;
	wheel_node_at(wheel, index)->prev = WHEEL_END | from;
	return max;
}

/* take_fine: at most max due timers of the fine level; the present goes with them. */
static size_t take_fine(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max)
{
	size_t taken = 0;

	while (taken < max && wheel->fine_words) {
		uint64_t time = wheel_slots_fine(wheel);
		uint32_t list = (uint32_t)time & (WHEEL_FINE_LISTS - 1);

		if (time > now)
			break;
		wheel->current = time;
		taken += take_list(wheel, list, out + taken, max - taken);
	}
	return taken;
}

/*
 * piece_time: how long draining a piece of the ring's earliest slot should take, so that from
 * `base` to its start all of it is drained; 0 when it has no more than a piece and can wait for its
 * start.
 */
static uint64_t piece_time(const dw_wheel *wheel, unsigned ring, uint64_t base)
{
	const struct wheel_ring *at = &wheel->rings[ring];
	uint64_t count = wheel->lists[wheel_ring_list(ring, at->next)].count;
	uint64_t span = at->next - base, time;

	if (count > wheel->count)
		count = wheel->count;
	if (count <= WHEEL_PIECE)
		return 0;
	time = span / count * WHEEL_PIECE + span % count * WHEEL_PIECE / count;
	return time ? time : 1;
}

/* drained_until: from when on the ring's earliest slot still is to be drained. */
static uint64_t drained_until(const dw_wheel *wheel, unsigned ring)
{
	const struct wheel_ring *at = &wheel->rings[ring];
	uint64_t opens = wheel_ring_opens(ring, at->next);

	return opens > at->drained ? opens : at->drained;
}

/* work_time: when the ring's earliest slot is to be drained next; there is one. */
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

/* drain_piece: as much of the ring's earliest slot as is due by now, in whole pieces. */
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

/* look_ahead: drain open slots in proportion to the time that is left, and note when to come again.
 */
static void look_ahead(dw_wheel *wheel, size_t moves)
{
	uint64_t work_at;

	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++)
		if (wheel->rings[ring].next != WHEEL_NEVER)
			drain_piece(wheel, ring, &moves);
	work_at = wheel->rings[0].next; /* read now: a piece may have gone in front of it */
	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++) {
		uint64_t start = wheel->rings[ring].next;
		uint64_t opens = wheel_ring_opens(ring, start);
		uint64_t at;

		if (start == WHEEL_NEVER)
			continue;
		/* A slot that still takes timers may become full: look when it opens. */
		at = opens > wheel->current ? opens : work_time(wheel, ring);
		if (at < work_at)
			work_at = at;
	}
	wheel->work_at = work_at;
}

/* fetch_next: ask for the timers that the next advances begin to drain with. */
static void fetch_next(const dw_wheel *wheel)
{
	for (unsigned ring = 0; ring < 2; ring++)
		if (wheel->rings[ring].next != WHEEL_NEVER) {
			uint32_t list = wheel_ring_list(ring, wheel->rings[ring].next);

			bits_prefetch(wheel_node_at(wheel, wheel->lists[list].tail));
		}
}

/* take_rings: what is due beyond the current bucket as well; the present may have to jump. */
static size_t take_rings(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max)
{
	size_t moves = max < SIZE_MAX / 8 ? max * WHEEL_MOVES_EACH + WHEEL_MOVES : SIZE_MAX;
	size_t taken = 0;

	for (;;) {
		uint64_t next;

		if (!settle(wheel, &moves))
			return taken;
		taken += take_fine(wheel, now, out + taken, max - taken);
		if (wheel->fine_words) {
			if (wheel_slots_fine(wheel) <= now)
				return taken;
			break;
		}
		next = wheel_slots_next(wheel);
		if (next > wheel_bucket(now))
			break;
		wheel->current = next;
	}
	wheel->current = now;
	look_ahead(wheel, moves);
	fetch_next(wheel);
	return taken;
}

static size_t advance(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max)
{
	size_t taken = 0;

	wheel_slots_close_gaps(wheel);
	if (wheel->overdue.count)
		taken = wheel_overdue_take(wheel, now, out, max);
	/* When the clock went back, all that is left lies after it; the same if max was reached. */
	if (wheel->overdue.count || now < wheel->current)
		return taken;
	if (now >= wheel->work_at)
		return taken + take_rings(wheel, now, out + taken, max - taken);
	taken += take_fine(wheel, now, out + taken, max - taken);
	if (!wheel->fine_words || wheel_slots_fine(wheel) > now)
		wheel->current = now;
	return taken;
}

size_t dw_wheel_advance(dw_wheel *wheel, int64_t now, dw_wheel_due *out, size_t max)
{
	size_t taken;

	if (!wheel || (!out && max))
		return 0;
	taken = advance(wheel, wheel_encode(now), out, max);
	wheel_nodes_tidy(wheel);
	return taken;
}

int64_t dw_wheel_next(const dw_wheel *wheel)
{
	uint64_t next, fine;

	if (!wheel || !wheel->count)
		return INT64_MAX;
	if (wheel->overdue.count)
		return wheel_decode(wheel_overdue_next(wheel));
	next = wheel_slots_next(wheel);
	fine = wheel_slots_fine(wheel);
	/* An unfinished advance left timers of the present bucket in a ring: they may be due now.
	 */
	if (next <= wheel->current)
		next = wheel->current;
	return wheel_decode(fine < next ? fine : next);
}

int64_t dw_wheel_next_work(const dw_wheel *wheel)
{
	int64_t earliest = dw_wheel_next(wheel);

	if (!wheel || !wheel->count)
		return earliest;
	for (unsigned ring = 1; ring < WHEEL_RINGS; ring++) {
		int64_t time;

		if (wheel->rings[ring].next == WHEEL_NEVER)
			continue;
		time = wheel_decode(work_time(wheel, ring));
		if (time < earliest)
			earliest = time;
	}
	return earliest;
}
