/* dw_after_id and dw_now: a delay from the handle's own time, and the id of the new timer. */
#include "support/cmocka.h"

#include <string.h>

#include "support/watch.h"

static dw_usec read_number(void *user)
{
	return *(const dw_usec *)user;
}

/* What the answer says of a timer. */
struct answered {
	char id[DW_ID_SIZE];
	int status;
};

static void keep_answer(dw *d, const dw_result *result, void *user)
{
	struct answered *answered = user;

	(void)d;
	memcpy(answered->id, result->id, strlen(result->id) + 1);
	answered->status = result->status;
}

static void keep_due(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		     void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(dw_usec *)user = timers->due;
}

static void now_is_the_time_of_the_handle(void **state)
{
	struct seen seen;
	dw_options options = seen_options(&seen);
	dw_usec clock = DW_SECONDS(1800000000);
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .due = 1};
	dw_usec system = dw_now(NULL);
	dw_usec due = 0;

	(void)state;
	options.clock = read_number;
	options.clock_user = &clock;
	assert_int_equal(dw_open(&seen.d, &options, NULL), DW_OK);
	assert_true(dw_now(seen.d) == clock);
	assert_int_equal(dw_after_id(seen.d, &timer, DW_MINUTES(30), NULL, NULL, NULL), DW_OK);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(dw_get(seen.d, "a", keep_due, &due), DW_OK);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_true(due == clock + DW_MINUTES(30));
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
	seen_open(&seen, 0);
	assert_true(dw_now(seen.d) >= system && dw_now(NULL) >= dw_now(seen.d) - DW_HOURS(1));
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void made_id_is_handed_back_by_the_call(void **state)
{
	dw_timer timer = {.size = sizeof timer, .topic = "t"};
	struct answered answered = {.status = 1};
	char first[DW_ID_SIZE];
	char second[DW_ID_SIZE];
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_after_id(seen.d, &timer, DW_HOURS(1), first, keep_answer, &answered),
			 DW_OK);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_string_equal(answered.id, first);
	assert_int_equal(answered.status, DW_OK);
	assert_int_equal(dw_after_id(seen.d, &timer, DW_HOURS(1), second, NULL, NULL), DW_OK);
	assert_string_not_equal(first, second);
	assert_int_equal(dw_cancel(seen.d, second, keep_answer, &answered), DW_OK);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_string_equal(answered.id, second);
	assert_int_equal(answered.status, DW_OK);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void given_id_is_handed_back_too(void **state)
{
	dw_timer timer = {.size = sizeof timer, .id = "order:42", .topic = "t"};
	char id[DW_ID_SIZE];
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_after_id(seen.d, &timer, DW_HOURS(1), id, NULL, NULL), DW_OK);
	assert_string_equal(id, "order:42");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

static void refused_call_leaves_the_id_alone(void **state)
{
	dw_timer timer = {.size = sizeof timer};
	char id[DW_ID_SIZE] = "before";
	struct seen seen;

	(void)state;
	seen_open(&seen, 0);
	assert_int_equal(dw_after_id(seen.d, &timer, 0, id, NULL, NULL), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(seen.d), "topic"));
	assert_int_equal(dw_after_id(seen.d, NULL, 0, id, NULL, NULL), DW_EINVAL);
	timer.topic = "t";
	assert_int_equal(dw_after_id(seen.d, &timer, -1, id, NULL, NULL), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(seen.d), "negative"));
	assert_int_equal(dw_after_id(NULL, &timer, 0, id, NULL, NULL), DW_EINVAL);
	atomic_store(&seen.no_memory, 1);
	assert_int_equal(dw_after_id(seen.d, &timer, 0, id, NULL, NULL), DW_ENOMEM);
	atomic_store(&seen.no_memory, 0);
	assert_string_equal(id, "before");
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

/* What another thread puts. */
struct elsewhere {
	dw *d;
	struct answered answered;
	char id[DW_ID_SIZE];
	int status;
};

static void *put_without_id(void *user)
{
	struct elsewhere *elsewhere = user;
	dw_timer timer = {.size = sizeof timer, .topic = "t"};

	elsewhere->status = dw_after_id(elsewhere->d, &timer, DW_HOURS(1), elsewhere->id,
					keep_answer, &elsewhere->answered);
	return NULL;
}

static void call_of_another_thread_hands_back_its_id(void **state)
{
	struct elsewhere elsewhere = {.answered = {.status = 1}};
	struct seen seen;
	pthread_t thread;

	(void)state;
	seen_open(&seen, 0);
	elsewhere.d = seen.d;
	assert_int_equal(pthread_create(&thread, NULL, put_without_id, &elsewhere), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(elsewhere.status, DW_OK);
	assert_int_equal(dw_sync(seen.d, PATIENCE), DW_OK);
	assert_int_equal(elsewhere.answered.status, DW_OK);
	assert_string_equal(elsewhere.answered.id, elsewhere.id);
	assert_int_equal(strlen(elsewhere.id), 32);
	assert_int_equal(dw_close(seen.d, 0), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(now_is_the_time_of_the_handle),
	    cmocka_unit_test(made_id_is_handed_back_by_the_call),
	    cmocka_unit_test(given_id_is_handed_back_too),
	    cmocka_unit_test(refused_call_leaves_the_id_alone),
	    cmocka_unit_test(call_of_another_thread_hands_back_its_id),
	};

	return cmocka_run_group_tests_name("after_id", tests, NULL, NULL);
}
