/* dw_set_why(): what a handler says of its failure is shown until its next verdict. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/ended.h"
#include "durawheel/testing.h"
#include "support/seen.h"
#include "support/shortage.h"

/* What the handlers say and return, and what was told of it. */
struct trial {
	dw *d;
	const char *says; /* NULL: nothing */
	dw_verdict verdict;
	int status; /* of dw_set_why() */
	dw_token token;
	uint32_t attempts;
	char why[DW_WHY_MAX + 1], dead[DW_WHY_MAX + 1], event[DW_WHY_MAX + 1];
	char message[2 * DW_MESSAGE_SIZE];
	uint32_t dead_attempt;
};

static void keep(char *ret_why, const char *why)
{
	(void)snprintf(ret_why, DW_WHY_MAX + 1, "%s", why ? why : "(none)");
}

static dw_verdict fails(dw *d, const dw_firing *firing, void *user)
{
	struct trial *trial = user;

	trial->attempts++;
	trial->token = *firing->token;
	if (trial->says)
		trial->status = dw_set_why(d, NULL, trial->says);
	return trial->verdict;
}

static void fails_together(dw *d, dw_batch *batch, void *user)
{
	struct trial *trial = user;
	char text[32];

	trial->status = dw_set_why(d, NULL, "all");
	for (size_t i = 0; i < batch->count; i++) {
		(void)snprintf(text, sizeof text, "%s failed", batch->firings[i].id);
		trial->attempts += dw_set_why(d, batch->firings[i].token, text) == DW_OK;
		batch->verdicts[i] = DW_RETRY;
	}
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct trial *trial = user;

	(void)d;
	if (event->kind != DW_EVENT_DEAD)
		return;
	keep(trial->event, event->why);
	(void)snprintf(trial->message, sizeof trial->message, "%s", event->message);
}

static void shown(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		  void *user)
{
	struct trial *trial = user;

	(void)d;
	(void)next;
	keep(trial->why, status == DW_OK && count == 1 ? timers->why : "(no timer)");
}

static void listed(dw *d, int status, const dw_dead *letters, size_t count, const dw_cursor *next,
		   void *user)
{
	struct trial *trial = user;

	(void)d;
	(void)next;
	keep(trial->dead, status == DW_OK && count == 1 ? letters->why : "(no letter)");
	trial->dead_attempt = count == 1 ? letters->attempt : 0;
}

static void begin(struct trial *trial, const char *says, dw_verdict verdict)
{
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .flags = DW_TEST_CLOCK,
			      .workers = 1,
			      .on_event = on_event,
			      .on_event_user = trial};

	*trial = (struct trial){.says = says, .verdict = verdict};
	assert_int_equal(dw_open(&trial->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(trial->d, "t", fails, trial), DW_OK);
	assert_int_equal(dw_after(trial->d, "t", "a", 0, NULL, 0), DW_OK);
}

static void pass(struct trial *trial, dw_usec time)
{
	assert_int_equal(dw_test_advance(trial->d, dw_now(trial->d) + time), DW_OK);
}

/* expect: what dw_get() and dw_dead_list() show. */
static void expect(struct trial *trial, const char *why, const char *dead)
{
	assert_int_equal(dw_get(trial->d, "a", shown, trial), DW_OK);
	assert_int_equal(dw_dead_list(trial->d, NULL, NULL, 10, listed, trial), DW_OK);
	pass(trial, 0);
	assert_string_equal(trial->why, why);
	assert_string_equal(trial->dead, dead);
}

static void end(struct trial *trial)
{
	assert_int_equal(dw_close(trial->d, PATIENCE), DW_OK);
}

static void why_of_a_retry_is_shown_until_it_is_done(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "the mail server is away", DW_RETRY);
	pass(&trial, 0);
	assert_int_equal(trial.status, DW_OK);
	expect(&trial, "the mail server is away", "(no letter)");
	trial.says = NULL;
	pass(&trial, DW_SECONDS(3));
	assert_int_equal(trial.attempts, 2);
	expect(&trial, "(none)", "(no letter)");
	trial.says = "yet";
	pass(&trial, DW_SECONDS(5));
	expect(&trial, "yet", "(no letter)");
	trial.verdict = DW_DONE;
	pass(&trial, DW_SECONDS(10));
	expect(&trial, "(no timer)", "(no letter)");
	end(&trial);
}

static void why_of_a_dead_letter_is_in_the_event(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "no such order", DW_DEAD);
	pass(&trial, 0);
	expect(&trial, "(no timer)", "no such order");
	assert_string_equal(trial.event, "no such order");
	assert_string_equal(trial.message, "a is dead: GAVE_UP: no such order");
	end(&trial);
}

static void why_of_the_last_retry_is_that_of_the_letter(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "away", DW_RETRY);
	pass(&trial, DW_HOURS(3));
	assert_int_equal(trial.attempts, DW_RETRIES_MAX + 1);
	expect(&trial, "(no timer)", "away");
	assert_string_equal(trial.event, "away");
	end(&trial);
}

static void why_is_cleaned_and_cut(void **state)
{
	static const char long_text[] =
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd\xc3\xa9";
	char cut[sizeof long_text];
	struct trial trial;

	(void)state;
	(void)snprintf(cut, sizeof cut, "%.254s", long_text); /* the last character has no room */
	begin(&trial, "line 1\nline 2 \xff\t\n", DW_RETRY);
	pass(&trial, 0);
	expect(&trial, "line 1 line 2 ?", "(no letter)");
	trial.says = long_text;
	pass(&trial, DW_SECONDS(3));
	expect(&trial, cut, "(no letter)");
	end(&trial);
}

static void why_that_is_taken_back_is_nothing(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "", DW_RETRY);
	pass(&trial, 0);
	expect(&trial, "(none)", "(no letter)");
	end(&trial);
}

static void why_of_a_held_delivery_goes_with_its_settle(void **state)
{
	struct trial trial;
	dw_token other;

	(void)state;
	begin(&trial, NULL, DW_HOLD);
	pass(&trial, 0);
	assert_int_equal(dw_set_why(trial.d, &trial.token, "no answer"), DW_OK);
	other = trial.token;
	other.attempt++;
	assert_int_equal(dw_set_why(trial.d, &other, "x"), DW_ESTALE);
	assert_int_equal(dw_settle(trial.d, &trial.token, DW_RETRY, DW_HOURS(1), NULL, NULL),
			 DW_OK);
	assert_int_equal(dw_set_why(trial.d, &trial.token, "too late"), DW_ESTALE);
	pass(&trial, 0);
	expect(&trial, "no answer", "(no letter)");
	end(&trial);
}

static void why_of_a_move_is_gone(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "x", DW_RETRY);
	pass(&trial, 0);
	assert_int_equal(dw_move(trial.d, "a", dw_now(trial.d) + DW_HOURS(1), NULL, NULL), DW_OK);
	expect(&trial, "(none)", "(no letter)");
	end(&trial);
}

static void why_of_a_batch_is_of_each_timer(void **state)
{
	struct trial trial;

	(void)state;
	for (int on_worker = 0; on_worker < 2; on_worker++) {
		dw_batch_options options = {.size = sizeof options, .on_worker = on_worker};

		begin(&trial, NULL, DW_RETRY);
		assert_int_equal(dw_on_batch(trial.d, "t", &options, fails_together, &trial),
				 DW_OK);
		assert_int_equal(dw_after(trial.d, "t", "b", 0, NULL, 0), DW_OK);
		pass(&trial, 0);
		assert_int_equal(trial.status, DW_EINVAL);
		assert_int_equal(trial.attempts, 2);
		expect(&trial, "a failed", "(no letter)");
		end(&trial);
	}
}

static void why_of_a_worker_comes_before_its_verdict(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, "from a worker", DW_RETRY);
	assert_int_equal(dw_on_worker(trial.d, "t", fails, &trial), DW_OK);
	pass(&trial, 0);
	assert_int_equal(trial.status, DW_OK);
	expect(&trial, "from a worker", "(no letter)");
	end(&trial);
}

/* How many deliveries each say something, and how few calls fit into the queue together. */
enum { TALKS = 300, TALKS_ROOM = 16 * 1024 };

struct talk {
	int deliveries, refused;
};

/* talks runs on the only worker. */
static dw_verdict talks(dw *d, const dw_firing *firing, void *user)
{
	struct talk *talk = user;

	(void)firing;
	talk->refused += dw_set_why(d, NULL, "no such account") != DW_OK;
	talk->refused += dw_set_result(d, NULL, "result", 6) != DW_OK;
	if (++talk->deliveries == TALKS)
		dw_stop(d);
	return DW_DONE;
}

/* What a worker says is posted to the handle's thread, but has no answer. */
static void what_a_worker_says_is_freed(void **state)
{
	struct shortage shortage = SHORTAGE_NONE;
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .workers = 1,
			      .posted_max_bytes = TALKS_ROOM,
			      .resize = shortage_resize,
			      .resize_user = &shortage};
	struct talk talk = {0};
	dw *d;

	(void)state;
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_on_worker(d, "t", talks, &talk), DW_OK);
	for (int i = 0; i < TALKS; i++)
		assert_int_equal(dw_after(d, "t", NULL, 0, NULL, 0), DW_OK);
	assert_int_equal(dw_run(d), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	assert_int_equal(talk.deliveries, TALKS);
	assert_int_equal(talk.refused, 0);
	assert_int_equal(shortage.blocks, 0);
}

static void why_outside_of_a_handler_is_refused(void **state)
{
	struct trial trial;

	(void)state;
	begin(&trial, NULL, DW_DONE);
	assert_int_equal(dw_set_why(trial.d, NULL, "x"), DW_EINVAL);
	assert_string_equal(dw_last_error(trial.d),
			    "dw_set_why is for inside a handler of one timer");
	assert_int_equal(dw_set_why(trial.d, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_set_why(trial.d, NULL, "x"), DW_EINVAL);
	assert_int_equal(dw_set_why(trial.d, &trial.token, NULL), DW_EINVAL);
	assert_int_equal(dw_set_why(trial.d, &trial.token, "x"), DW_EINVAL); /* it has no id */
	pass(&trial, 0);
	assert_int_equal(dw_set_why(trial.d, &trial.token, "x"), DW_ESTALE);
	end(&trial);
	assert_int_equal(dw_set_why(NULL, NULL, "x"), DW_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(why_of_a_retry_is_shown_until_it_is_done),
	    cmocka_unit_test(why_of_a_dead_letter_is_in_the_event),
	    cmocka_unit_test(why_of_the_last_retry_is_that_of_the_letter),
	    cmocka_unit_test(why_is_cleaned_and_cut),
	    cmocka_unit_test(why_that_is_taken_back_is_nothing),
	    cmocka_unit_test(why_of_a_held_delivery_goes_with_its_settle),
	    cmocka_unit_test(why_of_a_move_is_gone),
	    cmocka_unit_test(why_of_a_batch_is_of_each_timer),
	    cmocka_unit_test(why_of_a_worker_comes_before_its_verdict),
	    cmocka_unit_test(what_a_worker_says_is_freed),
	    cmocka_unit_test(why_outside_of_a_handler_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
