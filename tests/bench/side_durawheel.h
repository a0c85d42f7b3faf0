/*
 * side_durawheel.h: the wheel as wheel.h says to use it: the object keeps the handle, and an array
 * beside the wheel leads from a timer's index to its object.
 */
#ifndef BENCH_SIDE_DURAWHEEL_H
#define BENCH_SIDE_DURAWHEEL_H

#include <durawheel/wheel.h>

#include "bench/bench_support.h"
#include "bench/sides.h"

#define BATCH 256

struct durawheel_object {
	struct body body;
	dw_wheel_handle handle;
};

struct durawheel_side {
	dw_wheel *wheel;
	struct durawheel_object *objects;
	struct durawheel_object **by_index; /* n of them: the wheel's indexes are dense */
	struct record *record;
	size_t n;
};

static void durawheel_open(struct durawheel_side *side, size_t n, struct record *record)
{
	bench_require(dw_wheel_new(&side->wheel, 0, NULL) == DW_OK, "dw_wheel_new");
	side->objects = bench_alloc(n, sizeof(*side->objects));
	side->by_index = bench_alloc(n, sizeof(*side->by_index));
	side->record = record;
	side->n = n;
	for (size_t i = 0; i < n; i++)
		side->objects[i].body.number = i;
}

static void durawheel_close(struct durawheel_side *side)
{
	bench_require(dw_wheel_check(side->wheel) == 0, "dw_wheel_check");
	dw_wheel_free(side->wheel);
	free(side->objects);
	free(side->by_index);
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

BENCH_INLINE void durawheel_arm(struct durawheel_side *side, struct durawheel_object *object,
				int64_t deadline)
{
	if (dw_wheel_add(side->wheel, deadline, &object->handle) < 0)
		bench_require(false, "dw_wheel_add");
	side->by_index[dw_wheel_index(object->handle)] = object;
}

BENCH_INLINE void durawheel_add(struct durawheel_side *side, uint32_t id, int64_t deadline)
{
	side->objects[id].body.touched++;
	durawheel_arm(side, &side->objects[id], deadline);
}

BENCH_INLINE void durawheel_cancel(struct durawheel_side *side, uint32_t id)
{
	side->objects[id].body.touched++;
	if (dw_wheel_cancel(side->wheel, side->objects[id].handle) < 0)
		bench_require(false, "dw_wheel_cancel");
}

BENCH_INLINE void durawheel_move(struct durawheel_side *side, uint32_t id, int64_t deadline)
{
	side->objects[id].body.touched++;
	if (dw_wheel_move(side->wheel, &side->objects[id].handle, deadline) < 0)
		bench_require(false, "dw_wheel_move");
}

/* durawheel_advance: what a driver does; rearm is known when this is compiled. The objects are
 * looked up before any is armed again: the indexes of all that came out are free. */
BENCH_INLINE void durawheel_advance(struct durawheel_side *side, int64_t now, bool rearm)
{
	dw_wheel_due due[BATCH];
	struct durawheel_object *objects[BATCH];

	do {
		size_t count = dw_wheel_advance(side->wheel, now, due, BATCH);

		for (size_t i = 0; i < count; i++)
			objects[i] = side->by_index[dw_wheel_index(due[i].handle)];
		for (size_t i = 0; i < count; i++) {
			record_fired(side->record, &objects[i]->body);
			if (rearm)
				durawheel_arm(side, objects[i], now + record_delay(side->record));
		}
	} while (dw_wheel_next(side->wheel) <= now);
}

BENCH_INLINE int64_t durawheel_next(struct durawheel_side *side)
{
	return dw_wheel_next(side->wheel);
}

/* durawheel_bytes: the wheel, the array beside it, and the handles in the objects. */
static double durawheel_bytes(const struct durawheel_side *side)
{
	return (double)(dw_wheel_bytes(side->wheel) +
			side->n * (sizeof(*side->by_index) + sizeof(dw_wheel_handle)));
}

#endif
