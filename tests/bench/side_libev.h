/*
 * side_libev.h: libev's own ev_timer, through its public interface.
 *
 * Time is simulated: this program defines clock_gettime(), and the dynamic linker gives it to libev
 * in place of the C library's. It defines epoll_wait() too, so that ev_run() makes no system call:
 * libev is charged for its timers only. For jumping from deadline to deadline libev gets the sorted
 * deadlines for nothing, because it has no call for the next one.
 *
 * libev fires what is due *before* its time, so its time is half a microsecond ahead of the
 * wheel's, and its deadlines a quarter.
 */
#ifndef BENCH_SIDE_LIBEV_H
#define BENCH_SIDE_LIBEV_H

#include <ev.h>
#include <sys/epoll.h>
#include <time.h>

#include "bench/bench_support.h"
#include "bench/sides.h"

#define EXPORTED __attribute__((visibility("default")))

static int64_t simulated_us;
static size_t libev_heap_bytes;

EXPORTED int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	(void)clock;
	ret_time->tv_sec = simulated_us / 1000000 + 1000;
	ret_time->tv_nsec = simulated_us % 1000000 * 1000 + 500;
	return 0;
}

EXPORTED int epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
	(void)fd;
	(void)events;
	(void)max;
	(void)timeout_ms;
	return 0;
}

typedef ev_timer *libev_ref;

struct libev_side {
	struct ev_loop *loop;
	ev_timer *timers;
	ev_timer **pointers; /* the program's references to them, by their number */
	struct record *record;
	size_t n;
	bool rearm;
};

static double libev_delay(int64_t deadline)
{
	return (double)(deadline - simulated_us) * 1e-6 - 0.25e-6;
}

static void libev_arm(struct libev_side *side, ev_timer *timer, int64_t deadline)
{
	ev_timer_set(timer, libev_delay(deadline), 0.);
	ev_timer_start(side->loop, timer);
}

static void libev_fired(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct libev_side *side = ev_userdata(loop);

	(void)events;
	record_fired(side->record, (uint32_t)(uintptr_t)timer->data);
	if (side->rearm)
		libev_arm(side, timer, simulated_us + record_delay(side->record));
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

static void libev_open(struct libev_side *side, size_t n, struct record *record)
{
	simulated_us = 0;
	libev_heap_bytes = 0;
	ev_set_allocator(libev_resize);
	side->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
	bench_require(side->loop != NULL, "ev_loop_new");
	side->timers = bench_alloc(n, sizeof(*side->timers));
	side->pointers = bench_alloc(n, sizeof(*side->pointers));
	side->record = record;
	side->rearm = false;
	side->n = n;
	ev_set_userdata(side->loop, side);
	for (size_t i = 0; i < n; i++) {
		ev_init(&side->timers[i], libev_fired);
		side->timers[i].data = (void *)(uintptr_t)i;
		side->pointers[i] = &side->timers[i];
	}
}

static void libev_close(struct libev_side *side)
{
	for (size_t i = 0; i < side->n; i++)
		ev_timer_stop(side->loop, &side->timers[i]);
	ev_loop_destroy(side->loop);
	free(side->timers);
	free(side->pointers);
}

static void libev_begin(struct libev_side *side, int64_t now)
{
	simulated_us = now;
	ev_now_update(side->loop);
}

static int64_t libev_now(const struct libev_side *side)
{
	(void)side;
	return simulated_us;
}

BENCH_INLINE void libev_add(struct libev_side *side, uint32_t id, int64_t deadline)
{
	libev_arm(side, &side->timers[id], deadline);
}

/* libev_ref_at: where the program's reference to a timer lies. */
BENCH_INLINE libev_ref *libev_ref_at(struct libev_side *side, uint32_t id)
{
	return &side->pointers[id];
}

BENCH_INLINE void libev_cancel(struct libev_side *side, libev_ref timer)
{
	ev_timer_stop(side->loop, timer);
}

/*
 * libev_move: ev_timer_again(), which is made for this, restarts a timer without taking it out of
 * the heap. It is not to repeat by itself: what fires gets a new delay.
 */
BENCH_INLINE void libev_move(struct libev_side *side, libev_ref timer, int64_t deadline)
{
	timer->repeat = libev_delay(deadline);
	ev_timer_again(side->loop, timer);
	timer->repeat = 0.;
}

BENCH_INLINE void libev_advance(struct libev_side *side, int64_t now, bool rearm)
{
	simulated_us = now;
	side->rearm = rearm;
	ev_run(side->loop, EVRUN_NOWAIT);
}

BENCH_INLINE int64_t libev_next(struct libev_side *side)
{
	return side->record->sorted[side->record->count];
}

/* libev_bytes: the program's ev_timers and the loop's array that points to them. */
static double libev_bytes(const struct libev_side *side)
{
	return (double)(side->n * sizeof(*side->timers) + libev_heap_bytes);
}

#endif
