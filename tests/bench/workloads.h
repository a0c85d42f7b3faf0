/*
 * workloads.h: the workloads, included once for each system with SIDE as its name: SIDE_(add) is
 * then durawheel_add or libev_add, a direct call, and both run the very same text.
 *
 * A function makes what it needs, times its part and returns ns (P: us). The side is empty before
 * and after, except in W4 and W5, which go on from round to round.
 */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define SIDE_(name) JOIN(SIDE, name)
#define SIDE_STRUCT struct JOIN(SIDE, side)
#define SIDE_REF JOIN(SIDE, ref)

static void SIDE_(add_all)(SIDE_STRUCT *side, const struct plan *plan)
{
	const int64_t *delays = plan->delays, base = plan->base;
	const size_t n = plan->n;

	for (size_t i = 0; i < n; i++)
		SIDE_(add)(side, (uint32_t)i, base + delays[i]);
}

/* cancel_all: in random order; returns the ns it took, the references being in hand. */
static uint64_t SIDE_(cancel_all)(SIDE_STRUCT *side, const struct plan *plan, SIDE_REF *refs)
{
	uint64_t start;

	for (size_t i = 0; i < plan->n; i++)
		refs[i] = *SIDE_(ref_at)(side, plan->shuffled[i]);
	start = bench_ns();
	for (size_t i = 0; i < plan->n; i++)
		SIDE_(cancel)(side, refs[i]);
	return bench_ns() - start;
}

/* W1, W2: the timed half is the adding or the cancelling of all. */
static double SIDE_(add_cancel)(SIDE_STRUCT *side, const struct plan *plan, bool time_cancel)
{
	SIDE_REF *refs = bench_alloc(plan->n, sizeof(*refs));
	uint64_t added = 0, cancelled = 0;

	for (size_t repeat = 0; repeat < plan->repeats; repeat++) {
		uint64_t start = bench_ns();

		SIDE_(add_all)(side, plan);
		added += bench_ns() - start;
		cancelled += SIDE_(cancel_all)(side, plan, refs);
	}
	free(refs);
	return (double)(time_cancel ? cancelled : added) / (double)(plan->n * plan->repeats);
}

static double SIDE_(w1)(SIDE_STRUCT *side, const struct plan *plan)
{
	return SIDE_(add_cancel)(side, plan, false);
}

static double SIDE_(w2)(SIDE_STRUCT *side, const struct plan *plan)
{
	return SIDE_(add_cancel)(side, plan, true);
}

/* W3: one step a millisecond until all have fired. */
static double SIDE_(w3)(SIDE_STRUCT *side, const struct plan *plan)
{
	uint64_t start;

	SIDE_(add_all)(side, plan);
	start = bench_ns();
	for (int64_t now = plan->base; now <= plan->base + SPAN_US + 1000; now += 1000)
		SIDE_(advance)(side, now, false);
	return (double)(bench_ns() - start) / (double)plan->n;
}

/* W3J: from deadline to deadline. */
static double SIDE_(w3j)(SIDE_STRUCT *side, const struct plan *plan)
{
	uint64_t start;

	SIDE_(add_all)(side, plan);
	start = bench_ns();
	while (side->record->count < plan->n)
		SIDE_(advance)(side, SIDE_(next)(side), false);
	return (double)(bench_ns() - start) / (double)plan->n;
}

/* step_at: the next of the steps that were drawn beforehand; a later one's reference is fetched. */
BENCH_INLINE const struct step *SIDE_(step_at)(SIDE_STRUCT *side, const struct plan *plan, size_t i)
{
	__builtin_prefetch(SIDE_(ref_at)(side, plan->steps[i + STEPS_AHEAD].id), 1);
	return &plan->steps[i];
}

/* W4: a step is a turn of the server's loop: the time passes, one expires or is cancelled; then one
 * is added. */
static double SIDE_(w4)(SIDE_STRUCT *side, const struct plan *plan)
{
	uint64_t start = bench_ns();

	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct step *step = SIDE_(step_at)(side, plan, i);

		SIDE_(advance)(side, step->time, false);
		if (!step->expires)
			SIDE_(cancel)(side, *SIDE_(ref_at)(side, step->id));
		SIDE_(add)(side, step->id, step->time + SPAN_US);
	}
	return (double)(bench_ns() - start) / (double)plan->steps_count;
}

/* W5: a random one gets a new delay; now and then 100 us pass. What fires gets one too. */
static double SIDE_(w5)(SIDE_STRUCT *side, const struct plan *plan)
{
	size_t steps_each = rearms_each(plan->n), left = steps_each;
	int64_t now = SIDE_(now)(side);
	uint64_t start = bench_ns();

	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct step *step = SIDE_(step_at)(side, plan, i);

		SIDE_(move)(side, *SIDE_(ref_at)(side, step->id), now + step->time);
		if (--left)
			continue;
		left = steps_each;
		now += 100;
		SIDE_(advance)(side, now, true);
	}
	return (double)(bench_ns() - start) / (double)(plan->steps_count + side->record->count);
}

/* P: the longest single step of a millisecond. */
static double SIDE_(p)(SIDE_STRUCT *side, const struct plan *plan)
{
	uint64_t worst = 0;

	SIDE_(add_all)(side, plan);
	for (int64_t now = plan->base; now <= plan->base + SPAN_US + 1001000; now += 1000) {
		uint64_t start = bench_ns(), taken;

		SIDE_(advance)(side, now, false);
		taken = bench_ns() - start;
		worst = taken > worst ? taken : worst;
	}
	return (double)worst / 1000;
}

#undef JOIN_
#undef JOIN
#undef SIDE_
#undef SIDE_STRUCT
#undef SIDE_REF
#undef SIDE
