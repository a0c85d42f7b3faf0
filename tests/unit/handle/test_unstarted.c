/* What the numbers of a topic say of timers that are due and not started, and of deliveries that
 * are held. On a clock that the test moves. */
#include "support/cmocka.h"

#include <string.h>

#include "durawheel/metrics.h"
#include "durawheel/testing.h"
#include "durawheel/topic.h"
#include "support/seen.h"

struct program {
	dw *d;
	dw_verdict verdict;
	dw_token token; /* of the last delivery */
	size_t starts;
	dw_topic_info mail;
};

static dw_verdict handle(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;

	(void)d;
	program->token = *firing->token;
	program->starts++;
	return program->verdict;
}

static void listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct program *program = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	program->mail = topics[0];
}

static void pass(struct program *program, dw_usec time)
{
	assert_int_equal(dw_test_advance(program->d, dw_now(program->d) + time), DW_OK);
}

/* look reads the numbers of the topic. */
static void look(struct program *program)
{
	assert_int_equal(dw_topic_list(program->d, "mail", listed, program), DW_OK);
	pass(program, 0);
}

static void begin(struct program *program, dw_verdict verdict)
{
	const dw_options options = {.size = sizeof options,
				    .store = "memory:",
				    .flags = DW_TEST_CLOCK,
				    .hold_us = DW_HOURS(1)};

	*program = (struct program){.verdict = verdict};
	assert_int_equal(dw_open(&program->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(program->d, "mail", handle, program), DW_OK);
}

static void put(struct program *program, const char *id, dw_usec delay)
{
	assert_int_equal(dw_after(program->d, "mail", id, delay, NULL, 0), DW_OK);
}

static void settle(struct program *program)
{
	assert_int_equal(dw_settle(program->d, &program->token, DW_DONE, -1, NULL, NULL), DW_OK);
}

static void end(struct program *program)
{
	assert_int_equal(dw_close(program->d, PATIENCE), DW_OK);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void paused_handle_leaves_timers_due(void **state)
{
	struct program program;
	dw_usec first;

	(void)state;
	begin(&program, DW_DONE);
	first = dw_now(program.d) + DW_SECONDS(1);
	assert_int_equal(dw_pause(program.d), DW_OK);
	put(&program, "b", DW_SECONDS(2));
	put(&program, "a", DW_SECONDS(1));
	put(&program, "c", DW_HOURS(1));
	look(&program);
	assert_int_equal(program.mail.pending, 3);
	assert_int_equal(program.mail.due, 0);
	assert_int_equal(program.mail.oldest, 0);
	pass(&program, DW_SECONDS(5));
	look(&program);
	assert_int_equal(program.mail.pending, 1);
	assert_int_equal(program.mail.due, 2);
	assert_int_equal(program.mail.running, 0);
	assert_int_equal(program.mail.oldest, first);
	assert_int_equal(dw_resume(program.d), DW_OK);
	pass(&program, 0);
	look(&program);
	assert_int_equal(program.mail.due, 0);
	assert_int_equal(program.mail.oldest, 0);
	assert_int_equal(program.mail.started, 2);
	end(&program);
}

static void held_delivery_takes_until_its_verdict(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_HOLD);
	put(&program, "a", DW_SECONDS(1));
	pass(&program, DW_SECONDS(1));
	look(&program);
	assert_int_equal(program.mail.running, 1);
	assert_int_equal(program.mail.took_max_us, 0);
	pass(&program, DW_SECONDS(7));
	settle(&program);
	look(&program);
	assert_int_equal(program.mail.running, 0);
	assert_int_equal(program.mail.took_max_us, DW_SECONDS(7));
	end(&program);
}

static void hold_that_ends_by_itself_takes_as_long(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_HOLD);
	put(&program, "a", 0);
	pass(&program, DW_MINUTES(59));
	look(&program);
	assert_int_equal(program.mail.took_max_us, 0);
	pass(&program, DW_MINUTES(1));
	look(&program);
	assert_int_equal(program.mail.took_max_us, DW_HOURS(1));
	end(&program);
}

static void unstarted_delivery_is_due(void **state)
{
	struct program program;
	dw_usec due;

	(void)state;
	begin(&program, DW_HOLD_UNSTARTED);
	due = dw_now(program.d) + DW_SECONDS(1);
	put(&program, "a", DW_SECONDS(1));
	pass(&program, DW_SECONDS(3));
	look(&program);
	assert_int_equal(program.starts, 1);
	assert_int_equal(program.mail.due, 1);
	assert_int_equal(program.mail.running, 0);
	assert_int_equal(program.mail.oldest, due);
	assert_int_equal(program.mail.started, 0);
	pass(&program, DW_SECONDS(8));
	assert_int_equal(dw_start(program.d, &program.token), DW_OK);
	look(&program);
	assert_int_equal(program.mail.due, 0);
	assert_int_equal(program.mail.running, 1);
	assert_int_equal(program.mail.oldest, 0);
	assert_int_equal(program.mail.started, 1);
	assert_int_equal(program.mail.late_max_us, DW_SECONDS(10));
	assert_int_equal(program.mail.late_p50_us, DW_SECONDS(10));
	pass(&program, DW_SECONDS(4));
	settle(&program);
	look(&program);
	assert_int_equal(program.mail.running, 0);
	assert_int_equal(program.mail.done, 1);
	assert_int_equal(program.mail.took_max_us, DW_SECONDS(4));
	end(&program);
}

static void unstarted_delivery_may_end_without_a_start(void **state)
{
	struct program program;

	(void)state;
	begin(&program, DW_HOLD_UNSTARTED);
	put(&program, "a", 0);
	pass(&program, DW_SECONDS(1));
	settle(&program);
	look(&program);
	assert_int_equal(program.mail.due, 0);
	assert_int_equal(program.mail.running, 0);
	assert_int_equal(program.mail.started, 0);
	assert_int_equal(program.mail.done, 1);
	assert_int_equal(program.mail.took_max_us, 0);
	end(&program);
}

static void wrong_starts_are_refused(void **state)
{
	struct program program;
	dw_token other;

	(void)state;
	begin(&program, DW_HOLD_UNSTARTED);
	assert_int_equal(dw_start(program.d, NULL), DW_EINVAL);
	assert_int_equal(dw_start(NULL, &program.token), DW_EINVAL);
	put(&program, "a", 0);
	pass(&program, 0);
	other = program.token;
	other.attempt++;
	assert_int_equal(dw_start(program.d, &other), DW_ESTALE);
	other = program.token;
	other.generation++;
	assert_int_equal(dw_start(program.d, &other), DW_ESTALE);
	(void)memcpy(other.id, "b", 2);
	assert_int_equal(dw_start(program.d, &other), DW_ESTALE);
	assert_int_equal(dw_start(program.d, &program.token), DW_OK);
	assert_int_equal(dw_start(program.d, &program.token), DW_ESTALE);
	program.verdict = DW_HOLD;
	put(&program, "c", 0);
	pass(&program, 0);
	assert_int_equal(dw_start(program.d, &program.token), DW_ESTALE);
	end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paused_handle_leaves_timers_due),
	    cmocka_unit_test(held_delivery_takes_until_its_verdict),
	    cmocka_unit_test(hold_that_ends_by_itself_takes_as_long),
	    cmocka_unit_test(unstarted_delivery_is_due),
	    cmocka_unit_test(unstarted_delivery_may_end_without_a_start),
	    cmocka_unit_test(wrong_starts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
