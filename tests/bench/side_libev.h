/*
 * side_libev.h: libev's own ev_timer, through its public interface, in the program's object.
 *
 * libev is told the time by ev_run() only. For jumping from deadline to deadline it gets the sorted
 * deadlines for nothing, because it has no call for the next one. It fires what is due *before* its
 * time, so its time is half a microsecond ahead of the wheel's, and its deadlines a quarter.
 */
#ifndef BENCH_SIDE_LIBEV_H
#define BENCH_SIDE_LIBEV_H

#include <ev.h>

#include "bench/bench_support.h"
#include "bench/sides.h"
#include "bench/simulated.h"

static size_t libev_heap_bytes;

struct libev_object {
	struct body body;
	ev_timer timer;
};

struct libev_side {
	struct ev_loop *loop;
	struct libev_object *objects;
	struct record *record;
	size_t n;
	int64_t now;
	bool rearm;
};

static double libev_delay(const struct libev_side *side, int64_t deadline)
{
	return (double)(deadline - side->now) * 1e-6 - 0.25e-6;
}

static void libev_arm(struct libev_side *side, struct libev_object *object, int64_t deadline)
{
	ev_timer_set(&object->timer, libev_delay(side, deadline), 0.);
	ev_timer_start(side->loop, &object->timer);
}

static void libev_fired(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct libev_side *side = ev_userdata(loop);
	struct libev_object *object = timer->data;

	(void)events;
	record_fired(side->record, &object->body);
	if (side->rearm)
		libev_arm(side, object, side->now + record_delay(side->record));
}

/* libev_resize: realloc that knows the size of the largest block: the array of the timers. */
static void *libev_resize(void *block, long size_bytes) EV_NOEXCEPT
{
	if (size_bytes == 0) {
		free(block);
		return NULL;
	}
	if ((size_t)size_bytes > libev_heap_bytes)
		libev_heap_bytes = (size_t)size_bytes;
	return realloc(block, (size_t)size_bytes);
}

static void libev_tell(struct libev_side *side, int64_t now)
{
	side->now = now;
	simulated_ns = now * 1000 + 500;
}

static void libev_open(struct libev_side *side, size_t n, struct record *record)
{
	libev_tell(side, 0);
	libev_heap_bytes = 0;
	ev_set_allocator(libev_resize);
	side->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
	bench_require(side->loop != NULL, "ev_loop_new");
	side->objects = bench_alloc(n, sizeof(*side->objects));
	side->record = record;
	side->rearm = false;
	side->n = n;
	ev_set_userdata(side->loop, side);
	for (size_t i = 0; i < n; i++) {
		ev_init(&side->objects[i].timer, libev_fired);
		side->objects[i].timer.data = &side->objects[i];
		side->objects[i].body.number = i;
	}
}

static void libev_close(struct libev_side *side)
{
	for (size_t i = 0; i < side->n; i++)
		ev_timer_stop(side->loop, &side->objects[i].timer);
	ev_loop_destroy(side->loop);
	free(side->objects);
}

static void libev_begin(struct libev_side *side, int64_t now)
{
	libev_tell(side, now);
	ev_now_update(side->loop);
}

static int64_t libev_now(const struct libev_side *side)
{
	return side->now;
}

BENCH_INLINE void libev_add(struct libev_side *side, uint32_t id, int64_t deadline)
{
	side->objects[id].body.touched++;
	libev_arm(side, &side->objects[id], deadline);
}

BENCH_INLINE void libev_cancel(struct libev_side *side, uint32_t id)
{
	side->objects[id].body.touched++;
	ev_timer_stop(side->loop, &side->objects[id].timer);
}

/*
 * libev_move: ev_timer_again(), which is made for this, restarts a timer without taking it out of
 * the heap. It is not to repeat by itself: what fires gets a new delay.
 */
BENCH_INLINE void libev_move(struct libev_side *side, uint32_t id, int64_t deadline)
{
	ev_timer *timer = &side->objects[id].timer;

	side->objects[id].body.touched++;
	timer->repeat = libev_delay(side, deadline);
	ev_timer_again(side->loop, timer);
	timer->repeat = 0.;
}

BENCH_INLINE void libev_advance(struct libev_side *side, int64_t now, bool rearm)
{
	libev_tell(side, now);
	side->rearm = rearm;
	ev_run(side->loop, EVRUN_NOWAIT);
}

BENCH_INLINE int64_t libev_next(struct libev_side *side)
{
	return side->record->sorted[side->record->count];
}

/* libev_bytes: the timers in the objects and the loop's array that points to them. */
static double libev_bytes(const struct libev_side *side)
{
	return (double)(side->n * sizeof(ev_timer) + libev_heap_bytes);
}

#endif
