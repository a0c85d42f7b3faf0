/* A recurring timer that is put again as another store had it: it goes on where that one was. */
#include "support/cmocka.h"

#include <string.h>

#include "support/ruled.h"

/* A copy of a dw_info, with its strings. */
struct copied {
	dw_timer timer;
	char text[256];
};

static void copy_timer(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	struct copied *copied = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	copied->timer = (dw_timer){.size = sizeof(dw_timer),
				   .id = "a",
				   .topic = "t",
				   .due = timers->due,
				   .occurrence = timers->occurrence,
				   .rule_end = timers->rule_end,
				   .missed = timers->missed};
	(void)strncpy(copied->text, timers->rule, sizeof copied->text - 1);
}

/* put_timer puts what was copied, with its rule. */
static void put_timer(struct ruled *seen, dw_timer timer, const char *text)
{
	dw_rule *rule = NULL;

	assert_int_equal(dw_rule_parse(text, &rule, NULL), DW_OK);
	timer.rule = rule;
	assert_int_equal(dw_put(seen->d, &timer, ruled_answer, seen), DW_OK);
	dw_rule_free(rule);
	assert_int_equal(dw_sync(seen->d, DW_SECONDS(10)), DW_OK);
	assert_int_equal(seen->status, DW_OK);
}

static void assert_same(const struct start *a, const struct start *b)
{
	assert_int_equal(a->now, b->now);
	assert_int_equal(a->occurrence, b->occurrence);
	assert_int_equal(a->missed, b->missed);
	assert_int_equal(a->last, b->last);
}

/* goes_on lets a rule run, and copies it to a younger store after 200 s. From there on both fire at
 * the same times. */
static void goes_on(const char *rule)
{
	struct ruled first, second;
	struct copied copied = {0};
	size_t before;

	ruled_open(&first, 0);
	ruled_open(&second, 0);
	assert_int_equal(dw_on(first.d, "t", ruled_start, &first), DW_OK);
	assert_int_equal(dw_on(second.d, "t", ruled_start, &second), DW_OK);
	assert_int_equal(dw_test_advance(first.d, DW_TEST_START + DW_SECONDS(7)), DW_OK);
	assert_int_equal(ruled_put(&first, rule), DW_OK);
	assert_int_equal(dw_test_advance(first.d, DW_TEST_START + DW_SECONDS(200)), DW_OK);
	before = first.count;
	assert_int_equal(dw_get(first.d, "a", copy_timer, &copied), DW_OK);
	assert_int_equal(dw_sync(first.d, DW_SECONDS(10)), DW_OK);
	put_timer(&second, copied.timer, copied.text);
	assert_int_equal(dw_test_advance(first.d, DW_TEST_START + DW_SECONDS(2000)), DW_OK);
	assert_int_equal(dw_test_advance(second.d, DW_TEST_START + DW_SECONDS(2000)), DW_OK);
	assert_true(before > 0 && first.count > before + 2);
	assert_int_equal(second.count, first.count - before);
	for (size_t i = 0; i < second.count; i++)
		assert_same(&second.starts[i], &first.starts[before + i]);
	assert_int_equal(dw_close(first.d, 0), DW_OK);
	assert_int_equal(dw_close(second.d, 0), DW_OK);
}

static void every_kind_goes_on(void **state)
{
	(void)state;
	goes_on("every 90s");
	goes_on("every 90s; count 7");
	goes_on("every 90s; jitter 40s");
	goes_on("every 90s; start 2030-01-01T00:00:05Z; count 7");
	goes_on("cron * * * * *; count 8; jitter 20s");
	goes_on("cron */2 * * * *; zone Europe/London; end 2030-01-01T00:20:00Z");
}

static void missed_goes_on(void **state)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = "a",
			  .topic = "t",
			  .due = DW_TEST_START + DW_SECONDS(5),
			  .occurrence = DW_TEST_START + DW_SECONDS(2),
			  .missed = 3};
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	assert_int_equal(dw_on(seen.d, "t", ruled_start, &seen), DW_OK);
	put_timer(&seen, timer, "every 60s");
	assert_int_equal(dw_test_advance(seen.d, DW_TEST_START + DW_SECONDS(100)), DW_OK);
	assert_int_equal(seen.count, 2);
	assert_start(&seen, 0, "2030-01-01T00:00:05Z", "2030-01-01T00:00:02Z", 3);
	assert_on_time(&seen, 1, "2030-01-01T00:01:02Z");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* The zone may have other rules here. */
static void occurrence_that_the_rule_has_not_is_the_next_one(void **state)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = "a",
			  .topic = "t",
			  .due = DW_TEST_START + DW_SECONDS(5),
			  .occurrence = DW_TEST_START + DW_SECONDS(2)};
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	put_timer(&seen, timer, "cron * * * * *");
	ruled_look(&seen);
	assert_int_equal(seen.due, DW_TEST_START + DW_SECONDS(60));
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void contradictions_are_refused(void **state)
{
	const dw_rule rule = {.size = sizeof rule, .every = DW_SECONDS(1)};
	const struct {
		dw_timer timer;
		const char *word;
	} bad[] = {
	    {{.occurrence = 1}, "it needs a rule"},
	    {{.rule_end = 1}, "it needs a rule"},
	    {{.missed = 1}, "it needs a rule"},
	    {{.rule = &rule, .missed = 1}, "belong to an occurrence"},
	    {{.rule = &rule, .rule_end = 1}, "belong to an occurrence"},
	    {{.rule = &rule, .occurrence = -1}, "belong to an occurrence"},
	    {{.rule = &rule, .occurrence = 2, .rule_end = 1}, "before the occurrence"},
	};
	struct ruled seen;

	(void)state;
	ruled_open(&seen, 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		dw_timer timer = bad[i].timer;

		timer.size = sizeof timer;
		timer.topic = "t";
		assert_int_equal(dw_put(seen.d, &timer, NULL, NULL), DW_EINVAL);
		assert_non_null(strstr(dw_last_error(seen.d), bad[i].word));
	}
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_kind_goes_on),
	    cmocka_unit_test(missed_goes_on),
	    cmocka_unit_test(occurrence_that_the_rule_has_not_is_the_next_one),
	    cmocka_unit_test(contradictions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
