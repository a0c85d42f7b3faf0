/* How late a timer started, as its topic tells: what it waited on purpose is left out. On a clock
 * that the test moves. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include "durawheel/testing.h"
#include "support/seen.h"

static dw_verdict handle(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	(void)user;
	return DW_DONE;
}

static void listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(dw_usec *)user = topics[0].late_max_us;
}

static void pass(dw *d, dw_usec time)
{
	assert_int_equal(dw_test_advance(d, dw_now(d) + time), DW_OK);
}

static dw_usec latest(dw *d)
{
	dw_usec late = 0;

	assert_int_equal(dw_topic_list(d, "t", listed, &late), DW_OK);
	pass(d, 0);
	return late;
}

/* begin: a timer is due, and has no handler for 10 s. */
static dw *begin(void)
{
	dw_options options = {.size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
	dw *d;

	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_after(d, "t", "a", 0, NULL, 0), DW_OK);
	pass(d, DW_SECONDS(10));
	return d;
}

static void end(dw *d)
{
	assert_int_equal(dw_on(d, "t", handle, NULL), DW_OK);
	pass(d, 0);
}

static void change_of_settings_hides_no_lateness(void **state)
{
	dw_topic_settings settings = {.size = sizeof settings, .retries_max = 3};
	dw *d = begin();

	(void)state;
	assert_int_equal(dw_topic_set(d, "t", &settings, NULL, NULL), DW_OK);
	pass(d, 0);
	end(d);
	assert_true(latest(d) >= DW_SECONDS(10));
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void pause_is_no_lateness(void **state)
{
	dw *d = begin();

	(void)state;
	assert_int_equal(dw_topic_pause(d, "t", DW_PAUSE_DELIVERY, NULL, NULL), DW_OK);
	pass(d, DW_SECONDS(10));
	assert_int_equal(dw_topic_pause(d, "t", 0, NULL, NULL), DW_OK);
	pass(d, DW_SECONDS(1));
	end(d);
	assert_in_range(latest(d), DW_SECONDS(1), DW_SECONDS(2));
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(change_of_settings_hides_no_lateness),
	    cmocka_unit_test(pause_is_no_lateness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
