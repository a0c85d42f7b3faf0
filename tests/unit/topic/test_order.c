/* The order of waiting timers, compared with a sorted array. */
#include "topic/order.h"
#include "support/cmocka.h"

#include <stdlib.h>

#include "base/rng.h"
#include "support/seed.h"

enum { FEW = 300, STEPS = 20000, MANY = 100000 };

static int compare(const void *a, const void *b)
{
	const struct timer *left = *(struct timer *const *)a, *right = *(struct timer *const *)b;

	return timer_is_before(left, right) ? -1 : 1;
}

/* agree: the order has exactly these timers, in this order. */
static void agree(struct timer *root, struct timer **sorted, size_t count)
{
	struct timer *timer = order_first(root);

	qsort(sorted, count, sizeof *sorted, compare);
	for (size_t i = 0; i < count; i++) {
		assert_ptr_equal(timer, sorted[i]);
		timer = order_next(root, timer);
	}
	assert_null(timer);
	assert_ptr_equal(order_last(root), count > 0 ? sorted[count - 1] : NULL);
}

static void random_order_agrees_with_a_sorted_array(void **state)
{
	static struct timer timers[FEW];
	static bool is_in[FEW];
	struct timer *sorted[FEW], *root = NULL;
	struct rng rng = seed_of_test();

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		size_t which = rng_below(&rng, FEW), count = 0;

		if (is_in[which]) {
			order_remove(&root, &timers[which]);
		} else {
			timers[which].head.due = (dw_usec)rng_below(&rng, 20);
			timers[which].head.generation = (uint64_t)step + 1;
			order_add(&root, &timers[which]);
		}
		is_in[which] = !is_in[which];
		for (size_t i = 0; i < FEW; i++)
			if (is_in[i])
				sorted[count++] = &timers[i];
		if (step % 100 == 0)
			agree(root, sorted, count);
	}
}

/* depth: how far from the root the timer is. */
static int depth(struct timer *root, const struct timer *timer)
{
	int links = 0;

	for (; root != timer; links++)
		root = timer_is_before(timer, root) ? root->prev : root->next;
	return links;
}

/* Timers that come in their order, or against it, or all due at one time, make no long list. */
static void order_of_many_is_not_deep(void **state)
{
	static struct timer timers[MANY];

	(void)state;
	for (int step = -1; step <= 1; step++) {
		struct timer *root = NULL;
		int deepest = 0;

		for (int i = 0; i < MANY; i++) {
			timers[i] =
			    (struct timer){.head = {.due = step * i,
						    .generation = UINT64_C(1) << 50 | (unsigned)i}};
			order_add(&root, &timers[i]);
		}
		for (int i = 0; i < MANY; i++)
			deepest =
			    depth(root, &timers[i]) > deepest ? depth(root, &timers[i]) : deepest;
		assert_in_range(deepest, 1, 80);
		for (int i = 0; i < MANY; i++)
			order_remove(&root, order_first(root));
		assert_null(root);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_order_agrees_with_a_sorted_array),
	    cmocka_unit_test(order_of_many_is_not_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
