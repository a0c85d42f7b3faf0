/* dw_ended_get(), dw_set_result() and DW_ONCE: what became of a timer. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/ended.h"
#include "durawheel/testing.h"
#include "durawheel/topic.h"
#include "support/seen.h"

enum { ALL = 2 * DW_RESULT_MAX };

/* What the handlers say and return, and what was told of it. */
struct trial {
	dw *d;
	const void *says; /* NULL: nothing */
	size_t size;
	dw_verdict verdict;
	int said; /* of dw_set_result() */
	dw_token token;
	uint32_t starts;
	int put;    /* of the last put's answer */
	int status; /* of dw_ended_get() */
	dw_ended ended;
	char topic[DW_TOPIC_MAX + 1], by[128], result[DW_RESULT_MAX];
};

static dw_verdict starts(dw *d, const dw_firing *firing, void *user)
{
	struct trial *trial = user;

	trial->starts++;
	trial->token = *firing->token;
	if (trial->says)
		trial->said = dw_set_result(d, NULL, trial->says, trial->size);
	return trial->verdict;
}

static void starts_together(dw *d, dw_batch *batch, void *user)
{
	struct trial *trial = user;

	trial->said = dw_set_result(d, NULL, "all", 3);
	for (size_t i = 0; i < batch->count; i++)
		trial->starts += dw_set_result(d, batch->firings[i].token, batch->firings[i].id,
					       strlen(batch->firings[i].id)) == DW_OK;
}

static void put_answered(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct trial *)user)->put = result->status;
}

static void told(dw *d, int status, const dw_ended *ended, void *user)
{
	struct trial *trial = user;

	(void)d;
	trial->status = status;
	assert_int_equal(status == DW_OK, ended != NULL);
	if (!ended)
		return;
	assert_string_equal(ended->id, "a");
	trial->ended = *ended;
	(void)snprintf(trial->topic, sizeof trial->topic, "%s", ended->topic);
	(void)snprintf(trial->by, sizeof trial->by, "%s", ended->by);
	if (ended->result_size > 0)
		memcpy(trial->result, ended->result, ended->result_size);
}

static void pass(struct trial *trial, dw_usec time)
{
	assert_int_equal(dw_test_advance(trial->d, dw_now(trial->d) + time), DW_OK);
}

/* put puts "a", due now, with these flags and this keep; the status of the answer. */
static int put(struct trial *trial, unsigned flags, dw_usec keep)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = "a",
			  .topic = "t",
			  .due = dw_now(trial->d),
			  .flags = flags,
			  .keep_us = keep};

	trial->put = DW_EUNKNOWN;
	assert_int_equal(dw_put(trial->d, &timer, put_answered, trial), DW_OK);
	pass(trial, 0);
	return trial->put;
}

static int ask(struct trial *trial)
{
	trial->status = DW_EUNKNOWN;
	assert_int_equal(dw_ended_get(trial->d, "a", told, trial), DW_OK);
	pass(trial, 0);
	return trial->status;
}

/* begin opens a handle, whose topic keeps its ends for an hour. */
static void begin(struct trial *trial, const void *says, dw_verdict verdict)
{
	dw_options options = {
	    .size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK, .workers = 1};
	dw_topic_settings settings = {.size = sizeof settings, .keep_us = DW_HOURS(1)};

	*trial = (struct trial){.says = says, .size = says ? strlen(says) : 0, .verdict = verdict};
	assert_int_equal(dw_open(&trial->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(trial->d, "t", starts, trial), DW_OK);
	assert_int_equal(dw_topic_set(trial->d, "t", &settings, NULL, NULL), DW_OK);
	pass(trial, 0);
}

static void end(struct trial *trial)
{
	assert_int_equal(dw_close(trial->d, PATIENCE), DW_OK);
}

static void expect_result(const struct trial *trial, const char *result)
{
	assert_int_equal(trial->ended.result_size, strlen(result));
	assert_memory_equal(trial->result, result, strlen(result));
}

static void end_of_a_delivery_is_told(void **state)
{
	struct trial trial;
	dw_usec now;

	(void)state;
	begin(&trial, "paid", DW_DONE);
	assert_int_equal(ask(&trial), DW_ENOENT);
	now = dw_now(trial.d);
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.end, DW_END_DONE);
	assert_string_equal(dw_end_name(trial.ended.end), "DONE");
	assert_string_equal(trial.topic, "t");
	assert_true(trial.ended.due == now && trial.ended.started >= now);
	assert_true(trial.ended.at >= trial.ended.started);
	assert_true(trial.ended.until == trial.ended.at + DW_HOURS(1));
	assert_int_equal(trial.ended.attempt, 1);
	expect_result(&trial, "paid");
	pass(&trial, DW_HOURS(1));
	assert_int_equal(ask(&trial), DW_ENOENT);
	end(&trial);
}

static void end_of_a_retry_comes_with_its_last_attempt(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "first", DW_RETRY);
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(ask(&trial), DW_ENOENT);
	trial.says = NULL;
	trial.verdict = DW_DONE;
	pass(&trial, DW_SECONDS(3));
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.attempt, 2);
	assert_int_equal(trial.ended.retries, 1);
	expect_result(&trial, ""); /* that of an earlier attempt is not kept */
	end(&trial);
}

static void end_of_a_dead_letter_is_told(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "lost", DW_DEAD);
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.end, DW_END_DEAD);
	assert_int_equal(trial.ended.reason, DW_REASON_GAVE_UP);
	assert_true(trial.ended.started > 0);
	expect_result(&trial, "");
	end(&trial);
}

static void end_of_a_late_timer_never_started(void **state)
{
	struct trial trial;
	dw_timer timer = {
	    .size = sizeof timer, .id = "a", .topic = "t", .late_after_us = 5, .due = 1};

	(void)state;
	begin(&trial, "x", DW_DONE);
	assert_int_equal(dw_put(trial.d, &timer, NULL, NULL), DW_OK);
	pass(&trial, 0);
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.starts, 0);
	assert_int_equal(trial.ended.reason, DW_REASON_LATE);
	assert_true(trial.ended.started == 0);
	end(&trial);
}

static void end_of_a_cancel_is_told(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, NULL, DW_DONE);
	assert_int_equal(dw_after(trial.d, "t", "a", DW_DAYS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_cancel(trial.d, "a", NULL, NULL), DW_OK);
	pass(&trial, 0);
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.end, DW_END_CANCELLED);
	assert_int_equal(trial.ended.attempt, 0);
	assert_true(trial.ended.started == 0);
	end(&trial);
}

/* A cancel while the handler runs comes too late, and the verdict ends the timer. */
static void end_of_a_cancelled_delivery_is_its_verdict(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, NULL, DW_HOLD);
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(dw_set_result(trial.d, &trial.token, NULL, 0), DW_OK);
	assert_int_equal(dw_set_result(trial.d, &trial.token, "held", 4), DW_OK);
	assert_int_equal(dw_cancel(trial.d, "a", NULL, NULL), DW_OK);
	assert_int_equal(dw_settle(trial.d, &trial.token, DW_DONE, -1, NULL, NULL), DW_OK);
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.end, DW_END_DONE);
	expect_result(&trial, "held");
	assert_int_equal(dw_set_result(trial.d, &trial.token, "x", 1), DW_ESTALE);
	end(&trial);
}

static void end_of_each_occurrence_is_told(void **state)
{
	struct trial trial;
	dw_rule rule = {.size = sizeof rule, .every = DW_HOURS(1)};
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t", .rule = &rule};
	uint64_t generation;

	(void)state;
	begin(&trial, "1", DW_DONE);
	assert_int_equal(dw_put(trial.d, &timer, NULL, NULL), DW_OK);
	pass(&trial, DW_MINUTES(61));
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.end, DW_END_DONE);
	expect_result(&trial, "1");
	generation = trial.ended.generation;
	trial.says = "22";
	trial.size = 2;
	pass(&trial, DW_MINUTES(60));
	assert_int_equal(ask(&trial), DW_OK);
	expect_result(&trial, "22");
	assert_true(trial.ended.generation > generation);
	trial.verdict = DW_DEAD;
	pass(&trial, DW_MINUTES(60));
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.end, DW_END_DEAD);
	end(&trial);
}

/* ---- Results ------------------------------------------------------------------------------- */

static void result_has_every_size_up_to_its_limit(void **state)
{
	static char all[ALL + 1]; /* with a NUL */
	struct trial trial;

	(void)state;
	memset(all, 0xff, ALL);
	begin(&trial, all, DW_DONE);
	trial.size = DW_RESULT_MAX;
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(trial.said, DW_OK);
	assert_int_equal(ask(&trial), DW_OK);
	assert_int_equal(trial.ended.result_size, DW_RESULT_MAX);
	assert_memory_equal(trial.result, all, DW_RESULT_MAX);
	trial.size = DW_RESULT_MAX + 1;
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(trial.said, DW_EINVAL);
	assert_int_equal(ask(&trial), DW_OK);
	expect_result(&trial, "");
	end(&trial);
}

static void result_on_a_worker_is_kept(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "from a worker", DW_DONE);
	assert_int_equal(dw_on_worker(trial.d, "t", starts, &trial), DW_OK);
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(trial.said, DW_OK);
	assert_int_equal(ask(&trial), DW_OK);
	expect_result(&trial, "from a worker");
	end(&trial);
}

static void result_of_a_batch_is_of_each_timer(void **state)
{
	struct trial trial;

	(void)state;
	for (int on_worker = 0; on_worker < 2; on_worker++) {
		dw_batch_options options = {.size = sizeof options, .on_worker = on_worker};

		begin(&trial, NULL, DW_DONE);
		assert_int_equal(dw_on_batch(trial.d, "t", &options, starts_together, &trial),
				 DW_OK);
		assert_int_equal(dw_after(trial.d, "t", "b", 0, NULL, 0), DW_OK);
		assert_int_equal(put(&trial, 0, 0), DW_OK);
		assert_int_equal(trial.said, DW_EINVAL);
		assert_int_equal(trial.starts, 2);
		assert_int_equal(ask(&trial), DW_OK);
		expect_result(&trial, "a");
		end(&trial);
	}
}

static void letter_told(dw *d, int status, const dw_dead *letter, size_t count,
			const dw_cursor *next, void *user)
{
	int *ret_status = user;

	(void)d;
	*ret_status = status;
	assert_true((status == DW_OK) == (letter != NULL && count == 1 && next && next->ended));
	assert_true(!letter || (strcmp(letter->id, "a") == 0 && letter->at > 0));
}

static void letter_is_found_without_an_end(void **state)
{
	dw_dead_select letter = {.size = sizeof letter, .id = "a"};
	struct trial trial;
	int status = 1;

	(void)state;
	begin(&trial, NULL, DW_DEAD);
	assert_int_equal(put(&trial, 0, 0), DW_OK);
	assert_int_equal(dw_dead_list(trial.d, &letter, NULL, 1, letter_told, &status), DW_OK);
	assert_int_equal(status, 1); /* not before the loop turns */
	pass(&trial, 0);
	assert_int_equal(status, DW_OK);
	letter.id = "b";
	assert_int_equal(dw_dead_list(trial.d, &letter, NULL, 1, letter_told, &status), DW_OK);
	pass(&trial, 0);
	assert_int_equal(status, DW_ENOENT);
	end(&trial);
}

static void result_outside_of_a_handler_is_refused(void **state)
{
	struct trial trial;
	dw_dead_select letter = {.size = sizeof letter, .id = "a"};
	dw_token none = {0};

	(void)state;
	begin(&trial, NULL, DW_DONE);
	assert_int_equal(dw_set_result(trial.d, NULL, "x", 1), DW_EINVAL);
	assert_string_equal(dw_last_error(trial.d),
			    "dw_set_result is for inside a handler of one timer");
	assert_int_equal(dw_set_result(trial.d, NULL, NULL, 1), DW_EINVAL);
	assert_string_equal(dw_last_error(trial.d), "the data is NULL");
	assert_int_equal(dw_set_result(trial.d, NULL, "x", ALL), DW_EINVAL);
	assert_string_equal(dw_last_error(trial.d), "a result has at most 4096 bytes, not 8192");
	assert_int_equal(dw_set_result(NULL, NULL, "x", 1), DW_EINVAL);
	assert_int_equal(dw_set_result(trial.d, NULL, "x", 1), DW_EINVAL);
	assert_int_equal(dw_set_result(trial.d, &none, "x", 1), DW_EINVAL);
	assert_int_equal(dw_ended_get(trial.d, "a", NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_ended_get(trial.d, NULL, told, NULL), DW_EINVAL);
	assert_int_equal(dw_ended_get(trial.d, "", told, NULL), DW_EINVAL);
	assert_int_equal(dw_ended_get(NULL, "a", told, NULL), DW_EINVAL);
	assert_int_equal(dw_dead_list(trial.d, &letter, NULL, 1, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_dead_list(NULL, &letter, NULL, 1, letter_told, NULL), DW_EINVAL);
	letter.id = "";
	assert_int_equal(dw_dead_list(trial.d, &letter, NULL, 1, letter_told, NULL), DW_EINVAL);
	end(&trial);
}

/* ---- DW_ONCE ------------------------------------------------------------------------------- */

static void once_lets_an_id_through_once(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, NULL, DW_DONE);
	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(put(&trial, DW_ONCE, DW_HOURS(24)), DW_OK);
		assert_int_equal(trial.starts, i);
		assert_int_equal(put(&trial, DW_ONCE, DW_HOURS(24)), DW_EEXIST);
		pass(&trial, DW_HOURS(23));
		assert_int_equal(put(&trial, DW_ONCE, DW_HOURS(24)), DW_EEXIST);
		assert_int_equal(trial.starts, i);
		pass(&trial, DW_HOURS(1));
	}
	end(&trial);
}

static void once_is_refused_while_it_is_delivered(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, NULL, DW_HOLD);
	assert_int_equal(put(&trial, DW_ONCE, 0), DW_OK);
	assert_int_equal(put(&trial, DW_ONCE, 0), DW_EEXIST);
	assert_int_equal(dw_settle(trial.d, &trial.token, DW_DONE, -1, NULL, NULL), DW_OK);
	assert_int_equal(put(&trial, DW_ONCE, 0), DW_EEXIST);
	assert_int_equal(trial.starts, 1);
	assert_int_equal(put(&trial, DW_NEW, 0), DW_OK); /* which does not care */
	assert_int_equal(trial.starts, 2);
	end(&trial);
}

/* keep of the timer itself stays when a mode changes it. */
static void keep_goes_with_the_data(void **state)
{
	struct trial trial;
	dw_timer timer = {.size = sizeof timer,
			  .id = "a",
			  .topic = "u",
			  .due = DW_NEVER,
			  .flags = DW_DUE_EARLIEST | DW_DATA_FIRST,
			  .keep_us = DW_HOURS(5)};

	(void)state;
	begin(&trial, NULL, DW_DONE);
	assert_int_equal(dw_put(trial.d, &timer, NULL, NULL), DW_OK);
	timer.keep_us = DW_HOURS(7);
	timer.due = DW_NEVER - 1;
	assert_int_equal(dw_put(trial.d, &timer, NULL, NULL), DW_OK);
	assert_int_equal(dw_cancel(trial.d, "a", NULL, NULL), DW_OK);
	pass(&trial, 0);
	assert_int_equal(ask(&trial), DW_OK);
	assert_true(trial.ended.until == trial.ended.at + DW_HOURS(5));
	timer.flags = DW_DUE_LATEST;
	timer.wait_max_us = DW_DAYS(1);
	assert_int_equal(dw_put(trial.d, &timer, NULL, NULL), DW_OK);
	timer.keep_us = DW_HOURS(9);
	assert_int_equal(dw_put(trial.d, &timer, NULL, NULL), DW_OK);
	assert_int_equal(dw_cancel(trial.d, "a", NULL, NULL), DW_OK);
	pass(&trial, 0);
	assert_int_equal(ask(&trial), DW_OK);
	assert_true(trial.ended.until == trial.ended.at + DW_HOURS(9));
	end(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(end_of_a_delivery_is_told),
	    cmocka_unit_test(end_of_a_retry_comes_with_its_last_attempt),
	    cmocka_unit_test(end_of_a_dead_letter_is_told),
	    cmocka_unit_test(end_of_a_late_timer_never_started),
	    cmocka_unit_test(end_of_a_cancel_is_told),
	    cmocka_unit_test(end_of_a_cancelled_delivery_is_its_verdict),
	    cmocka_unit_test(end_of_each_occurrence_is_told),
	    cmocka_unit_test(result_has_every_size_up_to_its_limit),
	    cmocka_unit_test(result_on_a_worker_is_kept),
	    cmocka_unit_test(result_of_a_batch_is_of_each_timer),
	    cmocka_unit_test(letter_is_found_without_an_end),
	    cmocka_unit_test(result_outside_of_a_handler_is_refused),
	    cmocka_unit_test(once_lets_an_id_through_once),
	    cmocka_unit_test(once_is_refused_while_it_is_delivered),
	    cmocka_unit_test(keep_goes_with_the_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
