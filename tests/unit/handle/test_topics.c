/* Topics: retries as the topic says, pauses, limits of time, numbers, and queues, on a clock that
 * the test moves. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "durawheel/testing.h"
#include "support/seen.h"

struct program {
	dw *d;
	dw_verdict verdict;
	int starts;
	dw_usec started[64];
	int events[64]; /* by kind */
	int status;     /* of the last answer */
	size_t count;   /* of the last take, or list */
	char ids[64];
	char tokens[8][DW_TOKEN_SIZE];
	dw_topic_info info;
};

static dw_verdict handle(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;

	(void)firing;
	program->started[program->starts++] = dw_now(d);
	return program->verdict;
}

static void happened(dw *d, const dw_event *event, void *user)
{
	(void)d;
	((struct program *)user)->events[event->kind]++;
}

static void done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct program *)user)->status = result->status;
}

static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct program *program = user;

	(void)d;
	program->status = status;
	program->count = count;
	memset(program->ids, 0, sizeof program->ids);
	for (size_t i = 0; i < count && i < 8; i++) {
		program->ids[i] = messages[i].id[0];
		(void)snprintf(program->tokens[i], DW_TOKEN_SIZE, "%s", messages[i].token);
	}
}

static void listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct program *program = user;

	(void)d;
	program->status = status;
	program->count = count;
	program->info = count > 0 ? topics[0] : (dw_topic_info){0};
}

static void answered(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	assert_true(count > 0);
	((struct program *)user)->status = results[0].status;
}

static void begin(struct program *program)
{
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .flags = DW_TEST_CLOCK,
			      .on_event = happened,
			      .on_event_user = program};

	*program = (struct program){0};
	assert_int_equal(dw_open(&program->d, &options, NULL), DW_OK);
}

static void pass(struct program *program, dw_usec time)
{
	assert_int_equal(dw_test_advance(program->d, dw_now(program->d) + time), DW_OK);
}

static void end(struct program *program)
{
	assert_int_equal(dw_close(program->d, PATIENCE), DW_OK);
}

static void set(struct program *program, const char *topic, dw_topic_settings settings)
{
	settings.size = sizeof settings;
	assert_int_equal(dw_topic_set(program->d, topic, &settings, done, program), DW_OK);
	pass(program, 0);
	assert_int_equal(program->status, DW_OK);
}

/* ---- Settings ------------------------------------------------------------------------------ */

static void retries_follow_the_topic(void **state)
{
	const dw_usec delays[] = {DW_SECONDS(10), DW_SECONDS(30), DW_SECONDS(60)};
	struct program program;

	(void)state;
	begin(&program);
	program.verdict = DW_RETRY;
	set(&program, "t",
	    (dw_topic_settings){.retries_max = 3,
				.backoff_first_us = DW_SECONDS(10),
				.backoff_factor = 3,
				.backoff_max_us = DW_SECONDS(60),
				.jitter_percent = DW_NO_JITTER});
	assert_int_equal(dw_on(program.d, "t", handle, &program), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "a", 0, NULL, 0), DW_OK);
	pass(&program, DW_HOURS(1));
	assert_int_equal(program.starts, 4);
	for (int i = 0; i < 3; i++) /* to two microseconds */
		assert_int_equal((program.started[i + 1] - program.started[i]) / 2 * 2, delays[i]);
	assert_int_equal(program.events[DW_EVENT_DEAD], 1);
	set(&program, "t", (dw_topic_settings){.retries_max = DW_NO_RETRIES});
	assert_int_equal(dw_after(program.d, "t", "b", 0, NULL, 0), DW_OK);
	pass(&program, DW_HOURS(1));
	assert_int_equal(program.starts, 5);
	assert_int_equal(program.events[DW_EVENT_DEAD], 2);
	end(&program);
}

static void paused_topic_waits(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	assert_int_equal(dw_on(program.d, "t", handle, &program), DW_OK);
	assert_int_equal(dw_on(program.d, "u", handle, &program), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "a", DW_SECONDS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "b", DW_SECONDS(2), NULL, 0), DW_OK);
	assert_int_equal(dw_after(program.d, "u", "c", DW_SECONDS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_topic_pause(program.d, "t", DW_PAUSE_DELIVERY, done, &program), DW_OK);
	pass(&program, DW_SECONDS(5));
	assert_int_equal(program.starts, 1);
	assert_int_equal(program.events[DW_EVENT_NO_HANDLER], 0);
	assert_int_equal(dw_topic_list(program.d, "t", listed, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.count, 1);
	assert_int_equal(program.info.due, 2);
	assert_true(program.info.oldest > 0);
	assert_int_equal(dw_cancel(program.d, "a", done, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.status, DW_OK);
	assert_int_equal(dw_topic_pause(program.d, "t", 0, done, &program), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(program.starts, 2);
	end(&program);
}

static void paused_intake_refuses_puts(void **state)
{
	dw_timer timer = {.size = sizeof timer, .id = "a", .topic = "t"};
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "t", (dw_topic_settings){.paused = DW_PAUSE_INTAKE});
	assert_int_equal(dw_put(program.d, &timer, done, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.status, DW_EPAUSED);
	timer.topic = "u";
	assert_int_equal(dw_put(program.d, &timer, done, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.status, DW_OK);
	end(&program);
}

static void numbers_are_told(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	assert_int_equal(dw_on(program.d, "t", handle, &program), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "b", DW_HOURS(1), NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(1));
	program.verdict = DW_DEAD;
	assert_int_equal(dw_after(program.d, "t", "c", 0, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(1));
	program.verdict = DW_HOLD;
	assert_int_equal(dw_after(program.d, "t", "d", 0, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(dw_topic_list(program.d, NULL, listed, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.count, 1);
	assert_string_equal(program.info.name, "t");
	assert_int_equal(program.info.is_set, 0);
	assert_int_equal(program.info.pending, 1);
	assert_int_equal(program.info.running, 1);
	assert_int_equal(program.info.done, 1);
	assert_int_equal(program.info.dead, 1);
	end(&program);
}

static void wrong_settings_are_refused_in_words(void **state)
{
	static const struct {
		dw_topic_settings settings;
		const char *words;
	} wrong[] = {
	    {{.retries_max = 256}, "retries_max"},
	    {{.backoff_factor = 11}, "backoff_factor"},
	    {{.jitter_percent = 101}, "jitter_percent"},
	    {{.limit_us = -1}, "limit_us"},
	    {{.keep_us = -1}, "keep_us"},
	    {{.keep_us = DW_DAYS(90) + 1}, "keep_us"},
	    {{.paused = 4}, "paused"},
	    {{.max = 5}, "set queue to 1"},
	    {{.queue = 2}, "queue is 0 or 1"},
	    {{.queue = 1, .max = DW_QUEUE_MAX + 1}, "max is"},
	    {{.queue = 1, .hide_us = 999999}, "hide_us"},
	    {{.queue = 1, .hide_us = DW_HOURS(13)}, "hide_us"},
	    {{.queue = 1, .expire_us = -1}, "expire_us"},
	};
	dw_topic_settings sized = {.size = 1};
	struct program program;

	(void)state;
	begin(&program);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		dw_topic_settings settings = wrong[i].settings;

		settings.size = sizeof settings;
		assert_int_equal(dw_topic_set(program.d, "t", &settings, NULL, NULL), DW_EINVAL);
		assert_non_null(strstr(dw_last_error(program.d), wrong[i].words));
	}
	assert_int_equal(dw_topic_set(program.d, "t", &sized, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_topic_set(program.d, "t", NULL, NULL, NULL), DW_EINVAL);
	sized.size = sizeof sized;
	assert_int_equal(dw_topic_set(program.d, "*", &sized, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_topic_set(program.d, "", &sized, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_topic_pause(program.d, "t", 8, NULL, NULL), DW_EINVAL);
	end(&program);
}

/* ---- A handler that runs for too long ------------------------------------------------------ */

static dw_verdict sleep_once(dw *d, const dw_firing *firing, void *user)
{
	struct timespec pause = {.tv_nsec = 800000000};

	(void)d;
	(void)user;
	if (firing->attempt == 1)
		(void)nanosleep(&pause, NULL);
	return DW_DONE;
}

static void told(dw *d, const dw_firing_done *over, void *user)
{
	(void)d;
	(void)over;
	((struct program *)user)->starts++;
}

/* On the real clock: the limit is about real time. */
static void late_verdict_is_a_retry(void **state)
{
	struct program program = {0};
	dw_options options = {.size = sizeof options,
			      .store = "memory:",
			      .workers = 1,
			      .on_event = happened,
			      .on_event_user = &program,
			      .on_firing_done = told,
			      .on_firing_done_user = &program};
	dw_topic_settings settings = {.size = sizeof settings,
				      .limit_us = DW_MILLISECONDS(300),
				      .backoff_first_us = DW_MILLISECONDS(1)};
	dw_stats stats = {.size = sizeof stats};

	(void)state;
	assert_int_equal(dw_open(&program.d, &options, NULL), DW_OK);
	assert_int_equal(dw_topic_set(program.d, "t", &settings, NULL, NULL), DW_OK);
	assert_int_equal(dw_on_worker(program.d, "t", sleep_once, &program), DW_OK);
	assert_int_equal(dw_after(program.d, "t", "a", 0, NULL, 0), DW_OK);
	do {
		(void)dw_turn(program.d);
		assert_int_equal(dw_get_stats(program.d, &stats), DW_OK);
	} while (stats.settled == 0);
	assert_int_equal(program.events[DW_EVENT_SLOW_HANDLER], 1);
	assert_int_equal(stats.retried, 1);
	assert_int_equal(program.starts, 2);
	end(&program);
}

/* Two programs read the same settings, and change different ones. */
static void change_keeps_what_it_does_not_change(void **state)
{
	dw_topic_settings read = {.size = sizeof read, .queue = 1, .max = 5, .expire_us = 7};
	dw_topic_settings first = read, second = read, wrong = read;
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q", read);
	first.max = 9;
	second.expire_us = 0;
	second.retries_max = 3;
	wrong.queue = 0;
	assert_int_equal(dw_topic_change(program.d, "q", &read, &first, done, &program), DW_OK);
	assert_int_equal(dw_topic_change(program.d, "q", &read, &second, done, &program), DW_OK);
	assert_int_equal(dw_topic_change(program.d, "q", &read, &wrong, done, &program), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(program.d), "set queue to 1"));
	pass(&program, 0);
	assert_int_equal(dw_topic_list(program.d, "q", listed, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.info.settings.queue, 1);
	assert_int_equal(program.info.settings.max, 9);
	assert_int_equal(program.info.settings.expire_us, 0);
	assert_int_equal(program.info.settings.retries_max, 3);
	end(&program);
}

/* ---- Queues -------------------------------------------------------------------------------- */

static int take(struct program *program, const char *topic, dw_usec wait)
{
	dw_take_options options = {.size = sizeof options,
				   .topics = topic ? &topic : NULL,
				   .topic_count = topic != NULL,
				   .max = 8,
				   .wait_us = wait};

	program->status = 1;
	return dw_take(program->d, &options, taken, program);
}

static void due_timer_becomes_a_message(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q", (dw_topic_settings){.queue = 1});
	assert_int_equal(dw_on(program.d, "q", handle, &program), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(program.d), "is a queue"));
	assert_int_equal(dw_after(program.d, "q", "a", DW_SECONDS(1), "x", 1), DW_OK);
	assert_int_equal(take(&program, "q", DW_SECONDS(30)), DW_OK);
	pass(&program, DW_SECONDS(1) - 1);
	assert_int_equal(program.status, 1); /* it waits */
	pass(&program, DW_SECONDS(2));
	assert_int_equal(program.status, DW_OK);
	assert_string_equal(program.ids, "a");
	end(&program);
}

static void handler_makes_room_for_a_queue(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	assert_int_equal(dw_on(program.d, "*", handle, &program), DW_OK);
	set(&program, "q", (dw_topic_settings){.queue = 1});
	assert_int_equal(dw_after(program.d, "q", "a", 0, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(program.starts, 0);
	assert_int_equal(take(&program, NULL, 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "a");
	end(&program);
}

static void paused_intake_lets_timers_enter_the_queue(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q", (dw_topic_settings){.queue = 1});
	assert_int_equal(dw_after(program.d, "q", "a", DW_SECONDS(1), NULL, 0), DW_OK);
	pass(&program, 0);
	set(&program, "q", (dw_topic_settings){.queue = 1, .paused = DW_PAUSE_INTAKE});
	pass(&program, DW_SECONDS(2));
	assert_int_equal(take(&program, "q", 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "a");
	end(&program);
}

static void paused_delivery_keeps_timers_out_of_the_queue(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q", (dw_topic_settings){.queue = 1, .paused = DW_PAUSE_DELIVERY});
	assert_int_equal(dw_after(program.d, "q", "a", 0, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(2));
	assert_int_equal(dw_topic_list(program.d, "q", listed, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.info.due, 1);
	set(&program, "q", (dw_topic_settings){.queue = 1});
	assert_int_equal(take(&program, "q", 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "a");
	end(&program);
}

static void oldest_of_all_queues_comes_first(void **state)
{
	dw_timer message = {.size = sizeof message, .id = "x", .topic = "q2"};
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q1", (dw_topic_settings){.queue = 1});
	set(&program, "q2", (dw_topic_settings){.queue = 1});
	assert_int_equal(dw_push(program.d, &message, 1, done, &program), DW_OK);
	pass(&program, DW_SECONDS(1));
	message.topic = "q1";
	message.id = "y";
	assert_int_equal(dw_push(program.d, &message, 1, done, &program), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(take(&program, NULL, 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "x");
	assert_int_equal(take(&program, NULL, 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "y");
	end(&program);
}

/* A timer whose queue is full waits, and counts no retry. */
static void full_queue_holds_timers_back(void **state)
{
	const char *token;
	dw_answer answer = {.size = sizeof answer, .tokens = &token, .count = 1};
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q",
	    (dw_topic_settings){.queue = 1, .max = 1, .overflow = DW_REFUSE, .retries_max = 1});
	assert_int_equal(dw_after(program.d, "q", "a", 0, NULL, 0), DW_OK);
	assert_int_equal(dw_after(program.d, "q", "b", 1, NULL, 0), DW_OK);
	pass(&program, DW_SECONDS(20));
	assert_int_equal(program.events[DW_EVENT_QUEUE_FULL], 1);
	assert_int_equal(program.events[DW_EVENT_STORE_FAILED], 0);
	assert_int_equal(program.events[DW_EVENT_STORE_BACK], 0);
	assert_int_equal(take(&program, "q", 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "a");
	token = program.tokens[0];
	assert_int_equal(dw_ack(program.d, &answer, answered, &program), DW_OK);
	pass(&program, DW_SECONDS(2));
	assert_int_equal(program.status, DW_OK);
	assert_int_equal(take(&program, "q", 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "b");
	assert_int_equal(program.events[DW_EVENT_DEAD], 0);
	end(&program);
}

/* When a full queue has room, all that wait for it follow. */
static void timers_follow_into_a_larger_queue(void **state)
{
	struct program program;
	char id[16];

	(void)state;
	begin(&program);
	set(&program, "q", (dw_topic_settings){.queue = 1, .max = 1, .overflow = DW_REFUSE});
	for (int i = 0; i < 50; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		assert_int_equal(dw_after(program.d, "q", id, DW_SECONDS(i), NULL, 0), DW_OK);
	}
	pass(&program, DW_SECONDS(90));
	assert_int_equal(dw_topic_list(program.d, "q", listed, &program), DW_OK);
	pass(&program, 0);
	assert_in_range(program.info.due, 48, 49);
	assert_int_equal(program.info.started, 1); /* a try is no start */
	set(&program, "q", (dw_topic_settings){.queue = 1, .max = 100, .overflow = DW_REFUSE});
	pass(&program, DW_SECONDS(2));
	assert_int_equal(dw_topic_list(program.d, "q", listed, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.info.waiting, 50);
	assert_int_equal(program.events[DW_EVENT_NO_HANDLER], 0);
	end(&program);
}

static void dead_message_is_a_dead_letter(void **state)
{
	dw_timer message = {.size = sizeof message, .id = "x", .topic = "q"};
	const char *token;
	dw_answer answer = {
	    .size = sizeof answer, .tokens = &token, .count = 1, .verdict = DW_DEAD};
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q", (dw_topic_settings){.queue = 1});
	assert_int_equal(dw_push(program.d, &message, 1, done, &program), DW_OK);
	assert_int_equal(take(&program, "q", DW_SECONDS(1)), DW_OK);
	pass(&program, DW_SECONDS(1));
	token = program.tokens[0];
	assert_int_equal(dw_ack(program.d, &answer, answered, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.status, DW_OK);
	assert_int_equal(program.events[DW_EVENT_DEAD], 1);
	assert_int_equal(dw_dead_requeue(program.d, "x", 0, 0, done, &program), DW_OK);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(program.status, DW_OK);
	assert_int_equal(take(&program, "q", 0), DW_OK);
	pass(&program, 0);
	assert_string_equal(program.ids, "x"); /* the timer of the letter came due */
	end(&program);
}

static void wrong_calls_of_queues_are_refused_in_words(void **state)
{
	dw_timer messages[2] = {{.size = sizeof *messages, .topic = "q"},
				{.size = sizeof *messages, .topic = "r"}};
	static const char *const garbage[] = {"", "q", "q/1", "q/a/b", "/1/1", "q/1/1/\xff"};
	dw_take_options options = {.size = sizeof options, .max = 1001};
	struct program program;

	(void)state;
	begin(&program);
	assert_int_equal(dw_push(program.d, messages, 2, NULL, NULL), DW_EINVAL);
	assert_non_null(strstr(dw_last_error(program.d), "one topic"));
	assert_int_equal(dw_push(program.d, messages, 0, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_push(program.d, NULL, 1, NULL, NULL), DW_EINVAL);
	assert_int_equal(dw_take(program.d, &options, taken, &program), DW_EINVAL);
	options.max = 1;
	options.wait_us = DW_HOURS(2);
	assert_int_equal(dw_take(program.d, &options, taken, &program), DW_EINVAL);
	assert_int_equal(dw_take(program.d, NULL, taken, &program), DW_EINVAL);
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
		dw_answer answer = {.size = sizeof answer, .tokens = &garbage[i], .count = 1};

		assert_int_equal(dw_ack(program.d, &answer, NULL, NULL), DW_EINVAL);
	}
	assert_int_equal(dw_push(program.d, messages, 1, done, &program), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.status, DW_ENOENT);
	assert_int_equal(take(&program, "q", DW_SECONDS(1)), DW_OK);
	pass(&program, 0);
	assert_int_equal(program.status, DW_ENOENT);
	end(&program);
}

static void waiting_takes_end_with_the_handle(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	set(&program, "q", (dw_topic_settings){.queue = 1});
	assert_int_equal(take(&program, "q", DW_HOURS(1)), DW_OK);
	pass(&program, DW_MINUTES(1));
	assert_int_equal(program.status, 1);
	end(&program);
	assert_int_equal(program.status, DW_ECLOSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(retries_follow_the_topic),
	    cmocka_unit_test(paused_topic_waits),
	    cmocka_unit_test(paused_intake_refuses_puts),
	    cmocka_unit_test(numbers_are_told),
	    cmocka_unit_test(wrong_settings_are_refused_in_words),
	    cmocka_unit_test(late_verdict_is_a_retry),
	    cmocka_unit_test(due_timer_becomes_a_message),
	    cmocka_unit_test(handler_makes_room_for_a_queue),
	    cmocka_unit_test(paused_intake_lets_timers_enter_the_queue),
	    cmocka_unit_test(paused_delivery_keeps_timers_out_of_the_queue),
	    cmocka_unit_test(oldest_of_all_queues_comes_first),
	    cmocka_unit_test(change_keeps_what_it_does_not_change),
	    cmocka_unit_test(full_queue_holds_timers_back),
	    cmocka_unit_test(timers_follow_into_a_larger_queue),
	    cmocka_unit_test(dead_message_is_a_dead_letter),
	    cmocka_unit_test(wrong_calls_of_queues_are_refused_in_words),
	    cmocka_unit_test(waiting_takes_end_with_the_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
