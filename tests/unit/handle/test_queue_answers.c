/* What becomes of messages that a program answers, and of takes that wait. On a clock that the test
 * moves. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/testing.h"
#include "support/seen.h"

enum { MESSAGES = 4, TAKES = 256 };

struct program {
	dw *d;
	size_t count; /* messages of the last take */
	char ids[MESSAGES + 1];
	char tokens[MESSAGES][DW_TOKEN_SIZE];
	size_t letters;
	char dead[MESSAGES + 1];
	int answers; /* of takes */
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

static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct program *program = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	program->count = count;
	memset(program->ids, 0, sizeof program->ids);
	for (size_t i = 0; i < count; i++) {
		program->ids[i] = messages[i].id[0];
		(void)snprintf(program->tokens[i], DW_TOKEN_SIZE, "%s", messages[i].token);
	}
}

static void lettered(dw *d, int status, const dw_dead *letters, size_t count, const dw_cursor *next,
		     void *user)
{
	struct program *program = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	program->letters = count;
	for (size_t i = 0; i < count; i++)
		program->dead[i] = letters[i].id[0];
}

static void pass(struct program *program, dw_usec time)
{
	assert_int_equal(dw_test_advance(program->d, dw_now(program->d) + time), DW_OK);
}

static void begin(struct program *program)
{
	dw_options options = {.size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
	dw_topic_settings settings = {
	    .size = sizeof settings, .queue = 1, .hide_us = DW_SECONDS(5)};

	*program = (struct program){0};
	assert_int_equal(dw_open(&program->d, &options, NULL), DW_OK);
	assert_int_equal(dw_topic_set(program->d, "q", &settings, done, program), DW_OK);
	pass(program, 0);
}

static void push(struct program *program, const char *letters)
{
	for (; *letters; letters++) {
		char id[2] = {*letters, '\0'};
		dw_timer message = {.size = sizeof message, .id = id, .topic = "q"};

		assert_int_equal(dw_push(program->d, &message, 1, done, program), DW_OK);
	}
	pass(program, 0);
}

static void take(struct program *program, size_t most)
{
	const char *topic = "q";
	dw_take_options options = {
	    .size = sizeof options, .topics = &topic, .topic_count = 1, .max = most};

	program->count = MESSAGES + 1;
	assert_int_equal(dw_take(program->d, &options, taken, program), DW_OK);
	pass(program, 0);
	assert_true(program->count <= MESSAGES);
}

/* Each of them is deleted, and no other one. */
static void messages_that_are_given_up_are_letters_and_gone(void **state)
{
	struct program program;
	const char *tokens[2];
	dw_answer answer = {
	    .size = sizeof answer, .tokens = tokens, .count = 2, .verdict = DW_DEAD};

	(void)state;
	begin(&program);
	push(&program, "abcd");
	take(&program, 4);
	assert_string_equal(program.ids, "abcd");
	tokens[0] = program.tokens[1];
	tokens[1] = program.tokens[2];
	assert_int_equal(dw_ack(program.d, &answer, answered, &program), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(dw_dead_list(program.d, NULL, NULL, 10, lettered, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.letters, 2);
	assert_string_equal(program.dead, "bc");
	pass(&program, DW_SECONDS(10)); /* the others come back, and these do not */
	take(&program, 4);
	assert_string_equal(program.ids, "ad");
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

/* push_to makes a queue of the name, with one message whose id is the letter. */
static void push_to(struct program *program, const char *queue, char letter)
{
	char id[2] = {letter, '\0'};
	dw_timer message = {.size = sizeof message, .id = id, .topic = queue};
	dw_topic_settings settings = {
	    .size = sizeof settings, .queue = 1, .hide_us = DW_MINUTES(1)};

	assert_int_equal(dw_topic_set(program->d, queue, &settings, done, program), DW_OK);
	assert_int_equal(dw_push(program->d, &message, 1, done, program), DW_OK);
	pass(program, 1);
}

/* begin_take asks all queues. */
static void begin_take(struct program *program)
{
	dw_take_options options = {.size = sizeof options, .max = 1};

	program->count = MESSAGES + 1;
	assert_int_equal(dw_take(program->d, &options, taken, program), DW_OK);
}

static void take_any(struct program *program)
{
	begin_take(program);
	pass(program, 0);
	assert_true(program->count <= 1);
}

/* A take of all topics comes to each queue that has something, behind any number of older ones that
 * are paused or only hide messages. */
static void queue_behind_many_others_has_its_turn(void **state)
{
	enum { MANY = 150 };
	struct program program;
	char name[16];

	(void)state;
	begin(&program);
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof name, "hidden%d", i);
		push_to(&program, name, 'h');
	}
	for (int i = 0; i < MANY; i++) {
		take_any(&program);
		assert_string_equal(program.ids, "h");
	}
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof name, "paused%d", i);
		push_to(&program, name, 'p');
		assert_int_equal(dw_topic_pause(program.d, name, DW_PAUSE_DELIVERY, done, &program),
				 DW_OK);
	}
	push_to(&program, "z1", 'a');
	push_to(&program, "z2", 'b');
	take_any(&program);
	assert_string_equal(program.ids, "a");
	take_any(&program);
	assert_string_equal(program.ids, "b");
	take_any(&program);
	assert_int_equal(program.count, 0);
	pass(&program, DW_MINUTES(2)); /* what was hidden comes back */
	for (int i = 0; i < MANY; i++) {
		take_any(&program);
		assert_string_equal(program.ids, "h");
	}
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

/* drop_in_a_round takes the only message of the queue, and drops the queue after another take has
 * found it, and before that take asks it. */
static void drop_in_a_round(struct program *program, const char *queue)
{
	const char *token = program->tokens[0];
	dw_answer answer = {.size = sizeof answer, .tokens = &token, .count = 1};

	take_any(program);
	assert_int_equal(program->count, 1);
	begin_take(program);
	assert_int_equal(dw_ack(program->d, &answer, answered, program), DW_OK);
	assert_int_equal(dw_topic_drop(program->d, queue, done, program), DW_OK);
	pass(program, 0);
}

/* It fails nothing: the next queue is asked, and without one the take finds nothing. */
static void queue_dropped_in_a_round_is_passed_over(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	push_to(&program, "a", '1');
	push_to(&program, "b", '2');
	drop_in_a_round(&program, "a");
	assert_string_equal(program.ids, "2");
	push_to(&program, "c", '3');
	drop_in_a_round(&program, "c");
	assert_int_equal(program.count, 0);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static uint64_t operations(const struct program *program)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(program->d, &stats), DW_OK);
	return stats.store_operations;
}

/* One message: one of those that wait asks for it, the one that has waited for the longest. */
static void message_calls_one_take(void **state)
{
	enum { WAITING = 3 };
	struct program program, waiting[WAITING] = {{0}};
	const char *topic = "q";
	dw_take_options options = {.size = sizeof options,
				   .topics = &topic,
				   .topic_count = 1,
				   .max = 1,
				   .wait_us = DW_HOURS(1)};
	uint64_t before;

	(void)state;
	begin(&program);
	for (int i = 0; i < WAITING; i++)
		assert_int_equal(dw_take(program.d, &options, taken, &waiting[i]), DW_OK);
	pass(&program, 0);
	for (int i = 0; i < WAITING; i++) {
		before = operations(&program);
		push(&program, "x");
		assert_int_equal(operations(&program) - before, 2); /* the push, and its take */
		assert_int_equal(waiting[i].count, 1);
		assert_int_equal(i + 1 < WAITING ? waiting[i + 1].count : 0, 0);
	}
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

/* A take of two queues is called for the first one again and again, and somebody else takes the
 * message. It comes to the second one all the same. */
static void called_take_does_not_forget_its_other_queues(void **state)
{
	static const char *const names[] = {"p", "q"};
	struct program program, waiting = {0};
	dw_take_options options = {.size = sizeof options,
				   .topics = names,
				   .topic_count = 2,
				   .max = 1,
				   .wait_us = DW_HOURS(1)};
	dw_take_options other = {.size = sizeof other, .topics = names, .topic_count = 1, .max = 1};

	(void)state;
	begin(&program);
	push_to(&program, "p", 'x');
	push(&program, "m");
	take(&program, 1); /* m comes back after 5 s */
	assert_int_equal(dw_take(program.d, &other, taken, &program), DW_OK);
	assert_int_equal(dw_take(program.d, &options, taken, &waiting), DW_OK);
	pass(&program, 0);
	for (int i = 0; i < 20 && waiting.count == 0; i++) {
		dw_timer message = {.size = sizeof message, .id = "y", .topic = "p"};

		assert_int_equal(dw_take(program.d, &other, taken, &program), DW_OK);
		assert_int_equal(dw_push(program.d, &message, 1, done, &program), DW_OK);
		assert_int_equal(dw_take(program.d, &other, taken, &program), DW_OK);
		pass(&program, DW_MILLISECONDS(500));
	}
	assert_int_equal(waiting.count, 1);
	assert_int_equal(waiting.ids[0], 'm');
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

/* A push that follows another one at once, as its answer comes. */
static void push_second(dw *d, const dw_result *result, void *user)
{
	dw_timer message = {.size = sizeof message, .id = "2", .topic = "q"};

	assert_int_equal(result->status, DW_OK);
	assert_int_equal(dw_push(d, &message, 1, done, user), DW_OK);
}

/* A take of two queues asks the first one when the second one calls it. It gets its message from
 * the first one, and the other take comes to the second one at once. */
static void take_that_ends_passes_its_call_on(void **state)
{
	static const char *const names[] = {"p", "q"};
	struct program program, first = {0}, other = {0};
	dw_timer message = {.size = sizeof message, .id = "1", .topic = "p"};
	dw_take_options options = {.size = sizeof options,
				   .topics = names,
				   .topic_count = 2,
				   .max = 1,
				   .wait_us = DW_HOURS(1)};

	(void)state;
	begin(&program);
	push_to(&program, "p", 'x');
	take_any(&program);
	assert_int_equal(dw_take(program.d, &options, taken, &first), DW_OK);
	options.topics = &names[1];
	options.topic_count = 1;
	assert_int_equal(dw_take(program.d, &options, taken, &other), DW_OK);
	pass(&program, 0);
	assert_int_equal(dw_push(program.d, &message, 1, push_second, &program), DW_OK);
	pass(&program, 0);
	assert_string_equal(first.ids, "1");
	assert_string_equal(other.ids, "2");
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static void take_of(struct program *program, const char *const *names, size_t count, dw_usec wait)
{
	dw_take_options options = {.size = sizeof options,
				   .topics = names,
				   .topic_count = count,
				   .max = 1,
				   .wait_us = wait};

	program->count = 0;
	assert_int_equal(dw_take(program->d, &options, taken, program), DW_OK);
	pass(program, 0);
}

static void name_with_a_star_is_of_all_that_begin_so(void **state)
{
	static const char *const games[] = {"game.*"}, *const some[] = {"z", "game.2*"};
	struct program program;

	(void)state;
	begin(&program);
	push_to(&program, "game.1", 'a');
	push_to(&program, "other", 'o');
	push_to(&program, "game.2", 'b');
	push_to(&program, "game.1", 'c');
	push_to(&program, "gam", 'g');
	push_to(&program, "z1", 'z');
	for (const char *id = "abc"; *id; id++) {
		take_of(&program, games, 1, 0);
		assert_int_equal(program.count, 1);
		assert_int_equal(program.ids[0], *id);
	}
	take_of(&program, games, 1, 0);
	assert_int_equal(program.count, 0);
	take_of(&program, some, 2, DW_HOURS(1));
	push_to(&program, "game.1", 'd');
	assert_int_equal(program.count, 0);
	push_to(&program, "game.22", 'e');
	assert_int_equal(program.count, 1);
	assert_int_equal(program.ids[0], 'e');
	take_of(&program, some, 2, DW_HOURS(1));
	push_to(&program, "z", 'f');
	assert_int_equal(program.count, 1);
	assert_int_equal(program.ids[0], 'f');
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

/* No store is asked for a push that has too much data. */
static void push_is_bounded_in_bytes(void **state)
{
	enum { LARGE = 1 << 16, MANY = DW_TAKE_BYTES / LARGE + 1 };
	static char data[LARGE];
	dw_timer messages[MANY];
	struct program program;

	(void)state;
	begin(&program);
	for (int i = 0; i < MANY; i++)
		messages[i] = (dw_timer){
		    .size = sizeof *messages, .topic = "q", .data = data, .data_size = LARGE};
	assert_int_equal(dw_push(program.d, messages, MANY, done, &program), DW_ELIMIT);
	assert_non_null(strstr(dw_last_error(program.d), "16 MiB"));
	assert_int_equal(dw_push(program.d, messages, MANY - 1, done, &program), DW_OK);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
}

static void closed(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	(void)d;
	(void)messages;
	assert_int_equal(status, DW_ECLOSED);
	assert_int_equal(count, 0);
	((struct program *)user)->answers++;
}

/* So many takes may wait; each is answered once when the handle closes. */
static void takes_that_wait_are_bounded_and_answered(void **state)
{
	struct program program;
	const char *topic = "q";
	dw_take_options options = {.size = sizeof options,
				   .topics = &topic,
				   .topic_count = 1,
				   .max = 1,
				   .wait_us = DW_HOURS(1)};

	(void)state;
	begin(&program);
	for (int i = 0; i < TAKES; i++)
		assert_int_equal(dw_take(program.d, &options, closed, &program), DW_OK);
	assert_int_equal(dw_take(program.d, &options, closed, &program), DW_ELIMIT);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(program.answers, 0);
	assert_int_equal(dw_close(program.d, PATIENCE), DW_OK);
	assert_int_equal(program.answers, TAKES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(messages_that_are_given_up_are_letters_and_gone),
	    cmocka_unit_test(queue_behind_many_others_has_its_turn),
	    cmocka_unit_test(queue_dropped_in_a_round_is_passed_over),
	    cmocka_unit_test(message_calls_one_take),
	    cmocka_unit_test(called_take_does_not_forget_its_other_queues),
	    cmocka_unit_test(take_that_ends_passes_its_call_on),
	    cmocka_unit_test(name_with_a_star_is_of_all_that_begin_so),
	    cmocka_unit_test(push_is_bounded_in_bytes),
	    cmocka_unit_test(takes_that_wait_are_bounded_and_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
