/* dw_metrics: every text is read by a parser of Prometheus' format, and its numbers are compared
 * with what happened. On a clock that the test moves. */
#include "durawheel/metrics.h"
#include "support/cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/testing.h"
#include "durawheel/topic.h"
#include "support/seen.h"

enum { TEXT_SIZE = 512 * 1024 };

static char text[TEXT_SIZE];

/* ---- The parser ------------------------------------------------------------------------------ */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* end_of_labels: of `{a="b",c="d"}`, with escapes. */
static const char *end_of_labels(const char *at)
{
	assert_int_equal(*at, '{');
	for (at++; *at != '}';) {
		while (is_name_char(*at))
			at++;
		assert_memory_equal(at, "=\"", 2);
		for (at += 2; *at != '"'; at++) {
			assert_int_not_equal(*at, '\n');
			if (*at == '\\') {
				at++;
				assert_non_null(strchr("\\\"n", *at));
			}
		}
		at++;
		if (*at == ',')
			at++;
	}
	return at + 1;
}

/* check_line: `durawheel_name{labels} number`, and its name was announced. */
static void check_line(const char *line, const char *announced)
{
	const char *end = line;
	char *rest;
	size_t size;

	while (is_name_char(*end))
		end++;
	size = strlen(announced);
	assert_true(size > 0 && strncmp(line, announced, size) == 0);
	if (line[size] == '_')
		assert_true(strncmp(line + size, "_bucket{", 8) == 0 ||
			    strncmp(line + size, "_sum ", 5) == 0 ||
			    strncmp(line + size, "_count ", 7) == 0);
	if (*end == '{')
		end = end_of_labels(end);
	assert_int_equal(*end, ' ');
	assert_true(end[1] >= '0' && end[1] <= '9');
	(void)strtod(end + 1, &rest);
	assert_int_equal(*rest, '\n');
	/* No series comes twice. */
	assert_null(memmem(rest, strlen(rest), line - 1, (size_t)(end - line) + 2));
}

static void check_text(void)
{
	char announced[128] = "";
	const char *next;

	for (const char *line = text; *line; line = next) {
		next = strchr(line, '\n');
		assert_non_null(next);
		next++;
		if (strncmp(line, "# TYPE ", 7) == 0)
			assert_int_equal(sscanf(line, "# TYPE %127s", announced), 1);
		else if (strncmp(line, "# HELP ", 7) != 0)
			check_line(line, announced);
	}
}

/* number: the value of a series; -1: there is none. */
static double number(const char *series)
{
	char line[512];
	const char *at;

	(void)snprintf(line, sizeof line, "\n%s ", series);
	at = strstr(text, line);
	return at ? strtod(at + strlen(line), NULL) : -1;
}

/* ---- A program ------------------------------------------------------------------------------- */

struct program {
	dw *d;
	dw_verdict verdict;
};

static dw_verdict handle(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;

	(void)d;
	(void)firing;
	return program->verdict;
}

static void begin(struct program *program)
{
	dw_options options = {
	    .size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK, .timers_max = 0};

	*program = (struct program){.verdict = DW_DONE};
	assert_int_equal(dw_open(&program->d, &options, NULL), DW_OK);
	assert_int_equal(dw_on(program->d, "*", handle, program), DW_OK);
}

static void pass(struct program *program, dw_usec time)
{
	assert_int_equal(dw_test_advance(program->d, dw_now(program->d) + time), DW_OK);
}

/* show asks twice, because queues are asked of the store. */
static void show(struct program *program)
{
	size_t size;

	assert_int_equal(dw_metrics(program->d, NULL, 0, NULL), DW_OK);
	pass(program, DW_SECONDS(2));
	assert_int_equal(dw_metrics(program->d, text, sizeof text, &size), DW_OK);
	assert_int_equal(size, strlen(text));
	check_text();
}

static void end(struct program *program)
{
	assert_int_equal(dw_close(program->d, PATIENCE), DW_OK);
}

static void put(struct program *program, const char *topic, int count, dw_usec delay)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(dw_after(program->d, topic, NULL, delay, "data", 4), DW_OK);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void counts_are_what_happened(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	put(&program, "mail", 5, DW_SECONDS(1));
	put(&program, "order", 3, DW_DAYS(1));
	pass(&program, DW_SECONDS(2));
	program.verdict = DW_DEAD;
	put(&program, "mail", 2, DW_SECONDS(1));
	pass(&program, DW_SECONDS(2));
	show(&program);
	assert_true(number("durawheel_owner") == 1);
	assert_true(number("durawheel_loading") == 0);
	assert_true(number("durawheel_put_total") == 10);
	assert_true(number("durawheel_started_total{topic=\"mail\"}") == 7);
	assert_true(number("durawheel_ended_total{topic=\"mail\",end=\"done\"}") == 5);
	assert_true(number("durawheel_ended_total{topic=\"mail\",end=\"dead\"}") == 2);
	assert_true(number("durawheel_timers{topic=\"order\",state=\"pending\"}") == 3);
	assert_true(number("durawheel_timers{topic=\"mail\",state=\"pending\"}") == 0);
	assert_true(number("durawheel_store_timers{state=\"pending\"}") == 3);
	assert_true(number("durawheel_store_timers{state=\"dead\"}") == 2);
	assert_true(number("durawheel_lateness_seconds_count") == 7);
	assert_true(number("durawheel_lateness_seconds_bucket{le=\"+Inf\"}") == 7);
	assert_true(number("durawheel_lateness_seconds_bucket{le=\"0.00005\"}") == 7);
	assert_true(number("durawheel_handler_seconds_count") == 7);
	assert_true(number("durawheel_started_total{topic=\"*\"}") == -1);
	end(&program);
}

static void late_timers_are_in_their_bucket(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	assert_int_equal(dw_on(program.d, "*", NULL, NULL), DW_OK);
	put(&program, "mail", 4, 0);
	pass(&program, DW_SECONDS(7));
	assert_int_equal(dw_on(program.d, "*", handle, &program), DW_OK);
	pass(&program, 0);
	show(&program);
	assert_true(number("durawheel_lateness_seconds_bucket{le=\"5\"}") == 0);
	assert_true(number("durawheel_lateness_seconds_bucket{le=\"10\"}") == 4);
	assert_true(number("durawheel_lateness_seconds_sum") == 28);
	assert_true(number("durawheel_topic_lateness_seconds{topic=\"mail\",quantile=\"1\"}") == 7);
	end(&program);
}

/* A topic that has started nothing is not one that is instant. */
static void topic_without_starts_has_no_times(void **state)
{
	struct program program;

	(void)state;
	begin(&program);
	put(&program, "mail", 1, DW_MINUTES(1));
	pass(&program, DW_SECONDS(20));
	show(&program);
	assert_true(number("durawheel_timers{topic=\"mail\",state=\"pending\"}") == 1);
	assert_true(number("durawheel_topic_lateness_seconds{topic=\"mail\",quantile=\"1\"}") ==
		    -1);
	assert_true(number("durawheel_topic_handler_seconds{topic=\"mail\",quantile=\"1\"}") == -1);
	program.verdict = DW_HOLD;
	pass(&program, DW_MINUTES(1));
	show(&program);
	assert_true(number("durawheel_topic_lateness_seconds{topic=\"mail\",quantile=\"1\"}") >= 0);
	assert_true(number("durawheel_topic_handler_seconds{topic=\"mail\",quantile=\"1\"}") == -1);
	end(&program);
}

static void queue_has_its_messages(void **state)
{
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1, .max = 3};
	struct program program;

	(void)state;
	begin(&program);
	assert_int_equal(dw_topic_set(program.d, "game", &settings, NULL, NULL), DW_OK);
	pass(&program, DW_SECONDS(1));
	put(&program, "game", 5, DW_SECONDS(1));
	pass(&program, DW_SECONDS(5));
	show(&program);
	assert_true(number("durawheel_queue_messages{topic=\"game\",state=\"waiting\"}") == 3);
	assert_true(number("durawheel_queue_dropped_total{topic=\"game\"}") == 2);
	assert_true(number("durawheel_started_total{topic=\"game\"}") == 5);
	assert_true(number("durawheel_queue_messages{topic=\"*\",state=\"waiting\"}") == -1);
	end(&program);
}

static void many_topics_become_one(void **state)
{
	double started = 0;
	struct program program;
	char topic[64], series[128];

	(void)state;
	begin(&program);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 300; i++) {
			(void)snprintf(topic, sizeof topic, "topic.%03d", i);
			put(&program, topic, 2, DW_SECONDS(1));
		}
		pass(&program, DW_SECONDS(2));
	}
	put(&program, "new", 1, DW_DAYS(1));
	show(&program);
	assert_true(number("durawheel_started_total{topic=\"*\"}") == 400);
	for (int i = 0; i < 300; i++) {
		(void)snprintf(series, sizeof series,
			       "durawheel_started_total{topic=\"topic.%03d\"}", i);
		started += number(series) > 0 ? number(series) : 0;
	}
	assert_true(started == 800);
	/* 200 with counts, and one of which nothing is counted yet is in the sum of the others. */
	assert_true(number("durawheel_timers{topic=\"*\",state=\"pending\"}") == 1);
	assert_true(number("durawheel_started_total{topic=\"topic.000\"}") == 4);
	end(&program);
}

static void hostile_topics_are_escaped(void **state)
{
	struct program program;
	char name[DW_TOPIC_MAX + 1];

	(void)state;
	begin(&program);
	memset(name, '"', sizeof name);
	name[DW_TOPIC_MAX] = '\0';
	put(&program, "a\\b\"} 1", 1, 0);
	put(&program, name, 1, 0);
	pass(&program, DW_SECONDS(1));
	show(&program);
	assert_true(number("durawheel_started_total{topic=\"a\\\\b\\\"} 1\"}") == 1);
	end(&program);
}

static void small_room_has_whole_lines(void **state)
{
	struct program program;
	size_t size;

	(void)state;
	begin(&program);
	put(&program, "mail", 5, DW_SECONDS(1));
	show(&program);
	for (size_t room = 1; room < 3000; room += 7) {
		assert_int_equal(dw_metrics(program.d, text, room, &size), DW_OK);
		assert_true(strlen(text) < room && size >= room);
		assert_true(!*text || text[strlen(text) - 1] == '\n');
		check_text();
	}
	assert_int_equal(dw_metrics(program.d, NULL, 1, &size), DW_EINVAL);
	assert_int_equal(dw_metrics(NULL, text, sizeof text, &size), DW_EINVAL);
	end(&program);
}

static void two_hundred_topics_fit(void **state)
{
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1, .max = 1};
	struct program program;
	char topic[DW_TOPIC_MAX + 1];
	size_t size;

	(void)state;
	begin(&program);
	memset(topic, 't', sizeof topic);
	topic[DW_TOPIC_MAX] = '\0';
	for (int i = 0; i < 200; i++) {
		topic[0] = (char)('0' + i / 100);
		topic[1] = (char)('0' + i / 10 % 10);
		topic[2] = (char)('0' + i % 10);
		assert_int_equal(dw_topic_set(program.d, topic, &settings, NULL, NULL), DW_OK);
		put(&program, topic, 2, DW_SECONDS(1));
	}
	pass(&program, DW_SECONDS(5));
	show(&program);
	assert_int_equal(dw_metrics(program.d, NULL, 0, &size), DW_OK);
	assert_true(size < 512 * 1024);
	end(&program);
}

static void health_is_of_the_role(void **state)
{
	char message[DW_MESSAGE_SIZE];
	struct program program;

	(void)state;
	begin(&program);
	assert_int_equal(dw_health(program.d, message), DW_EBUSY);
	pass(&program, DW_SECONDS(1));
	assert_int_equal(dw_health(program.d, message), DW_OK);
	assert_string_equal(message, "ok");
	assert_int_equal(dw_health(program.d, NULL), DW_OK);
	assert_int_equal(dw_health(NULL, message), DW_EINVAL);
	end(&program);
}

struct asked {
	int status;
	char message[DW_MESSAGE_SIZE];
};

static void ask_health(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct asked *asked = user;

	(void)status;
	(void)messages;
	(void)count;
	asked->status = dw_health(d, asked->message);
}

static void health_while_the_handle_is_closed(void **state)
{
	struct program program;
	struct asked asked = {0};
	dw_take_options take = {.size = sizeof take, .max = 1, .wait_us = DW_HOURS(1)};

	(void)state;
	begin(&program);
	assert_int_equal(dw_take(program.d, &take, ask_health, &asked), DW_OK);
	pass(&program, DW_SECONDS(1));
	end(&program);
	assert_int_equal(asked.status, DW_ECLOSED);
	assert_string_equal(asked.message, "the handle is being closed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_are_what_happened),
	    cmocka_unit_test(late_timers_are_in_their_bucket),
	    cmocka_unit_test(topic_without_starts_has_no_times),
	    cmocka_unit_test(queue_has_its_messages),
	    cmocka_unit_test(many_topics_become_one),
	    cmocka_unit_test(hostile_topics_are_escaped),
	    cmocka_unit_test(small_room_has_whole_lines),
	    cmocka_unit_test(two_hundred_topics_fit),
	    cmocka_unit_test(health_is_of_the_role),
	    cmocka_unit_test(health_while_the_handle_is_closed),
	};

	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
