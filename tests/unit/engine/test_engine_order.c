/* Timers with equal deadlines start in the order in which they were put, in whatever order the
 * store answers their claims. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "support/cmocka.h"
#include "support/leased.h"

#define MANY 3000u

/* number_of returns the number that is the id of a start. */
static long number_of(const struct harness *h, size_t start)
{
	return strtol(h->starts[start].id, NULL, 10);
}

/* put puts timers 0, 1, 2, ... that are due after the same time. */
static void put(struct harness *h, unsigned count, dw_usec delay)
{
	for (unsigned i = 0; i < count; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "%u", i);
		assert_int_equal(harness_put(h, id, delay), DW_OK);
		if (i % 256 == 0)
			harness_turn(h);
	}
	harness_turn(h);
}

/* shuffle changes the order of the operations that were kept. */
static void shuffle(struct leased *leased, uint64_t seed)
{
	struct rng rng = {.state = seed};
	dw_op **ops = malloc(leased->kept.count * sizeof(dw_op *));
	size_t count = 0;
	dw_op *op;

	assert_non_null(ops);
	while ((op = op_queue_pop(&leased->kept))) {
		size_t at = (size_t)rng_below(&rng, ++count);

		ops[count - 1] = ops[at];
		ops[at] = op;
	}
	for (size_t i = 0; i < count; i++)
		op_queue_push(&leased->kept, ops[i]);
	free(ops);
}

/* claim_shuffled lets the store answer the claims of all timers in another order, `ahead` of their
 * deadline. */
static void claim_shuffled(struct leased *leased, unsigned count, dw_usec delay, dw_usec ahead)
{
	leased->keeps = true;
	harness_pass(leased->harness, delay - ahead);
	assert_int_equal(leased->asked[DW_OP_CLAIM], count);
	shuffle(leased, count);
	leased_speak(leased);
}

static void expect_sorted(const struct harness *h, unsigned count)
{
	assert_int_equal(h->start_count, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(number_of(h, i), i);
}

/* A turn takes only some of many timers out of the wheel. */
static void equal_deadlines_start_in_the_order_of_insertion(void **state)
{
	static const unsigned counts[] = {2, 3, 10, MANY};

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct leased leased;
		struct harness *h = leased_begin(&leased);

		put(h, counts[i], DW_SECONDS(10));
		claim_shuffled(&leased, counts[i], DW_SECONDS(10), DW_MILLISECONDS(1));
		harness_pass(h, DW_MILLISECONDS(1));
		expect_sorted(h, counts[i]);
		leased_end(&leased);
	}
}

static void overdue_timers_start_in_the_order_of_insertion(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	put(h, 200, DW_SECONDS(10));
	claim_shuffled(&leased, 200, DW_SECONDS(20), 0);
	harness_turn(h);
	expect_sorted(h, 200);
	leased_end(&leased);
}

/* ---- Workers ------------------------------------------------------------------------------- */

static struct job *out; /* the job of the only worker */

static void take(void *user, struct job *job)
{
	(void)user;
	assert_null(out);
	out = job;
}

static void set_worker(struct engine_env *env)
{
	env->workers = (struct worker_port){take, NULL, 1};
}

static void finish(struct harness *h)
{
	struct job *job = out;

	out = NULL;
	job_begin(job, h->wall);
	job_run(job, (dw *)h);
	engine_finish(h->engine, job);
	harness_turn(h);
	assert_int_equal(engine_check(h->engine), 0);
}

static void worker_gets_them_in_the_order_of_insertion(void **state)
{
	struct leased leased;
	struct harness *h = leased_new(&leased, set_worker);

	(void)state;
	assert_int_equal(engine_on_worker(h->engine, "t", harness_handler, h), DW_OK);
	harness_pass(h, DW_SECONDS(1));
	put(h, 200, DW_SECONDS(10));
	claim_shuffled(&leased, 200, DW_SECONDS(10), DW_MILLISECONDS(1));
	harness_pass(h, DW_MILLISECONDS(1));
	while (out)
		finish(h);
	expect_sorted(h, 200);
	leased_end(&leased);
}

/* ---- While some of them start ---------------------------------------------------------------- */

static struct leased *meddled;

static void check_now(struct harness *h)
{
	assert_int_equal(engine_check(h->engine), 0);
}

/* The first handler cancels, moves or replaces each third of the others. */
static void meddle(struct harness *h, const dw_firing *firing)
{
	if (strcmp(firing->id, "0") != 0)
		return;
	for (unsigned i = 1; i < 200; i += 3) {
		char id[16];

		(void)snprintf(id, sizeof id, "%u", i);
		assert_int_equal(i % 2 ? harness_cancel(h, id) : harness_put(h, id, DW_SECONDS(60)),
				 DW_OK);
	}
	check_now(h);
}

static void what_is_cancelled_or_replaced_does_not_start_with_the_others(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	put(h, 200, DW_SECONDS(10));
	claim_shuffled(&leased, 200, DW_SECONDS(10), DW_MILLISECONDS(1));
	h->in_handler = meddle;
	harness_pass(h, DW_MILLISECONDS(1));
	assert_int_equal(h->start_count, 133);
	for (size_t i = 1; i < h->start_count; i++) {
		assert_true(number_of(h, i - 1) < number_of(h, i));
		assert_int_not_equal(number_of(h, i) % 3, 1);
	}
	harness_pass(h, DW_SECONDS(60));
	assert_int_equal(h->start_count, 133 + 33);
	leased_end(&leased);
}

/* The first handler lets the store answer the claims of `early`, which is due before the others,
 * and of 500, which is due with them. */
static void bring_late_ones(struct harness *h, const dw_firing *firing)
{
	if (strcmp(firing->id, "0") == 0)
		leased_speak(meddled);
	check_now(h);
}

static void claim_that_is_answered_late_is_sorted_in(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);
	struct op_queue late = {0};

	(void)state;
	meddled = &leased;
	put(h, 600, DW_SECONDS(10));
	assert_int_equal(harness_put(h, "early", DW_SECONDS(10) - 1), DW_OK);
	harness_turn(h);
	leased.keeps = true;
	harness_pass(h, DW_SECONDS(10) - DW_MILLISECONDS(1));
	assert_int_equal(leased.asked[DW_OP_CLAIM], 601);
	for (size_t left = leased.kept.count; left > 0; left--) {
		dw_op *op = op_queue_pop(&leased.kept);
		bool is_late = op->kind == DW_OP_CLAIM &&
			       (strcmp(op->id, "500") == 0 || strcmp(op->id, "early") == 0);

		op_queue_push(is_late ? &late : &leased.kept, op);
	}
	assert_int_equal(late.count, 2);
	leased_speak(&leased);
	leased.kept = late;
	h->in_handler = bring_late_ones;
	harness_pass(h, DW_MILLISECONDS(1));
	assert_int_equal(h->start_count, 601);
	assert_string_equal(h->starts[256].id, "early"); /* a turn starts 256 timers */
	for (unsigned i = 0; i < 601; i++)
		if (i != 256)
			assert_int_equal(number_of(h, i), i < 256 ? i : i - 1);
	leased_end(&leased);
}

/* The clock is set back while the first one starts. The others wait until they are due again, and
 * their claims are given back. */
static void set_back(struct harness *h, const dw_firing *firing)
{
	(void)firing;
	h->wall -= DW_SECONDS(100);
	h->in_handler = NULL;
}

static void crowd_waits_if_the_clock_is_set_back(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	put(h, 200, DW_SECONDS(10));
	claim_shuffled(&leased, 200, DW_SECONDS(10), DW_MILLISECONDS(1));
	h->in_handler = set_back;
	harness_jump(h, DW_MILLISECONDS(1));
	check_now(h);
	assert_int_equal(h->start_count, 1);
	assert_int_equal(leased.asked[DW_OP_RETRY], 199);
	harness_pass(h, DW_SECONDS(100) - 1);
	assert_int_equal(h->start_count, 1);
	harness_pass(h, 1);
	expect_sorted(h, 200);
	leased_end(&leased);
}

/* Without memory the order is lost, and no timer. */
static void without_memory_all_start(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin(&leased);

	(void)state;
	put(h, 200, DW_SECONDS(10));
	claim_shuffled(&leased, 200, DW_SECONDS(10), DW_MILLISECONDS(1));
	harness_turn(h);
	h->fail_at = h->allocations + 1;
	h->fail_always = 1;
	harness_pass(h, DW_MILLISECONDS(1));
	h->fail_at = 0;
	check_now(h);
	assert_int_equal(h->start_count, 200);
	harness_pass(h, DW_SECONDS(10));
	assert_int_equal(harness_stats(h).timers, 0);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_deadlines_start_in_the_order_of_insertion),
	    cmocka_unit_test(overdue_timers_start_in_the_order_of_insertion),
	    cmocka_unit_test(worker_gets_them_in_the_order_of_insertion),
	    cmocka_unit_test(what_is_cancelled_or_replaced_does_not_start_with_the_others),
	    cmocka_unit_test(claim_that_is_answered_late_is_sorted_in),
	    cmocka_unit_test(crowd_waits_if_the_clock_is_set_back),
	    cmocka_unit_test(without_memory_all_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
