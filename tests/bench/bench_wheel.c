/*
 * bench_wheel.c: the wheel beside libev's ev_timer, libuv's uv_timer_t and a heap as a
 * std::priority_queue is one; without sleeping: simulated time, real work.
 *
 *   add     n timers, due uniformly in 1 ms to 30 min
 *   cancel  all of them
 *   steps-cold  fire them all in steps of 1 ms
 *   jumps-cold  fire them all by jumping to the next deadline
 *   orders  order timeouts: n outstanding at 30 min; a step tells the time, cancels a random one
 *           (95 %) or lets one expire (5 %), and adds one. Orders come one at a time, so a step is
 *           a turn of the server's loop; libev and libuv are told the time by that only
 *   rearm   short network timeouts, 100 us to 50 ms: n outstanding; a step is a packet, which arms
 *           a random one again with a new delay. Time passes in ticks of 100 us, so fast that one
 *           arming in seven or so ends by firing; what fires is armed again. All armings count
 *   worst-cold  the longest single advance of 1 ms, n due within one second, 30 minutes ahead
 *   next    one call of dw_wheel_next()      bytes  memory a timer
 *
 * All systems get the same random numbers and do the same when a timer fires. That all fired, each
 * once, is checked by count and sum.
 *
 * A timer is that of an object of the program (bench/sides.h), which every call and every firing
 * touches. Objects are taken in random order. Where the name of a workload has "-cold" behind, they
 * are wherever they are: at n = 1,000,000 not in the cache. Otherwise the program has them in hand,
 * as a server has the order it works on: they are fetched some steps ahead, with what the system
 * has put into them (a handle, an ev_timer); what that leads to is not. A firing finds its object
 * only then, so it is always cold.
 */
#include "bench/bench_support.h"
#include "bench/sides.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_US INT64_C(1800000000)

/* The references of so many steps are on their way into the cache. */
#define STEPS_AHEAD 16

/* struct step: of orders: when, which one, and whether it expires; of rearm: the delay, and which
 * one. */
struct step {
	int64_t time;
	uint32_t id;
	uint32_t expires;
};

/* struct plan: what all systems are given. */
struct plan {
	size_t n;
	size_t repeats;      /* small n: so often within a round, for the clock's sake */
	int64_t base;        /* the time the round begins at */
	int64_t *delays;     /* of the shuffled, in their order */
	uint32_t *shuffled;  /* the order of adding */
	uint32_t *cancelled; /* the order of cancelling */
	struct step *steps;
	size_t steps_count;
	uint64_t random;
};

/* rearms_each: steps of rearm in 100 us: each timer is armed again after 7.5 ms on average. */
static inline size_t rearms_each(size_t n)
{
	return n / 75 + 1;
}

enum workload_id {
	ADD,
	ADD_COLD,
	CANCEL,
	CANCEL_COLD,
	STEPS,
	JUMPS,
	ORDERS,
	ORDERS_COLD,
	REARM,
	REARM_COLD,
	WORST,
	WORKLOADS
};

/* struct system: how one is driven where nothing is timed; and its workloads. */
struct system {
	const char *name;
	void *(*open)(size_t n, struct record *);
	void (*close)(void *side);
	void (*begin)(void *side, int64_t now);
	void (*fill)(void *side, const struct plan *); /* adds all */
	double (*bytes)(const void *side);
	double (*run[WORKLOADS])(void *side, const struct plan *);
};

#include "bench/side_durawheel.h"
#include "bench/side_heap.h"
#include "bench/side_libev.h"

#define SIDE durawheel
#define SIDE_NAME "durawheel"
#include "bench/workloads.h"
#define SIDE libev
#define SIDE_NAME "libev"
#include "bench/workloads.h"
#define SIDE heap
#define SIDE_NAME "heap"
#include "bench/workloads.h"
#if DW_WITH_LIBUV
#include "bench/side_libuv.h"
#define SIDE libuv
#define SIDE_NAME "libuv"
#include "bench/workloads.h"
#endif

static const struct system *const systems[] = {
    &durawheel_system,
    &libev_system,
    &heap_system,
#if DW_WITH_LIBUV
    &libuv_system,
#endif
};
enum { SYSTEMS = sizeof systems / sizeof systems[0] };

/* struct workload: what is added, and what is to fire. */
struct workload {
	const char *name;
	int64_t delay_min_us;
	int64_t delay_max_us;
	enum { FIRES_NONE, FIRES_ALL, CHURNS, REARMS } kind;
};

static const struct workload workloads[WORKLOADS] = {
    [ADD] = {"add", 1000, SPAN_US, FIRES_NONE},
    [ADD_COLD] = {"add-cold", 1000, SPAN_US, FIRES_NONE},
    [CANCEL] = {"cancel", 1000, SPAN_US, FIRES_NONE},
    [CANCEL_COLD] = {"cancel-cold", 1000, SPAN_US, FIRES_NONE},
    [STEPS] = {"steps-cold", 1000, SPAN_US, FIRES_ALL},
    [JUMPS] = {"jumps-cold", 1000, SPAN_US, FIRES_ALL},
    [ORDERS] = {"orders", 1000, SPAN_US, CHURNS},
    [ORDERS_COLD] = {"orders-cold", 1000, SPAN_US, CHURNS},
    [REARM] = {"rearm", 100, 50001, REARMS},
    [REARM_COLD] = {"rearm-cold", 100, 50001, REARMS},
    [WORST] = {"worst-cold", SPAN_US, SPAN_US + 1000000, FIRES_ALL},
};

/* struct churn: the state from which the steps of orders are drawn; all adds ever, in order. */
struct churn {
	int64_t *due; /* by id */
	struct step *queue;
	size_t head;
	size_t tail;
	size_t mask;
	int64_t now;
};

static int compare_times(const void *left, const void *right)
{
	int64_t a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return (a > b) - (a < b);
}

static void shuffle(struct plan *plan, uint32_t *ids)
{
	for (size_t i = 0; i < plan->n; i++) {
		size_t other = random_below(&plan->random, i + 1);

		ids[i] = ids[other];
		ids[other] = (uint32_t)i;
	}
}

static void draw_delays(struct plan *plan, const struct workload *workload)
{
	uint64_t width = (uint64_t)(workload->delay_max_us - workload->delay_min_us);

	for (size_t i = 0; i < plan->n; i++) {
		uint64_t more = random_below(&plan->random, width);

		plan->delays[i] = workload->delay_min_us + (int64_t)more;
	}
	shuffle(plan, plan->shuffled);
	shuffle(plan, plan->cancelled);
}

static void churn_add(struct churn *churn, uint32_t id, int64_t due)
{
	bench_require(churn->tail - churn->head <= churn->mask, "churn queue too short");
	churn->queue[churn->tail++ & churn->mask] = (struct step){due, id, 0};
	churn->due[id] = due;
}

/* churn_first: the earliest that has not been cancelled. */
static const struct step *churn_first(struct churn *churn)
{
	const struct step *first = &churn->queue[churn->head & churn->mask];

	while (churn->due[first->id] != first->time)
		first = &churn->queue[++churn->head & churn->mask];
	return first;
}

/* draw_rearms: the next round of rearm. */
static void draw_rearms(struct plan *plan)
{
	for (size_t i = 0; i < plan->steps_count; i++) {
		plan->steps[i].id = (uint32_t)random_below(&plan->random, plan->n);
		plan->steps[i].time = 100 + (int64_t)random_below(&plan->random, 49901);
	}
}

/* draw_steps: the next round of orders. Deadlines are distinct: an expiry is exactly one. */
static void draw_steps(struct plan *plan, struct churn *churn)
{
	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct step *first = churn_first(churn);
		bool expires = random_below(&plan->random, 100) < 5;
		uint32_t id = (uint32_t)random_below(&plan->random, plan->n);

		churn->now++;
		if (expires || first->time <= churn->now) {
			expires = true;
			id = first->id;
			churn->now = first->time;
		}
		plan->steps[i] = (struct step){churn->now, id, expires};
		churn_add(churn, id, churn->now + SPAN_US);
	}
}

static void open_churn(struct churn *churn, struct plan *plan)
{
	size_t size = 64;

	while (size < 6 * plan->n)
		size *= 2;
	churn->due = bench_alloc(plan->n, sizeof(*churn->due));
	churn->queue = bench_alloc(size, sizeof(*churn->queue));
	churn->mask = size - 1;
	churn->head = churn->tail = 0;
	churn->now = 0;
	for (size_t i = 0; i < plan->n; i++) {
		uint32_t id = plan->shuffled[i];

		plan->delays[i] = (int64_t)(i + 1) * SPAN_US / (int64_t)plan->n;
		churn_add(churn, id, plan->delays[i]);
	}
}

/* expect_fired: all of this round, each once. */
static void expect_fired(const struct workload *workload, const struct plan *plan,
			 const struct record *record)
{
	uint64_t count = 0, sum = 0;

	for (size_t i = 0; workload->kind == FIRES_ALL && i < plan->n; i++, count++)
		sum += i;
	for (size_t i = 0; workload->kind == CHURNS && i < plan->steps_count; i++)
		if (plan->steps[i].expires) {
			count++;
			sum += plan->steps[i].id;
		}
	if (workload->kind == REARMS)
		bench_require(record->count > plan->steps_count / 20, "too few fired");
	else
		bench_require(record->count == count && record->sum == sum, "not all fired once");
}

/* struct race: the systems in one workload. */
struct race {
	enum workload_id which;
	const struct workload *workload;
	struct plan *plan;
	struct record record;
	void *sides[SYSTEMS];
	struct bench_figure figures[SYSTEMS];
	struct churn churn;
};

/* run: one system, one round; round 0 is not counted. */
static void run(struct race *race, size_t system, size_t round)
{
	struct bench_figure *figure = &race->figures[system];
	void *side = race->sides[system];
	double value;

	race->record.count = race->record.sum = 0;
	race->record.delay = (uint32_t)round * 977;
	if (race->workload->kind == FIRES_NONE || race->workload->kind == FIRES_ALL)
		systems[system]->begin(side, race->plan->base);
	value = systems[system]->run[race->which](side, race->plan);
	expect_fired(race->workload, race->plan, &race->record);
	if (round)
		figure->rounds[figure->count++] = value;
}

/* prepare: the numbers of a round; the times go on where the last round ended. */
static void prepare(struct race *race, int64_t *sorted, size_t round)
{
	struct plan *plan = race->plan;

	if (race->workload->kind == CHURNS) {
		draw_steps(plan, &race->churn);
		return;
	}
	if (race->workload->kind == REARMS) {
		draw_rearms(plan);
		return;
	}
	plan->base = (int64_t)round * 2 * SPAN_US;
	draw_delays(plan, race->workload);
	for (size_t i = 0; i < plan->n; i++)
		sorted[i] = plan->base + plan->delays[i];
	qsort(sorted, plan->n, sizeof(*sorted), compare_times);
}

static void draw_rearm_delays(int64_t *delays, struct plan *plan)
{
	for (size_t i = 0; i < DELAYS; i++)
		delays[i] = 100 + (int64_t)random_below(&plan->random, 49901);
}

static void open_race(struct race *race, const int64_t *sorted, const int64_t *rearm_delays)
{
	struct plan *plan = race->plan;

	race->record.sorted = sorted;
	race->record.delays = rearm_delays;
	draw_delays(plan, race->workload);
	plan->base = 0;
	if (race->workload->kind == CHURNS)
		open_churn(&race->churn, plan);
	for (size_t i = 0; i < SYSTEMS; i++) {
		race->figures[i].system = systems[i]->name;
		race->sides[i] = systems[i]->open(plan->n, &race->record);
		if (race->workload->kind == CHURNS || race->workload->kind == REARMS)
			systems[i]->fill(race->sides[i], plan);
	}
}

static void close_race(struct race *race)
{
	for (size_t i = 0; i < SYSTEMS; i++)
		systems[i]->close(race->sides[i]);
	free(race->churn.due);
	free(race->churn.queue);
}

/* rounds_of: an odd number, more when a round is short. */
static size_t rounds_of(size_t n)
{
	return n >= 5000000 ? 3 : n >= 500000 ? 5 : n >= 50000 ? 7 : 11;
}

static void race(const struct bench_options *options, enum workload_id which, struct plan *plan,
		 int64_t *buffers[2])
{
	const struct workload *workload = &workloads[which];
	struct bench_metric metric = {"wheel", workload->name, "ns_per_op", "ns", plan->n};
	struct race race = {.which = which, .workload = workload, .plan = plan};
	/* The churn takes three times n steps to become steady. */
	size_t warm = workload->kind == CHURNS || workload->kind == REARMS ? 2 : 1;
	size_t rounds = rounds_of(plan->n);

	if (which == WORST) {
		metric.metric = "us_worst";
		metric.unit = "us";
	}
	open_race(&race, buffers[0], buffers[1]);
	for (size_t round = 0; round < warm + rounds; round++) {
		prepare(&race, buffers[0], round);
		/* In turns, and who begins takes turns, too. */
		for (size_t i = 0; i < SYSTEMS; i++)
			run(&race, (round + i) % SYSTEMS, round >= warm ? round : 0);
	}
	bench_report(options, &metric, race.figures, SYSTEMS);
	close_race(&race);
}

/* measure_next: a call in a full wheel; the others have nothing to compare. */
static void measure_next(const struct bench_options *options, size_t n, struct durawheel_side *side)
{
	const struct bench_metric metric = {"wheel", "next", "ns_per_op", "ns", n};
	struct bench_figure figure = {.system = "durawheel"};
	const int calls = 1000000;

	while (figure.count < 15) {
		uint64_t start = bench_ns();
		int64_t sum = 0;

		for (int i = 0; i < calls; i++)
			sum ^= durawheel_next(side);
		figure.rounds[figure.count++] = (double)(bench_ns() - start) / calls;
		bench_require(sum == 0, "next changed between two calls");
	}
	bench_report(options, &metric, &figure, 1);
}

/* measure_full: what n timers take, and the next deadline among them. */
static void measure_full(const struct bench_options *options, struct plan *plan)
{
	const struct bench_metric metric = {"wheel", "bytes", "bytes", "B", plan->n};
	struct race race = {.which = ADD, .workload = &workloads[ADD], .plan = plan};

	open_race(&race, NULL, NULL);
	for (size_t i = 0; i < SYSTEMS; i++) {
		systems[i]->fill(race.sides[i], plan);
		race.figures[i].count = 1;
		race.figures[i].rounds[0] = systems[i]->bytes(race.sides[i]) / (double)plan->n;
	}
	measure_next(options, plan->n, race.sides[0]);
	bench_report(options, &metric, race.figures, SYSTEMS);
	close_race(&race);
}

/* measure: all workloads, or the one that is asked for, with n timers. */
static void measure(const struct bench_options *options, size_t n)
{
	struct plan plan = {.n = n, .random = 20260101};
	int64_t *buffers[2] = {bench_alloc(n, sizeof(int64_t)),
			       bench_alloc(DELAYS, sizeof(int64_t))};

	plan.repeats = n < 200000 ? 200000 / n : 1;
	/* So many that what the others pushed out of the cache is back early in the round. */
	plan.steps_count = n < 100000 ? 200000 : 2 * n;
	plan.delays = bench_alloc(n, sizeof(*plan.delays));
	plan.shuffled = bench_alloc(n, sizeof(*plan.shuffled));
	plan.cancelled = bench_alloc(n, sizeof(*plan.cancelled));
	plan.steps = bench_alloc(plan.steps_count + STEPS_AHEAD, sizeof(*plan.steps));
	draw_rearm_delays(buffers[1], &plan);
	if (!options->json)
		printf("n = %zu: median (min-max) of the rounds\n", n);
	for (enum workload_id i = 0; i < WORKLOADS; i++)
		if (!options->workload || strcmp(options->workload, workloads[i].name) == 0)
			race(options, i, &plan, buffers);
	if (!options->workload || strcmp(options->workload, "bytes") == 0)
		measure_full(options, &plan);
	free(plan.delays);
	free(plan.shuffled);
	free(plan.cancelled);
	free(plan.steps);
	free(buffers[0]);
	free(buffers[1]);
}

int main(int argc, char **argv)
{
	static const size_t usual[] = {1000, 100000, 1000000};
	struct bench_options options = bench_options(argc, argv, 0);

	bench_pin();
	if (options.n > 0)
		measure(&options, options.n);
	for (size_t i = 0; options.n == 0 && i < sizeof usual / sizeof usual[0]; i++)
		measure(&options, usual[i]);
	return 0;
}
