/* Due timers whose queue is full: they wait as due, and enter oldest first as soon as there is
 * room, on a clock that the test moves. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/testing.h"
#include "support/seen.h"

#define TIMERS 40
#define ROOM 5

struct program {
	dw *d;
	int got; /* messages that were taken */
	int next;
	dw_topic_info info;
	size_t count;
	char tokens[ROOM][DW_TOKEN_SIZE];
	dw_verdict verdict; /* of consume() */
};

static void done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	(void)user;
	assert_int_equal(result->status, DW_OK);
}

static void answered(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	(void)user;
	for (size_t i = 0; i < count; i++)
		assert_int_equal(results[i].status, DW_OK);
}

/* taken: the ids are numbers in the order of the deadlines. */
static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct program *program = user;
	char id[16];

	(void)d;
	assert_int_equal(status, DW_OK);
	program->count = count;
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(id, sizeof id, "%d", program->got++);
		assert_string_equal(messages[i].id, id);
		(void)snprintf(program->tokens[i], DW_TOKEN_SIZE, "%s", messages[i].token);
	}
}

static void listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	((struct program *)user)->info = topics[0];
}

static void pass(struct program *program, dw_usec time)
{
	assert_int_equal(dw_test_advance(program->d, dw_now(program->d) + time), DW_OK);
}

/* set: the queue has little room, and refuses what is too much. */
static void set(struct program *program, dw_topic_settings settings)
{
	settings.size = sizeof settings;
	settings.queue = 1;
	settings.max = ROOM;
	settings.overflow = DW_REFUSE;
	assert_int_equal(dw_topic_set(program->d, "q", &settings, done, program), DW_OK);
	pass(program, 0);
}

/* fill_up: more timers come due, one each `apart`, than their queue has room for. */
static void fill_up(struct program *program, dw_usec apart)
{
	dw_options options = {.size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
	char id[16];

	*program = (struct program){0};
	assert_int_equal(dw_open(&program->d, &options, NULL), DW_OK);
	set(program, (dw_topic_settings){0});
	for (int i = 0; i < TIMERS; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		assert_int_equal(dw_after(program->d, "q", id, DW_SECONDS(1) + i * apart, NULL, 0),
				 DW_OK);
	}
	pass(program, DW_SECONDS(3));
}

/* take takes what there is. */
static void take(struct program *program)
{
	const char *topic = "q";
	dw_take_options options = {
	    .size = sizeof options, .topics = &topic, .topic_count = 1, .max = ROOM};

	program->count = 0;
	assert_int_equal(dw_take(program->d, &options, taken, program), DW_OK);
	pass(program, 0);
}

/* consume takes what there is, and answers it. */
static void consume(struct program *program)
{
	const char *tokens[ROOM];
	dw_answer answer = {.size = sizeof answer, .tokens = tokens, .verdict = program->verdict};

	take(program);
	for (size_t i = 0; i < program->count; i++)
		tokens[i] = program->tokens[i];
	answer.count = program->count;
	if (answer.count > 0)
		assert_int_equal(dw_ack(program->d, &answer, answered, program), DW_OK);
	pass(program, DW_MILLISECONDS(1));
}

static void timers_of_a_full_queue_count_as_due(void **state)
{
	struct program program;

	(void)state;
	fill_up(&program, 1);
	assert_int_equal(dw_topic_list(program.d, "q", listed, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.info.waiting, ROOM);
	assert_int_equal(program.info.due, TIMERS - ROOM);
	assert_int_equal(program.info.pending, 0);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static void timers_enter_as_soon_as_there_is_room(dw_usec apart)
{
	struct program program;
	dw_usec began;

	fill_up(&program, apart);
	began = dw_now(program.d);
	for (int i = 0; i < TIMERS && program.got < TIMERS; i++)
		consume(&program);
	assert_int_equal(program.got, TIMERS);
	assert_in_range(dw_now(program.d) - began, 0, DW_MILLISECONDS(TIMERS));
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static void late_timers_enter_in_their_order(void **state)
{
	(void)state;
	timers_enter_as_soon_as_there_is_room(1);
	timers_enter_as_soon_as_there_is_room(DW_MILLISECONDS(30));
}

static void timers_of_one_deadline_enter_in_their_order(void **state)
{
	(void)state;
	timers_enter_as_soon_as_there_is_room(0);
}

/* A take of a queue that gives messages at most once deletes them, so it makes room. */
static void timers_enter_when_an_at_most_once_queue_is_taken_from(void **state)
{
	struct program program;

	(void)state;
	fill_up(&program, 1);
	set(&program, (dw_topic_settings){.hide_us = DW_AT_MOST_ONCE});
	for (int i = 0; i < TIMERS && program.got < TIMERS; i++) {
		take(&program);
		pass(&program, DW_MILLISECONDS(1));
	}
	assert_int_equal(program.got, TIMERS);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

/* The retries of these messages are used up: they become dead letters. */
static void timers_enter_when_messages_have_died(void **state)
{
	struct program program;
	dw_usec began;

	(void)state;
	fill_up(&program, 1);
	set(&program, (dw_topic_settings){.retries_max = DW_NO_RETRIES});
	program.verdict = DW_RETRY;
	began = dw_now(program.d);
	for (int i = 0; i < TIMERS && program.got < TIMERS; i++)
		consume(&program);
	assert_int_equal(program.got, TIMERS);
	assert_in_range(dw_now(program.d) - began, 0, DW_MILLISECONDS(TIMERS));
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static void looked_at(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		      void *user)
{
	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	*(uint32_t *)user = timers->attempt;
}

/* attempts_of returns how often a timer was tried. */
static uint32_t attempts_of(struct program *program, const char *id)
{
	uint32_t attempts = 0;

	assert_int_equal(dw_get(program->d, id, looked_at, &attempts), DW_OK);
	pass(program, 0);
	return attempts;
}

/* Of many timers that wait for a consumer one is tried each second. It has not started, and is not
 * late by what it waits. */
static void waiting_for_room_is_no_start_and_no_lateness(void **state)
{
	dw_stats stats = {.size = sizeof stats};
	struct program program;

	(void)state;
	fill_up(&program, 1);
	for (int i = 0; i < 30; i++)
		pass(&program, DW_SECONDS(1));
	assert_int_equal(dw_get_stats(program.d, &stats), DW_OK);
	assert_int_equal(stats.fired, ROOM);
	assert_in_range(attempts_of(&program, "5"), 25, 40);
	assert_in_range(attempts_of(&program, "9"), 0, 1);
	for (int i = 0; i < TIMERS && program.got < TIMERS; i++)
		consume(&program);
	assert_int_equal(dw_get_stats(program.d, &stats), DW_OK);
	assert_int_equal(stats.fired, TIMERS);
	assert_in_range(stats.lag_max_us, 0, DW_SECONDS(2));
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static void put_now(struct program *program, const char *id, dw_usec delay)
{
	assert_int_equal(dw_after(program->d, "q", id, delay, NULL, 0), DW_OK);
}

/* A place becomes free while no timer waits for one. The next timers that find the queue full are
 * tried with the usual pauses. */
static void room_that_no_timer_took_is_forgotten(void **state)
{
	static const char *const ids[] = {"0", "1", "2", "3", "4"};
	dw_options options = {.size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
	struct program program = {0};
	const char *token = program.tokens[0];
	dw_answer answer = {.size = sizeof answer, .tokens = &token, .count = 1};

	(void)state;
	assert_int_equal(dw_open(&program.d, &options, NULL), DW_OK);
	set(&program, (dw_topic_settings){0});
	for (size_t i = 0; i < ROOM; i++)
		put_now(&program, ids[i], 0);
	pass(&program, DW_SECONDS(1));
	take(&program);
	assert_int_equal(program.count, ROOM);
	put_now(&program, "late", 0);
	pass(&program, DW_MILLISECONDS(1200));
	assert_int_equal(dw_cancel(program.d, "late", done, &program), DW_OK);
	assert_int_equal(dw_ack(program.d, &answer, answered, &program), DW_OK);
	pass(&program, DW_MILLISECONDS(1));
	put_now(&program, "5", 0);
	pass(&program, DW_MILLISECONDS(1));
	put_now(&program, "6", DW_MILLISECONDS(200));
	put_now(&program, "7", DW_MILLISECONDS(200));
	for (int i = 0; i < 20; i++)
		pass(&program, DW_MILLISECONDS(100));
	assert_in_range(attempts_of(&program, "6"), 1, 12);
	assert_in_range(attempts_of(&program, "7"), 0, 12);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(timers_of_a_full_queue_count_as_due),
	    cmocka_unit_test(late_timers_enter_in_their_order),
	    cmocka_unit_test(timers_of_one_deadline_enter_in_their_order),
	    cmocka_unit_test(timers_enter_when_an_at_most_once_queue_is_taken_from),
	    cmocka_unit_test(timers_enter_when_messages_have_died),
	    cmocka_unit_test(waiting_for_room_is_no_start_and_no_lateness),
	    cmocka_unit_test(room_that_no_timer_took_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
