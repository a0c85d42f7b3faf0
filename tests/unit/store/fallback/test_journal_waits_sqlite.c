/* What waits for a row of the journal is answered, in whatever way the row ends while Redis is back
 * and the disk is slow. */
#include <stdio.h>

#include "support/cmocka.h"
#include "support/faulty.h"
#include "support/journaled.h"

enum { GETS = 20 };

struct gets {
	int answered;
	int found;
};

static void found(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		  void *user)
{
	struct gets *gets = user;

	(void)d;
	(void)timers;
	(void)count;
	(void)next;
	gets->answered++;
	gets->found += status == DW_OK;
}

/* await_back: the program knows that Redis is there again. */
static void await_back(struct program *program)
{
	dw_stats stats = {.size = sizeof stats};

	redis_server_restart(&journaled_server);
	do {
		turn_seconds(program, 0.05);
		assert_int_equal(dw_get_stats(program->d, &stats), DW_OK);
	} while (stats.journal.state == DW_JOURNAL_TAKES);
}

/* ask_behind_row asks for the timer while its row is being written, and Redis is back; then the
 * disk goes on, or fails. */
static struct gets ask_behind_row(struct program *program, const char *id, bool fails)
{
	struct gets gets = {0};

	assert_true(faulty_await_blocked());
	await_back(program);
	for (int i = 0; i < GETS; i++)
		assert_int_equal(dw_get(program->d, id, found, &gets), DW_OK);
	turn_seconds(program, 0.1);
	if (fails)
		faulty_arm(FAULTY_SYNC, 1, 8, false);
	faulty_unblock();
	turn_until(program, &gets.answered, GETS);
	faulty_disarm();
	turn_until(program, &program->replays, 1);
	return gets;
}

/* A put of an id that Redis never had is taken back: its row is deleted. */
static void gets_behind_a_row_that_is_deleted_are_answered(void **state)
{
	struct program program;
	struct gets gets;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	assert_int_equal(dw_sync(program.d, DW_SECONDS(20)), DW_OK);
	turn_seconds(&program, 0.2); /* it knows all timers, so that "1" is none of them */
	lose_redis(&program);
	put(&program, "1", DW_HOURS(1));
	assert_answer(&program, "1", DW_OK, DW_JOURNALED);
	faulty_block();
	begin_cancel(&program, "1");
	turn_seconds(&program, 0.05);
	gets = ask_behind_row(&program, "1", false);
	assert_int_equal(gets.found, 0);
	assert_int_equal(dw_sync(program.d, DW_SECONDS(20)), DW_OK);
	journaled_end(&program);
}

/* A row that was new, and that the disk refuses. */
static void gets_behind_a_row_that_fails_are_answered(void **state)
{
	struct program program;

	(void)state;
	journaled_begin(&program, DW_OWNER);
	lose_redis(&program);
	faulty_block();
	begin_put(&program, "2", DW_HOURS(1));
	turn_seconds(&program, 0.05);
	(void)ask_behind_row(&program, "2", true);
	assert_int_equal(dw_sync(program.d, DW_SECONDS(20)), DW_OK);
	journaled_end(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(gets_behind_a_row_that_is_deleted_are_answered),
	    cmocka_unit_test(gets_behind_a_row_that_fails_are_answered),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
