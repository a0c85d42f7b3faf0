/*
 * side_durawheel.h: the wheel as a program uses it: an array beside the wheel, by the timer's
 * index, has what the program knows about the timer; here that is its handle, the reference to it.
 * The wheel gives the indexes out densely, so they are the same numbers that the workloads use, and
 * the sums that are checked agree.
 */
#ifndef BENCH_SIDE_DURAWHEEL_H
#define BENCH_SIDE_DURAWHEEL_H

#include <durawheel/wheel.h>

#include "bench/bench_support.h"
#include "bench/sides.h"

#define BATCH 256

typedef dw_wheel_handle durawheel_ref;

struct durawheel_side {
	dw_wheel *wheel;
	dw_wheel_handle *handles;
	struct record *record;
};

static void durawheel_open(struct durawheel_side *side, size_t n, struct record *record)
{
	bench_require(dw_wheel_new(&side->wheel, 0, NULL) == DW_OK, "dw_wheel_new");
	side->handles = bench_alloc(n, sizeof(*side->handles));
	side->record = record;
}

static void durawheel_close(struct durawheel_side *side)
{
	bench_require(dw_wheel_check(side->wheel) == 0, "dw_wheel_check");
	dw_wheel_free(side->wheel);
	free(side->handles);
}

/* durawheel_begin: time passes while nothing is due. */
static void durawheel_begin(struct durawheel_side *side, int64_t now)
{
	bench_require(dw_wheel_advance(side->wheel, now, NULL, 0) == 0, "something was left");
}

static int64_t durawheel_now(const struct durawheel_side *side)
{
	return dw_wheel_now(side->wheel);
}

BENCH_INLINE void durawheel_add(struct durawheel_side *side, uint32_t id, int64_t deadline)
{
	dw_wheel_handle handle = 0;

	(void)id; /* the wheel chooses it */
	if (dw_wheel_add(side->wheel, deadline, &handle) < 0)
		bench_require(false, "dw_wheel_add");
	side->handles[dw_wheel_index(handle)] = handle;
}

/* durawheel_ref_at: where the program's reference to a timer lies. */
BENCH_INLINE durawheel_ref *durawheel_ref_at(struct durawheel_side *side, uint32_t id)
{
	return &side->handles[id];
}

BENCH_INLINE void durawheel_cancel(struct durawheel_side *side, durawheel_ref handle)
{
	if (dw_wheel_cancel(side->wheel, handle) < 0)
		bench_require(false, "dw_wheel_cancel");
}

BENCH_INLINE void durawheel_move(struct durawheel_side *side, durawheel_ref handle,
				 int64_t deadline)
{
	if (dw_wheel_move(side->wheel, &handle, deadline) < 0)
		bench_require(false, "dw_wheel_move");
	side->handles[dw_wheel_index(handle)] = handle;
}

/* durawheel_advance: what a driver does; rearm is known when this is compiled. */
BENCH_INLINE void durawheel_advance(struct durawheel_side *side, int64_t now, bool rearm)
{
	dw_wheel_due due[BATCH];

	do {
		size_t count = dw_wheel_advance(side->wheel, now, due, BATCH);

		for (size_t i = 0; i < count; i++) {
			uint32_t id = dw_wheel_index(due[i].handle);

			record_fired(side->record, id);
			if (rearm)
				durawheel_add(side, id, now + record_delay(side->record));
		}
	} while (dw_wheel_next(side->wheel) <= now);
}

BENCH_INLINE int64_t durawheel_next(struct durawheel_side *side)
{
	return dw_wheel_next(side->wheel);
}

static double durawheel_bytes(const struct durawheel_side *side)
{
	return (double)dw_wheel_bytes(side->wheel);
}

#endif
