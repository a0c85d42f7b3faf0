/*
 * side_libuv.h: libuv's uv_timer_t, through its public interface, in the program's object.
 *
 * libuv counts milliseconds. So that it does the same work as the others, its clock shows as many
 * milliseconds as theirs shows microseconds. Like libev it is told the time by a turn of its loop,
 * and gets the sorted deadlines for jumping.
 */
#ifndef BENCH_SIDE_LIBUV_H
#define BENCH_SIDE_LIBUV_H

#include <uv.h>

#include "bench/bench_support.h"
#include "bench/sides.h"
#include "bench/simulated.h"

struct libuv_object {
	struct body body;
	uv_timer_t timer;
};

struct libuv_side {
	uv_loop_t loop;
	struct libuv_object *objects;
	struct record *record;
	size_t n;
	int64_t now;
	bool rearm;
};

static void libuv_fired(uv_timer_t *timer)
{
	struct libuv_object *object = timer->data;
	struct libuv_side *side = timer->loop->data;

	record_fired(side->record, &object->body);
	if (side->rearm)
		(void)uv_timer_start(timer, libuv_fired, (uint64_t)record_delay(side->record), 0);
}

static void libuv_tell(struct libuv_side *side, int64_t now)
{
	side->now = now;
	simulated_ns = now * 1000000;
}

static void libuv_open(struct libuv_side *side, size_t n, struct record *record)
{
	libuv_tell(side, 0);
	bench_require(uv_loop_init(&side->loop) == 0, "uv_loop_init");
	side->loop.data = side;
	side->objects = bench_alloc(n, sizeof(*side->objects));
	side->record = record;
	side->rearm = false;
	side->n = n;
	for (size_t i = 0; i < n; i++) {
		(void)uv_timer_init(&side->loop, &side->objects[i].timer); /* cannot fail */
		side->objects[i].timer.data = &side->objects[i];
		side->objects[i].body.number = i;
	}
}

static void libuv_close(struct libuv_side *side)
{
	for (size_t i = 0; i < side->n; i++)
		uv_close((uv_handle_t *)&side->objects[i].timer, NULL);
	(void)uv_run(&side->loop, UV_RUN_NOWAIT);
	bench_require(uv_loop_close(&side->loop) == 0, "uv_loop_close");
	free(side->objects);
}

static void libuv_begin(struct libuv_side *side, int64_t now)
{
	libuv_tell(side, now);
	uv_update_time(&side->loop);
}

static int64_t libuv_now(const struct libuv_side *side)
{
	return side->now;
}

BENCH_INLINE void libuv_add(struct libuv_side *side, uint32_t id, int64_t deadline)
{
	side->objects[id].body.touched++;
	(void)uv_timer_start(&side->objects[id].timer, libuv_fired,
			     (uint64_t)(deadline - side->now), 0);
}

BENCH_INLINE void libuv_cancel(struct libuv_side *side, uint32_t id)
{
	side->objects[id].body.touched++;
	(void)uv_timer_stop(&side->objects[id].timer);
}

/* libuv_move: starting a timer that runs stops it first. */
BENCH_INLINE void libuv_move(struct libuv_side *side, uint32_t id, int64_t deadline)
{
	libuv_add(side, id, deadline);
}

BENCH_INLINE void libuv_advance(struct libuv_side *side, int64_t now, bool rearm)
{
	libuv_tell(side, now);
	side->rearm = rearm;
	(void)uv_run(&side->loop, UV_RUN_NOWAIT);
}

BENCH_INLINE int64_t libuv_next(struct libuv_side *side)
{
	return side->record->sorted[side->record->count];
}

static double libuv_bytes(const struct libuv_side *side)
{
	return (double)(side->n * sizeof(uv_timer_t));
}

#endif
