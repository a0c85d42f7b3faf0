/* Queues as programs use them, on each store: an owner, and a consumer that is another handle where
 * the store can be opened twice. On the real clock. */
#include "durawheel/topic.h"
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/usec.h"
#include "support/redis_server.h"
#include "support/seen.h"
#include "support/temp.h"

enum { ROOM = 8, TIMERS = 300, LATE = 50, LONG = 600 /* s: longer than any machine needs */ };

struct program {
	dw *owner, *consumer;
	char url[TEMP_SIZE + 16];
	int open; /* calls without an answer */
	dw_topic_info info;
	size_t count; /* of the last take */
	dw_usec dues[ROOM];
	char ids[ROOM][16];
	char tokens[ROOM][DW_TOKEN_SIZE];
};

static struct redis_server server;

/* ---- A program ----------------------------------------------------------------------------- */

static void turn(struct program *program)
{
	struct pollfd fds[2] = {{.fd = dw_fd(program->owner), .events = POLLIN},
				{.fd = dw_fd(program->consumer), .events = POLLIN}};

	assert_true(poll(fds, program->owner == program->consumer ? 1 : 2, LONG * 1000) > 0);
	assert_int_equal(dw_turn(program->owner), DW_OK);
	if (program->owner != program->consumer)
		assert_int_equal(dw_turn(program->consumer), DW_OK);
}

static void finish(struct program *program)
{
	while (program->open > 0)
		turn(program);
}

static void begin(struct program *program, const char *url)
{
	dw_options options = {.size = sizeof options, .store = url};

	if (strncmp(url, "unix:", 5) == 0)
		options.name = "queues";
	*program = (struct program){0};
	assert_int_equal(dw_open(&program->owner, &options, NULL), DW_OK);
	program->consumer = program->owner;
	options.role = DW_CLIENT;
	if (strcmp(url, "memory:") != 0)
		assert_int_equal(dw_open(&program->consumer, &options, NULL), DW_OK);
}

static void end(struct program *program)
{
	if (program->consumer != program->owner)
		assert_int_equal(dw_close(program->consumer, DW_SECONDS(LONG)), DW_OK);
	assert_int_equal(dw_close(program->owner, DW_SECONDS(LONG)), DW_OK);
}

static void done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	assert_int_equal(result->status, DW_OK);
	((struct program *)user)->open--;
}

static void answered(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	for (size_t i = 0; i < count; i++)
		assert_int_equal(results[i].status, DW_OK);
	((struct program *)user)->open--;
}

static void listed(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct program *program = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	assert_int_equal(count, 1);
	program->info = topics[0];
	program->open--;
}

static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct program *program = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	program->count = count;
	for (size_t i = 0; i < count; i++) {
		program->dues[i] = messages[i].due;
		(void)snprintf(program->ids[i], sizeof *program->ids, "%s", messages[i].id);
		(void)snprintf(program->tokens[i], DW_TOKEN_SIZE, "%s", messages[i].token);
	}
	program->open--;
}

static void set(struct program *program, const char *topic, dw_topic_settings settings)
{
	settings.size = sizeof settings;
	settings.queue = 1;
	program->open++;
	assert_int_equal(dw_topic_set(program->owner, topic, &settings, done, program), DW_OK);
	finish(program);
}

static void push(struct program *program, const char *topic, const char *id)
{
	dw_timer message = {.size = sizeof message, .id = id, .topic = topic};

	program->open++;
	assert_int_equal(dw_push(program->owner, &message, 1, done, program), DW_OK);
	finish(program);
}

/* take: topic NULL: of all. */
static void take(struct program *program, const char *topic, size_t most, dw_usec wait)
{
	dw_take_options options = {.size = sizeof options,
				   .topics = topic ? &topic : NULL,
				   .topic_count = topic != NULL,
				   .max = most,
				   .wait_us = wait};

	program->open++;
	assert_int_equal(dw_take(program->consumer, &options, taken, program), DW_OK);
	finish(program);
}

static void acknowledge(struct program *program)
{
	const char *tokens[ROOM];
	dw_answer answer = {.size = sizeof answer, .tokens = tokens, .count = program->count};

	for (size_t i = 0; i < program->count; i++)
		tokens[i] = program->tokens[i];
	program->open++;
	assert_int_equal(dw_ack(program->consumer, &answer, answered, program), DW_OK);
	finish(program);
}

/* ---- A full queue -------------------------------------------------------------------------- */

static void put(struct program *program, int number, dw_usec due)
{
	char id[16];
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = "q", .due = due};

	(void)snprintf(id, sizeof id, "%d", number);
	program->open++;
	assert_int_equal(dw_put(program->owner, &timer, done, program), DW_OK);
}

/* await_due waits until so many timers of the topic are due. */
static void await_due(struct program *program, uint64_t count)
{
	do {
		program->open++;
		assert_int_equal(dw_topic_list(program->owner, "q", listed, program), DW_OK);
		finish(program);
	} while (program->info.due < count);
}

/* fill_up: the queue is full, and so many timers wait for it. Their deadlines are in no order, and
 * the last ones that are put are the earliest. */
static void fill_up(struct program *program, struct rng *rng)
{
	dw_usec now;

	set(program, "q", (dw_topic_settings){.max = ROOM, .overflow = DW_REFUSE});
	for (int i = 0; i < ROOM; i++)
		push(program, "q", "before");
	now = dw_now(program->owner);
	for (int i = 0; i < TIMERS - LATE; i++)
		put(program, i, usec_add(now, (dw_usec)rng_below(rng, 200000)));
	finish(program);
	await_due(program, TIMERS - LATE);
	for (int i = TIMERS - LATE; i < TIMERS; i++)
		put(program, i, usec_sub(now, (dw_usec)rng_below(rng, 200000)));
	finish(program);
	await_due(program, TIMERS);
}

static void timers_enter_a_full_queue_in_order(void **state)
{
	struct rng rng = {.state = 31};
	struct program program;
	dw_usec last = INT64_MIN;
	int before = 0, got = 0, inversions = 0;

	begin(&program, *state);
	fill_up(&program, &rng);
	while (before + got < ROOM + TIMERS) {
		take(&program, "q", 1 + rng_below(&rng, ROOM), DW_SECONDS(LONG));
		for (size_t i = 0; i < program.count; i++) {
			if (strcmp(program.ids[i], "before") == 0) {
				before++;
				continue;
			}
			got++;
			inversions += program.dues[i] < last;
			last = program.dues[i];
		}
		acknowledge(&program);
	}
	assert_int_equal(before, ROOM);
	assert_int_equal(got, TIMERS);
	assert_int_equal(inversions, 0);
	end(&program);
}

/* ---- All queues ---------------------------------------------------------------------------- */

/* add makes a queue that has one message, and hides for an hour. */
static void add(struct program *program, const char *queue, const char *id)
{
	set(program, queue, (dw_topic_settings){.hide_us = DW_HOURS(1)});
	push(program, queue, id);
}

/* A take of all topics comes to each queue that has something, behind any number of older ones that
 * are paused or only hide messages. */
static void queue_behind_many_others_has_its_turn(void **state)
{
	enum { HIDDEN = DW_TAKE_TOPICS_MAX + 1, PAUSED = 3 };
	struct program program;
	char name[16];

	begin(&program, *state);
	for (int i = 0; i < HIDDEN; i++) {
		(void)snprintf(name, sizeof name, "hidden%d", i);
		add(&program, name, "h");
		take(&program, name, 1, 0);
	}
	for (int i = 0; i < PAUSED; i++) {
		(void)snprintf(name, sizeof name, "paused%d", i);
		add(&program, name, "p");
		program.open++;
		assert_int_equal(
		    dw_topic_pause(program.owner, name, DW_PAUSE_DELIVERY, done, &program), DW_OK);
		finish(&program);
	}
	add(&program, "z", "z");
	take(&program, NULL, ROOM, DW_SECONDS(LONG));
	assert_int_equal(program.count, 1);
	assert_string_equal(program.ids[0], "z");
	end(&program);
}

/* ---- Each store ---------------------------------------------------------------------------- */

static int run(const char *title, char *url)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(timers_enter_a_full_queue_in_order, url),
	    cmocka_unit_test_prestate(queue_behind_many_others_has_its_turn, url),
	};

	return _cmocka_run_group_tests(title, tests, sizeof tests / sizeof *tests, NULL, NULL);
}

int main(void)
{
	char memory[] = "memory:", folder[TEMP_SIZE], url[TEMP_SIZE + 32];
	int failed = run("memory", memory);

	temp_make(folder);
	(void)snprintf(url, sizeof url, "sqlite:%s/queues.db", folder);
	failed += run("sqlite", url);
	temp_remove(folder);
	redis_server_start(&server, false, NULL);
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	failed += run("redis", url);
	redis_server_end(&server);
	return failed;
}
