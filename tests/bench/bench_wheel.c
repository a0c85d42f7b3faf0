/*
 * bench_wheel.c: the wheel beside libev's ev_timer, without sleeping: simulated time, real work.
 *
 *   W1   add n timers, due uniformly in 1 ms to 30 min
 *   W2   cancel them all in random order
 *   W3   fire them all in steps of 1 ms
 *   W3J  fire them all by jumping to the next deadline
 *   W4   order timeouts: n outstanding at 30 min; a step tells the time, cancels a random one
 *        (95 %) or lets one expire (5 %), and adds one. Orders come one at a time, so a step is a
 *        turn of the server's loop; libev is told the time by ev_run() only, half of what it needs
 *   W5   short network timeouts, 100 us to 50 ms: n outstanding; a step is a packet, which arms a
 *        random one again with a new delay. Time passes in ticks of 100 us, so fast that one arming
 *        in seven or so ends by firing; what fires is armed again. Counted are all armings
 *   P    the longest single advance of 1 ms, n due within one second, 30 minutes ahead
 *   next one call of dw_wheel_next()      bytes  memory a timer
 *
 * Both systems get the same random numbers and do the same when a timer fires. That all fired, each
 * once, is checked by count and sum.
 *
 * What the program has in hand is not measured: its reference to the timer (a dw_wheel_handle, an
 * ev_timer pointer) is that of an order or a connection it works on anyway. So W2 reads the
 * references from an array in the order of cancelling, and W4 and W5 fetch them into the cache some
 * steps ahead; for both systems alike, and never what a reference leads to: nodes and ev_timers are
 * touched by the timed calls only.
 */
#include "bench/bench_support.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPAN_US INT64_C(1800000000)

/* The references of so many steps are on their way into the cache. */
#define STEPS_AHEAD 16

/* struct step: of W4: when, which one, and whether it expires; of W5: the delay, and which one. */
struct step {
	int64_t time;
	uint32_t id;
	uint32_t expires;
};

/* struct plan: what both systems are given. */
struct plan {
	size_t n;
	size_t repeats; /* small n: so often within a round, for the clock's sake */
	int64_t base;   /* the time the round begins at */
	int64_t *delays;
	uint32_t *shuffled;
	struct step *steps;
	size_t steps_count;
	uint64_t random;
};

/* rearms_each: steps of W5 in 100 us: each timer is armed again after 7.5 ms on average. */
static inline size_t rearms_each(size_t n)
{
	return n / 75 + 1;
}

#include "bench/side_durawheel.h"
#include "bench/side_libev.h"

#define SIDE durawheel
#include "bench/workloads.h"
#define SIDE libev
#include "bench/workloads.h"

/* struct workload: how one is run. */
struct workload {
	const char *name;
	double (*durawheel)(struct durawheel_side *, const struct plan *);
	double (*libev)(struct libev_side *, const struct plan *);
	int64_t delay_min_us;
	int64_t delay_max_us;
	enum { FIRES_NONE, FIRES_ALL, CHURNS, REARMS } kind;
};

/* struct churn: the state from which the steps of W4 are drawn; all adds ever, in order. */
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

static void draw_delays(struct plan *plan, const struct workload *workload)
{
	uint64_t width = (uint64_t)(workload->delay_max_us - workload->delay_min_us);

	for (size_t i = 0; i < plan->n; i++) {
		uint64_t more = random_below(&plan->random, width);

		plan->delays[i] = workload->delay_min_us + (int64_t)more;
		plan->shuffled[i] = (uint32_t)i;
	}
	for (size_t i = plan->n - 1; i > 0; i--) {
		size_t other = random_below(&plan->random, i + 1);
		uint32_t id = plan->shuffled[i];

		plan->shuffled[i] = plan->shuffled[other];
		plan->shuffled[other] = id;
	}
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

/* draw_rearms: the next round of W5. */
static void draw_rearms(struct plan *plan)
{
	for (size_t i = 0; i < plan->steps_count; i++) {
		plan->steps[i].id = (uint32_t)random_below(&plan->random, plan->n);
		plan->steps[i].time = 100 + (int64_t)random_below(&plan->random, 49901);
	}
}

/* draw_steps: the next round of W4. Deadlines are distinct, so that an expiry is exactly one. */
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

		plan->delays[id] = (int64_t)(i + 1) * SPAN_US / (int64_t)plan->n;
		churn_add(churn, id, plan->delays[id]);
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

/* struct race: the two systems in one workload. */
struct race {
	const struct workload *workload;
	struct plan *plan;
	struct record record;
	struct durawheel_side durawheel;
	struct libev_side libev;
	struct bench_figure figures[2];
	struct churn churn;
};

/* run: one system, one round; round 0 is not counted. */
static void run(struct race *race, size_t which, size_t round)
{
	struct bench_figure *figure = &race->figures[which];
	double value;

	race->record.count = race->record.sum = 0;
	race->record.delay = (uint32_t)round * 977;
	if (race->workload->kind == FIRES_NONE || race->workload->kind == FIRES_ALL) {
		durawheel_begin(&race->durawheel, race->plan->base);
		libev_begin(&race->libev, race->plan->base);
	}
	if (which == 0)
		value = race->workload->durawheel(&race->durawheel, race->plan);
	else
		value = race->workload->libev(&race->libev, race->plan);
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
	race->figures[0].system = "durawheel";
	race->figures[1].system = "libev";
	durawheel_open(&race->durawheel, plan->n, &race->record);
	libev_open(&race->libev, plan->n, &race->record);
	draw_delays(plan, race->workload);
	plan->base = 0;
	if (race->workload->kind == CHURNS)
		open_churn(&race->churn, plan);
	if (race->workload->kind == CHURNS || race->workload->kind == REARMS) {
		durawheel_add_all(&race->durawheel, plan);
		libev_add_all(&race->libev, plan);
	}
}

static void close_race(struct race *race)
{
	durawheel_close(&race->durawheel);
	libev_close(&race->libev);
	free(race->churn.due);
	free(race->churn.queue);
}

/* rounds_of: an odd number, more when a round is short. */
static size_t rounds_of(size_t n)
{
	if (n >= 5000000)
		return 3;
	return n >= 500000 ? 7 : n >= 50000 ? 11 : 15;
}

static void race(const struct bench_options *options, const struct workload *workload,
		 struct plan *plan, int64_t *buffers[2])
{
	struct bench_metric metric = {"wheel", workload->name, "ns_per_op", "ns", plan->n};
	struct race race = {.workload = workload, .plan = plan};
	/* The churn takes three times n steps to become steady. */
	size_t warm = workload->kind == CHURNS || workload->kind == REARMS ? 4 : 1;
	size_t rounds = rounds_of(plan->n);

	if (strcmp(workload->name, "P") == 0) {
		metric.metric = "us_worst";
		metric.unit = "us";
	}
	open_race(&race, buffers[0], buffers[1]);
	for (size_t round = 0; round < warm + rounds; round++) {
		prepare(&race, buffers[0], round);
		/* In turns, and who begins takes turns too. */
		run(&race, round % 2, round >= warm ? round : 0);
		run(&race, 1 - round % 2, round >= warm ? round : 0);
	}
	bench_report(options, &metric, race.figures, 2);
	close_race(&race);
}

/* measure_next: a call in a full wheel; libev has nothing to compare. */
static void measure_next(const struct bench_options *options, struct durawheel_side *side)
{
	const struct bench_metric metric = {"wheel", "next", "ns_per_op", "ns", options->n};
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
static void measure_full(const struct bench_options *options, struct plan *plan,
			 const struct workload *workload)
{
	const struct bench_metric metric = {"wheel", "bytes", "bytes", "B", plan->n};
	struct bench_figure figures[2] = {{.system = "durawheel", .count = 1},
					  {.system = "libev", .count = 1}};
	struct race race = {.workload = workload, .plan = plan};

	open_race(&race, NULL, NULL);
	durawheel_add_all(&race.durawheel, plan);
	libev_add_all(&race.libev, plan);
	figures[0].rounds[0] = durawheel_bytes(&race.durawheel) / (double)plan->n;
	figures[1].rounds[0] = libev_bytes(&race.libev) / (double)plan->n;
	measure_next(options, &race.durawheel);
	bench_report(options, &metric, figures, 2);
	close_race(&race);
}

int main(int argc, char **argv)
{
	static const struct workload workloads[] = {
	    {"W1", durawheel_w1, libev_w1, 1000, SPAN_US, FIRES_NONE},
	    {"W2", durawheel_w2, libev_w2, 1000, SPAN_US, FIRES_NONE},
	    {"W3", durawheel_w3, libev_w3, 1000, SPAN_US, FIRES_ALL},
	    {"W3J", durawheel_w3j, libev_w3j, 1000, SPAN_US, FIRES_ALL},
	    {"W4", durawheel_w4, libev_w4, 1000, SPAN_US, CHURNS},
	    {"W5", durawheel_w5, libev_w5, 100, 50001, REARMS},
	    {"P", durawheel_p, libev_p, SPAN_US, SPAN_US + 1000000, FIRES_ALL},
	};
	struct bench_options options = bench_options(argc, argv, 1000000);
	struct plan plan = {.n = options.n, .random = 20260101};
	int64_t *buffers[2] = {bench_alloc(options.n, sizeof(int64_t)),
			       bench_alloc(DELAYS, sizeof(int64_t))};

	bench_pin();
	plan.repeats = options.n < 200000 ? 200000 / options.n : 1;
	/* So many that what the other system pushed out of the cache is back early in the round. */
	plan.steps_count = options.n < 200000 ? 200000 : 4 * options.n;
	plan.delays = bench_alloc(plan.n, sizeof(*plan.delays));
	plan.shuffled = bench_alloc(plan.n, sizeof(*plan.shuffled));
	plan.steps = bench_alloc(plan.steps_count + STEPS_AHEAD, sizeof(*plan.steps));
	draw_rearm_delays(buffers[1], &plan);
	if (!options.json)
		printf("n = %zu: median (min-max) of the rounds\n", options.n);
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (!options.workload || strcmp(options.workload, workloads[i].name) == 0)
			race(&options, &workloads[i], &plan, buffers);
	if (!options.workload)
		measure_full(&options, &plan, &workloads[0]);
	free(plan.delays);
	free(plan.shuffled);
	free(plan.steps);
	free(buffers[0]);
	free(buffers[1]);
	return 0;
}
