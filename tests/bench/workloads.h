/*
 * workloads.h: the workloads, included once for each system with SIDE as its name: SIDE_(add) is
 * then durawheel_add or libev_add, a direct call, and all run the very same text.
 *
 * A function makes what it needs, times its part and returns ns (worst: us). The side is empty
 * before and after, except in orders and rearm, which go on from round to round. cold is known when
 * this is compiled: the objects are not fetched ahead.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define SIDE_(name) JOIN(SIDE, name)
#define SIDE_STRUCT struct JOIN(SIDE, side)

/* fetch: the program has the object in hand. */
BENCH_INLINE void SIDE_(fetch)(SIDE_STRUCT *side, uint32_t id)
{
	object_fetch(&side->objects[id], sizeof(side->objects[id]));
}

/* add_all: in random order. */
BENCH_INLINE void SIDE_(add_all)(SIDE_STRUCT *side, const struct plan *plan, bool cold)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (!cold && i + STEPS_AHEAD < plan->n)
			SIDE_(fetch)(side, plan->shuffled[i + STEPS_AHEAD]);
		SIDE_(add)(side, plan->shuffled[i], plan->base + plan->delays[i]);
	}
}

/* cancel_all: in another random order. */
BENCH_INLINE void SIDE_(cancel_all)(SIDE_STRUCT *side, const struct plan *plan, bool cold)
{
	for (size_t i = 0; i < plan->n; i++) {
		if (!cold && i + STEPS_AHEAD < plan->n)
			SIDE_(fetch)(side, plan->cancelled[i + STEPS_AHEAD]);
		SIDE_(cancel)(side, plan->cancelled[i]);
	}
}

/* add_cancel: the timed half is the adding or the cancelling of all. */
BENCH_INLINE double SIDE_(add_cancel)(SIDE_STRUCT *side, const struct plan *plan, bool time_cancel,
				      bool cold)
{
	uint64_t added = 0, cancelled = 0;

	for (size_t repeat = 0; repeat < plan->repeats; repeat++) {
		uint64_t start = bench_ns(), middle;

		SIDE_(add_all)(side, plan, cold);
		middle = bench_ns();
		SIDE_(cancel_all)(side, plan, cold);
		added += middle - start;
		cancelled += bench_ns() - middle;
	}
	return (double)(time_cancel ? cancelled : added) / (double)(plan->n * plan->repeats);
}

static double SIDE_(run_add)(void *side, const struct plan *plan)
{
	return SIDE_(add_cancel)(side, plan, false, false);
}

static double SIDE_(run_add_cold)(void *side, const struct plan *plan)
{
	return SIDE_(add_cancel)(side, plan, false, true);
}

static double SIDE_(run_cancel)(void *side, const struct plan *plan)
{
	return SIDE_(add_cancel)(side, plan, true, false);
}

static double SIDE_(run_cancel_cold)(void *side, const struct plan *plan)
{
	return SIDE_(add_cancel)(side, plan, true, true);
}

/* run_steps: one step a millisecond until all have fired. */
static double SIDE_(run_steps)(void *user, const struct plan *plan)
{
	SIDE_STRUCT *side = user;
	uint64_t start;

	SIDE_(add_all)(side, plan, false);
	start = bench_ns();
	for (int64_t now = plan->base; now <= plan->base + SPAN_US + 1000; now += 1000)
		SIDE_(advance)(side, now, false);
	return (double)(bench_ns() - start) / (double)plan->n;
}

/* run_jumps: from deadline to deadline. */
static double SIDE_(run_jumps)(void *user, const struct plan *plan)
{
	SIDE_STRUCT *side = user;
	uint64_t start;

	SIDE_(add_all)(side, plan, false);
	start = bench_ns();
	while (side->record->count < plan->n)
		SIDE_(advance)(side, SIDE_(next)(side), false);
	return (double)(bench_ns() - start) / (double)plan->n;
}

/* orders: a step is a turn of the server's loop: the time passes, one expires or is cancelled; then
 * one is added. */
BENCH_INLINE double SIDE_(orders)(SIDE_STRUCT *side, const struct plan *plan, bool cold)
{
	uint64_t start = bench_ns();

	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct step *step = &plan->steps[i];

		if (!cold)
			SIDE_(fetch)(side, plan->steps[i + STEPS_AHEAD].id);
		SIDE_(advance)(side, step->time, false);
		if (!step->expires)
			SIDE_(cancel)(side, step->id);
		SIDE_(add)(side, step->id, step->time + SPAN_US);
	}
	return (double)(bench_ns() - start) / (double)plan->steps_count;
}

static double SIDE_(run_orders)(void *side, const struct plan *plan)
{
	return SIDE_(orders)(side, plan, false);
}

static double SIDE_(run_orders_cold)(void *side, const struct plan *plan)
{
	return SIDE_(orders)(side, plan, true);
}

/* rearm: a random one gets a new delay; now and then 100 us pass. What fires gets one too. */
BENCH_INLINE double SIDE_(rearm)(SIDE_STRUCT *side, const struct plan *plan, bool cold)
{
	size_t steps_each = rearms_each(plan->n), left = steps_each;
	int64_t now = SIDE_(now)(side);
	uint64_t start = bench_ns();

	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct step *step = &plan->steps[i];

		if (!cold)
			SIDE_(fetch)(side, plan->steps[i + STEPS_AHEAD].id);
		SIDE_(move)(side, step->id, now + step->time);
		if (--left)
			continue;
		left = steps_each;
		now += 100;
		SIDE_(advance)(side, now, true);
	}
	return (double)(bench_ns() - start) / (double)(plan->steps_count + side->record->count);
}

static double SIDE_(run_rearm)(void *side, const struct plan *plan)
{
	return SIDE_(rearm)(side, plan, false);
}

static double SIDE_(run_rearm_cold)(void *side, const struct plan *plan)
{
	return SIDE_(rearm)(side, plan, true);
}

/* run_worst: the longest single step of a millisecond. */
static double SIDE_(run_worst)(void *user, const struct plan *plan)
{
	SIDE_STRUCT *side = user;
	uint64_t worst = 0;

	SIDE_(add_all)(side, plan, false);
	for (int64_t now = plan->base; now <= plan->base + SPAN_US + 1001000; now += 1000) {
		uint64_t start = bench_ns(), taken;

		SIDE_(advance)(side, now, false);
		taken = bench_ns() - start;
		worst = taken > worst ? taken : worst;
	}
	return (double)worst / 1000;
}

/* Called through pointers, and not timed. */

static void *SIDE_(new)(size_t n, struct record *record)
{
	SIDE_STRUCT *side = bench_alloc(1, sizeof(*side));

	SIDE_(open)(side, n, record);
	return side;
}

static void SIDE_(free)(void *side)
{
	SIDE_(close)(side);
	free(side);
}

static void SIDE_(start)(void *side, int64_t now)
{
	SIDE_(begin)(side, now);
}

static void SIDE_(fill)(void *side, const struct plan *plan)
{
	SIDE_(add_all)(side, plan, false);
}

static double SIDE_(memory)(const void *side)
{
	return SIDE_(bytes)(side);
}

static const struct system SIDE_(system) = {
    .name = SIDE_NAME,
    .open = SIDE_(new),
    .close = SIDE_(free),
    .begin = SIDE_(start),
    .fill = SIDE_(fill),
    .bytes = SIDE_(memory),
    .run = {[ADD] = SIDE_(run_add),
	    [ADD_COLD] = SIDE_(run_add_cold),
	    [CANCEL] = SIDE_(run_cancel),
	    [CANCEL_COLD] = SIDE_(run_cancel_cold),
	    [STEPS] = SIDE_(run_steps),
	    [JUMPS] = SIDE_(run_jumps),
	    [ORDERS] = SIDE_(run_orders),
	    [ORDERS_COLD] = SIDE_(run_orders_cold),
	    [REARM] = SIDE_(run_rearm),
	    [REARM_COLD] = SIDE_(run_rearm_cold),
	    [WORST] = SIDE_(run_worst)},
};

#undef JOIN_
#undef JOIN
#undef SIDE_
#undef SIDE_STRUCT
#undef SIDE_NAME
#undef SIDE
