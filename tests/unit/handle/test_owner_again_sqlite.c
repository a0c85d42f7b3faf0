/* What a new owner of a store finds of the timers that the owner before had held or tried. */
#include "support/cmocka.h"

#include <stdio.h>

#include "durawheel/rule.h"
#include "durawheel/topic.h"
#include "support/temp.h"

#define PATIENCE DW_SECONDS(60)

struct program {
	dw *d;
	unsigned starts;
	dw_verdict verdict;
	int status; /* of the last call */
	int state;
	char url[TEMP_SIZE + 16];
	char folder[TEMP_SIZE];
};

static dw_verdict start(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;

	(void)d;
	(void)firing;
	program->starts++;
	return program->verdict;
}

static void done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct program *)user)->status = result->status;
}

static void looked(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		   void *user)
{
	struct program *program = user;

	(void)d;
	(void)next;
	program->status = status;
	program->state = count > 0 ? (int)timers->state : -1;
}

static void begin(struct program *program)
{
	dw_options options = {.size = sizeof options, .store = program->url};

	program->starts = 0;
	assert_int_equal(dw_open(&program->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(program->d, "t", start, program), DW_OK);
}

/* turn_until lets the handle turn until so many deliveries have started. */
static void turn_until(struct program *program, unsigned starts)
{
	while (program->starts < starts) {
		assert_int_equal(dw_turn(program->d), DW_OK);
		assert_int_equal(dw_sync(program->d, PATIENCE), DW_OK);
	}
}

static void turn_for(struct program *program, dw_usec time)
{
	dw_usec end = dw_now(program->d) + time;

	while (dw_now(program->d) < end) {
		assert_int_equal(dw_turn(program->d), DW_OK);
		assert_int_equal(dw_sync(program->d, PATIENCE), DW_OK);
	}
}

static void set_up(struct program *program)
{
	char path[TEMP_SIZE];

	*program = (struct program){.verdict = DW_RETRY};
	temp_make(program->folder);
	(void)snprintf(program->url, sizeof program->url, "sqlite:%s",
		       temp_file(path, program->folder, "timers.db"));
	begin(program);
}

static void tear_down(struct program *program)
{
	assert_int_equal(dw_close(program->d, PATIENCE), DW_OK);
	temp_remove(program->folder);
}

/* The store has the settings of topics and the timers. The timers may be loaded first. */
static void long_back_off_waits_unclaimed(void **state)
{
	dw_topic_settings settings = {.size = sizeof settings,
				      .backoff_first_us = DW_HOURS(24),
				      .backoff_max_us = DW_DAYS(30)};
	struct program program;

	(void)state;
	set_up(&program);
	assert_int_equal(dw_topic_set(program.d, "t", &settings, done, &program), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "a", 0, NULL, 0), DW_OK);
	turn_until(&program, 1);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
	begin(&program);
	turn_for(&program, DW_MILLISECONDS(300));
	assert_int_equal(dw_get(program.d, "a", looked, &program), DW_OK);
	assert_int_equal(dw_sync(program.d, PATIENCE), DW_OK);
	assert_int_equal(program.status, DW_OK);
	assert_int_equal(program.state, DW_PENDING);
	assert_int_equal(program.starts, 0);
	tear_down(&program);
}

static void held_timer_that_was_cancelled_ends_at_the_close(void **state)
{
	dw_rule rule = {.size = sizeof rule, .every = DW_MILLISECONDS(100)};
	dw_timer timer = {.size = sizeof timer, .topic = "t", .id = "a", .rule = &rule};
	struct program program;

	(void)state;
	set_up(&program);
	program.verdict = DW_HOLD;
	assert_int_equal(dw_put(program.d, &timer, NULL, NULL), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "b", 0, NULL, 0), DW_OK);
	turn_until(&program, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dw_cancel(program.d, i == 0 ? "a" : "b", done, &program), DW_OK);
		assert_int_equal(dw_sync(program.d, PATIENCE), DW_OK);
		assert_int_equal(program.status, DW_ELATE);
	}
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
	begin(&program);
	turn_for(&program, DW_MILLISECONDS(300));
	assert_int_equal(program.starts, 0);
	tear_down(&program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(long_back_off_waits_unclaimed),
	    cmocka_unit_test(held_timer_that_was_cancelled_ends_at_the_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
