/*
 * test_wheel_oracle.c: random operations on a wheel and on a sorted array; both must say the same.
 *
 * After every operation: nothing came out early, late within its call, out of order or twice;
 * dw_wheel_next() is not late, and exact where it promises to be (when nothing was cancelled);
 * dw_wheel_next_work() is not later. In half of the runs generations begin again on the way, in
 * most of them timers soon become elders. A failure prints a seed; DW_SEED=that repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <durawheel/wheel.h>

#include "support/environment.h"
#include "support/random.h"
#include "support/wheel_oracle.h"
#include "support/wheel_years.h"

#define CALL_MAX 600

/* struct profile: what kind of life the timers of one run lead. */
struct profile {
	const char *name;
	size_t population; /* about so many timers at a time */
	unsigned back;     /* percent of the time steps that go back */
	unsigned far;      /* percent of the time steps that are jumps of any size */
	unsigned extreme;  /* percent of the deadlines at the ends of time */
	unsigned dense;    /* percent of the deadlines in few, well filled slots */
	unsigned calm;     /* percent of the time steps that are 2 ms at most */
	unsigned lasting;  /* not 0: nothing is cancelled or moved */
	unsigned runs;
};

struct model {
	const struct profile *profile;
	struct wheel_oracle oracle;
	dw_wheel *wheel;
	dw_wheel_handle stale;
	uint64_t seed;
	uint64_t random;
	uint64_t operation;
	int64_t now;
	uint32_t old; /* not 0: a timer that is so old becomes an elder */
};

static void require(const struct model *model, int holds, const char *what)
{
	if (holds)
		return;
	fail_msg("%s: %s, DW_SEED=%llu, operation %llu", model->profile->name, what,
		 (unsigned long long)model->seed, (unsigned long long)model->operation);
}

static uint64_t draw(struct model *model, uint64_t limit)
{
	return random_below(&model->random, limit);
}

static int percent(struct model *model, unsigned share)
{
	return draw(model, 100) < share;
}

static int64_t plus(int64_t time, int64_t by)
{
	if (by > 0 && time > INT64_MAX - by)
		return INT64_MAX;
	if (by < 0 && time < INT64_MIN - by)
		return INT64_MIN;
	return time + by;
}

static int64_t near(struct model *model)
{
	return (int64_t)draw(model, 3) - 1;
}

/* edge: beside the next multiple of a power of two after `base`: the end of some slot. */
static int64_t edge(struct model *model, int64_t base)
{
	uint64_t width = UINT64_C(1) << draw(model, 62);
	uint64_t left = width - ((uint64_t)base & (width - 1));

	return plus(plus(base, (int64_t)left), near(model));
}

static int64_t power(struct model *model, int64_t base)
{
	int64_t distance = (int64_t)(UINT64_C(1) << draw(model, 62));

	if (percent(model, 10))
		distance = -distance;
	return plus(plus(base, distance), near(model));
}

/* dense: in the few slots that begin a quarter to three quarters of a second ahead, or a minute. */
static int64_t dense(struct model *model, int64_t base)
{
	static const int64_t aheads[] = {250000, 500000, 70000000, 18000000000};
	int64_t ahead = aheads[draw(model, 4)];

	return plus(base, ahead + (int64_t)draw(model, 200000));
}

static int64_t usual(struct model *model, int64_t base)
{
	static const int64_t spans[] = {1000000, 1800000000, 2592000000000, 3155760000000000};
	int64_t span = spans[draw(model, 4)];

	return plus(base, (int64_t)draw(model, (uint64_t)span));
}

static int64_t extreme(struct model *model)
{
	static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};

	return ends[draw(model, 6)];
}

static int64_t deadline(struct model *model)
{
	const struct wheel_oracle *oracle = &model->oracle;
	int64_t base = percent(model, 50) ? model->now : dw_wheel_now(model->wheel);

	if (percent(model, model->profile->extreme))
		return extreme(model);
	if (percent(model, model->profile->dense))
		return dense(model, base);
	switch (draw(model, 6)) {
	case 0:
		return plus(base, (int64_t)draw(model, 9) - 4);
	case 1:
		return edge(model, base);
	case 2:
		return power(model, base);
	case 3:
		return oracle->count ? oracle->timers[draw(model, oracle->count)].deadline : base;
	case 4:
		return plus(base, (int64_t)draw(model, 5000));
	default:
		return usual(model, base);
	}
}

static void add_at(struct model *model, int64_t when)
{
	dw_wheel_handle handle = 0;

	if (model->oracle.count == model->oracle.capacity)
		return;
	require(model, dw_wheel_add(model->wheel, when, &handle) == DW_OK, "add failed");
	require(model, handle >> 32 != 0, "handle without generation");
	require(model, dw_wheel_index(handle) < model->oracle.capacity, "index not dense");
	wheel_oracle_add(&model->oracle, handle, when);
}

static void add(struct model *model)
{
	add_at(model, deadline(model));
}

static void cancel(struct model *model)
{
	dw_wheel_handle handle;
	size_t position;

	if (!model->oracle.count)
		return;
	position = draw(model, model->oracle.count);
	handle = model->oracle.timers[position].handle;
	require(model, dw_wheel_cancel(model->wheel, handle) == DW_OK, "cancel failed");
	wheel_oracle_remove(&model->oracle, position, 1);
	model->stale = handle;
}

static void move(struct model *model)
{
	int64_t when = deadline(model);
	dw_wheel_due timer;
	size_t position;

	if (!model->oracle.count)
		return;
	position = draw(model, model->oracle.count);
	timer = model->oracle.timers[position];
	model->stale = timer.handle;
	require(model, dw_wheel_move(model->wheel, &timer.handle, when) == DW_OK, "move failed");
	require(model, timer.handle != model->stale, "the same handle");
	require(model, dw_wheel_index(timer.handle) == dw_wheel_index(model->stale),
		"another index");
	wheel_oracle_remove(&model->oracle, position, 1);
	wheel_oracle_add(&model->oracle, timer.handle, when);
}

static void use_stale(struct model *model)
{
	dw_wheel_handle kept = model->stale;

	if (!model->stale)
		return;
	require(model, dw_wheel_cancel(model->wheel, model->stale) == DW_ENOENT, "stale cancel");
	require(model, dw_wheel_move(model->wheel, &kept, 0) == DW_ENOENT, "stale move");
	require(model, kept == model->stale, "output touched");
}

/* step: let time pass, or go back. */
static void step(struct model *model)
{
	const struct wheel_oracle *oracle = &model->oracle;
	int64_t first = oracle->count ? oracle->timers[0].deadline : model->now;

	if (percent(model, model->profile->back)) {
		model->now = plus(model->now, -(int64_t)(UINT64_C(1) << draw(model, 40)));
		return;
	}
	if (percent(model, model->profile->calm)) {
		model->now = plus(model->now, (int64_t)draw(model, 2000));
		return;
	}
	if (percent(model, model->profile->far)) {
		model->now = edge(model, model->now);
		return;
	}
	switch (draw(model, 5)) {
	case 0:
		model->now = plus(model->now, (int64_t)draw(model, 3000));
		break;
	case 1:
		model->now = first > model->now ? plus(first, near(model)) : model->now;
		break;
	case 2:
		if (oracle->count && dw_wheel_next(model->wheel) > model->now)
			model->now = dw_wheel_next(model->wheel);
		break;
	case 3:
		if (oracle->count && dw_wheel_next_work(model->wheel) > model->now)
			model->now = dw_wheel_next_work(model->wheel);
		break;
	default:
		model->now = plus(model->now, (int64_t)draw(model, 60000));
	}
}

/* advance_by: what comes out must be what the sorted array has first. */
static void advance_by(struct model *model, size_t max)
{
	dw_wheel_due due[CALL_MAX];
	size_t taken = dw_wheel_advance(model->wheel, model->now, due, max);

	require(model, taken <= max, "more than max");
	require(model, taken <= model->oracle.count, "more than there are");
	for (size_t i = 0; i < taken; i++) {
		const dw_wheel_due *want = &model->oracle.timers[i];

		require(model, due[i].deadline <= model->now, "early");
		require(model, due[i].deadline == want->deadline, "out of order");
		require(model, due[i].handle == want->handle, "out of insertion order");
		model->stale = due[i].handle;
	}
	wheel_oracle_remove(&model->oracle, 0, taken);
}

static void advance_once(struct model *model)
{
	advance_by(model, draw(model, percent(model, 50) ? 4 : CALL_MAX));
}

static void advance(struct model *model)
{
	int whole = percent(model, 70);
	size_t calls = 0, allowed = 2 * model->oracle.count + 100;

	do
		advance_once(model);
	while (whole && model->oracle.count && dw_wheel_next(model->wheel) <= model->now &&
	       ++calls < allowed);
	require(model, calls < allowed, "no progress");
	if (whole && model->oracle.count)
		require(model, model->oracle.timers[0].deadline > model->now, "late");
}

static void check_next(const struct model *model)
{
	int64_t next = dw_wheel_next(model->wheel);
	int64_t present = dw_wheel_now(model->wheel);
	int64_t first;

	require(model, dw_wheel_count(model->wheel) == model->oracle.count, "another count");
	require(model, dw_wheel_next_work(model->wheel) <= next, "next_work after next");
	if (!model->oracle.count) {
		require(model, next == INT64_MAX, "next of an empty wheel");
		return;
	}
	first = model->oracle.timers[0].deadline;
	require(model, next <= first, "next is late");
	if (!model->profile->lasting)
		return;
	if (first < present)
		require(model, next == first, "next of an overdue timer not exact");
	if ((first ^ present) >= 0 && (first ^ present) < 1024 && next > present)
		require(model, next == first, "next in the current bucket not exact");
}

static void operate(struct model *model)
{
	unsigned full = model->oracle.count >= model->profile->population;
	uint64_t what = draw(model, 100);

	if (what < (full ? 25u : 55u))
		add(model);
	else if (what < 65 && !model->profile->lasting)
		cancel(model);
	else if (what < 75 && !model->profile->lasting)
		move(model);
	else if (what < 77)
		use_stale(model);
	else {
		step(model);
		advance(model);
	}
	if (model->old)
		wheel_years_age(model->wheel, model->old, draw(model, 20) ? 0 : 4);
	check_next(model);
	if (model->operation % 16 == 0)
		require(model, dw_wheel_check(model->wheel) == 0, "dw_wheel_check");
}

/* drain_all: at the end of time everything comes out. */
static void drain_all(struct model *model)
{
	size_t calls = 0, allowed = 3 * model->oracle.count + 1000;

	model->now = INT64_MAX;
	while (model->oracle.count && calls++ < allowed)
		advance_once(model);
	require(model, model->oracle.count == 0 && dw_wheel_count(model->wheel) == 0, "lost");
	require(model, dw_wheel_check(model->wheel) == 0, "dw_wheel_check at the end");
}

static void run(const struct profile *profile, uint64_t seed)
{
	static const int64_t starts[] = {0, -1, INT64_MIN, 1763670000000000, -4611686018427387904};
	struct model model = {.profile = profile, .seed = seed, .random = seed};

	model.now = starts[draw(&model, 5)];
	wheel_oracle_init(&model.oracle, 2 * profile->population);
	assert_int_equal(dw_wheel_new(&model.wheel, model.now, NULL), DW_OK);
	if (seed % 2)
		wheel_years_pass(model.wheel, UINT32_MAX - 63 - 64 * (uint32_t)draw(&model, 80));
	if (seed % 3) {
		assert_int_equal(dw_wheel_reserve(model.wheel, 1), DW_OK);
		model.old = 1 + (uint32_t)draw(&model, 400);
	}
	while (model.operation++ < 10000)
		operate(&model);
	drain_all(&model);
	dw_wheel_free(model.wheel);
	free(model.oracle.timers);
}

/* add_crowd: so many in one bucket that one advance cannot bring them down. Where it begins. */
static int64_t add_crowd(struct model *model)
{
	static const int64_t ahead[] = {1500, 4000, 300000, 80000000, 1800000000};
	int64_t bucket = plus(model->now, ahead[draw(model, 5)]) & ~INT64_C(1023);
	uint64_t width = 1 + draw(model, 4), size = 8000 + draw(model, 6000);

	while (size--)
		add_at(model, bucket + (int64_t)draw(model, width));
	return bucket;
}

/* trouble: something that concerns the crowd, while it is being brought down. */
static void trouble(struct model *model, int64_t bucket)
{
	const int64_t edges[] = {bucket - 1, bucket, bucket + 1, bucket + 3, bucket + 1024};
	int64_t present = dw_wheel_now(model->wheel);

	switch (draw(model, 5)) {
	case 0:
		add_at(model, plus(present, (int64_t)draw(model, 3) - 1));
		break;
	case 1:
		add_at(model, edges[draw(model, 5)]);
		break;
	case 2:
		cancel(model);
		break;
	case 3:
		move(model);
		break;
	default:
		use_stale(model);
	}
}

/* run_crowds: the clock jumps to or past a crowd, and many advances that take little follow. */
static void run_crowds(const struct profile *profile, uint64_t seed)
{
	struct model model = {.profile = profile, .seed = seed, .random = seed};

	model.now = (int64_t)draw(&model, 2) * 1763670000000000;
	wheel_oracle_init(&model.oracle, 2 * profile->population);
	assert_int_equal(dw_wheel_new(&model.wheel, model.now, NULL), DW_OK);
	for (unsigned crowd = 0; crowd < 3; crowd++) {
		int64_t bucket = add_crowd(&model);

		model.now = plus(bucket, (int64_t)draw(&model, percent(&model, 50) ? 4 : 3000));
		for (unsigned call = 0; call < 60; call++) {
			advance_by(&model, draw(&model, 3));
			for (uint64_t some = draw(&model, 4); some; some--)
				trouble(&model, bucket);
			check_next(&model);
			require(&model, dw_wheel_check(model.wheel) == 0, "dw_wheel_check");
			model.operation++;
		}
		while (percent(&model, 99) && model.oracle.count)
			advance_by(&model, CALL_MAX);
	}
	drain_all(&model);
	dw_wheel_free(model.wheel);
	free(model.oracle.timers);
}

static void agree(const struct profile *profile)
{
	uint64_t only = environment_number("DW_SEED", 0);
	uint64_t runs = environment_scaled(profile->runs);

	if (only) {
		run(profile, only);
		return;
	}
	for (uint64_t seed = 1; seed <= runs; seed++)
		run(profile, seed);
}

static void oracle_level_edges_agrees(void **state)
{
	(void)state;
	agree(&(struct profile){"level edges", 300, 0, 10, 0, 0, 0, 0, 200});
}

static void oracle_clock_back_agrees(void **state)
{
	(void)state;
	agree(&(struct profile){"clock back", 300, 20, 5, 0, 20, 0, 0, 100});
}

static void oracle_ends_of_time_agrees(void **state)
{
	(void)state;
	agree(&(struct profile){"ends of time", 200, 5, 20, 20, 0, 0, 0, 40});
}

static void oracle_dense_slots_agrees(void **state)
{
	(void)state;
	agree(&(struct profile){"dense slots", 4000, 1, 1, 0, 95, 0, 0, 40});
}

static void oracle_calm_clock_agrees(void **state)
{
	(void)state;
	agree(&(struct profile){"calm clock", 4000, 0, 0, 0, 98, 97, 0, 60});
}

static void oracle_few_timers_agrees(void **state)
{
	(void)state;
	agree(&(struct profile){"few timers", 3, 2, 20, 1, 30, 0, 0, 20});
}

static void oracle_nothing_cancelled_agrees(void **state)
{
	(void)state;
	agree(&(struct profile){"nothing cancelled", 300, 5, 10, 2, 20, 0, 1, 60});
}

static void oracle_crowds_agree(void **state)
{
	const struct profile profile = {"crowds", 40000, 0, 0, 0, 0, 0, 0, 0};
	uint64_t only = environment_number("DW_SEED", 0);
	uint64_t runs = environment_scaled(10);

	(void)state;
	for (uint64_t seed = only ? only : 1; seed <= (only ? only : runs); seed++)
		run_crowds(&profile, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(oracle_level_edges_agrees),
	    cmocka_unit_test(oracle_clock_back_agrees),
	    cmocka_unit_test(oracle_ends_of_time_agrees),
	    cmocka_unit_test(oracle_dense_slots_agrees),
	    cmocka_unit_test(oracle_calm_clock_agrees),
	    cmocka_unit_test(oracle_few_timers_agrees),
	    cmocka_unit_test(oracle_nothing_cancelled_agrees),
	    cmocka_unit_test(oracle_crowds_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
