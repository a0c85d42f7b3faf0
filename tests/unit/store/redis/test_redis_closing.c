/* A server that closes the connection on what is too large for one of its limits: the call fails in
 * words, and nobody else's does. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "durawheel/select.h"
#include "durawheel/topic.h"
#include "support/cmocka.h"
#include "support/redis_server.h"
#include "support/relay.h"

#define PATIENCE DW_SECONDS(600)
#define LARGE ((size_t)1 << 20)
#define SMALL ((size_t)40000)
#define FAR DW_SECONDS(100000)

static struct redis_server server;
static char large[LARGE];

/* What the callbacks of all handles have seen. */
static struct {
	int answers[64]; /* by the negative status */
	int starts;
	int rows;
	int asked;  /* answers to dw_get() */
	int status; /* of the last list, get or take */
	bool ended;
	int limits;   /* DW_EVENT_LIMIT */
	int failures; /* DW_EVENT_STORE_FAILED */
	char message[DW_MESSAGE_SIZE];
	uint64_t inbox;
	uint32_t attempt;                    /* of the timer that was asked for last */
	dw_topic_info topic;                 /* that was asked for last */
	const char *poison;                  /* the handler poisons the relay with its id */
	void (*again)(dw *, const char *id); /* what was given up: the machine is busy */
} seen;

static struct relay relay;

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	seen.failures += event->kind == DW_EVENT_STORE_FAILED;
	if (event->kind != DW_EVENT_LIMIT)
		return;
	assert_int_equal(event->status, DW_ELIMIT);
	seen.limits++;
	(void)snprintf(seen.message, sizeof seen.message, "%s", event->message);
}

static void on_done(dw *d, const dw_result *result, void *user)
{
	bool is_given_up = result->status == DW_ESTORE || result->status == DW_EUNKNOWN;

	(void)user;
	if (is_given_up && seen.again)
		seen.again(d, result->id);
	else
		seen.answers[-result->status]++;
}

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)user;
	seen.starts++;
	if (seen.poison && strcmp(firing->id, seen.poison) == 0)
		atomic_store(&relay.poison, seen.poison);
	return DW_DONE;
}

static void on_page(dw *d, int status, const dw_info *items, size_t count, const dw_cursor *next,
		    void *user)
{
	seen.attempt = count > 0 ? items->attempt : 0;
	seen.rows += (int)count;
	seen.status = status;
	seen.ended = status != DW_OK || next->ended;
	if (!seen.ended)
		assert_int_equal(dw_list(d, NULL, next, 100, on_page, user), DW_OK);
}

/* on_one counts the answers to dw_get(). */
static void on_one(dw *d, int status, const dw_info *items, size_t count, const dw_cursor *next,
		   void *user)
{
	(void)d;
	(void)items;
	(void)next;
	(void)user;
	seen.rows += status == DW_OK && count == 1;
	seen.asked++;
}

static void on_status(dw *d, int status, const dw_store_status *report, void *user)
{
	(void)d;
	(void)user;
	seen.ended = true;
	seen.inbox = status == DW_OK ? report->inbox : UINT64_MAX;
}

/* open_at: if the machine was so busy that the last owner closed without a connection, its lease
 * runs out. */
static dw *open_at(const char *path, dw_role role)
{
	char message[DW_MESSAGE_SIZE];
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = role,
			      .name = "closing",
			      .shards = 2,
			      .data_max_bytes = LARGE,
			      .on_event = on_event};
	int status;
	dw *d;

	(void)snprintf(url, sizeof url, "unix://%s", path);
	while ((status = dw_open(&d, &options, message)) == DW_EOWNED)
		(void)poll(NULL, 0, 100);
	if (status != DW_OK)
		fail_msg("%s", message);
	if (role == DW_OWNER)
		assert_int_equal(dw_on(d, "t", on_due, NULL), DW_OK);
	return d;
}

static void begin(const char *const *options)
{
	memset(&seen, 0, sizeof seen);
	memset(large, 'x', sizeof large);
	redis_server_start(&server, false, options);
}

static void put(dw *d, const char *id, size_t size, dw_usec delay)
{
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = "t",
			  .due = dw_now(d) + delay,
			  .data = large,
			  .data_size = size};

	assert_int_equal(dw_put(d, &timer, on_done, NULL), DW_OK);
}

static void turn(dw *a, dw *b)
{
	struct pollfd ready[] = {{dw_fd(a), POLLIN, 0}, {b ? dw_fd(b) : -1, POLLIN, 0}};

	(void)poll(ready, 2, 20);
	assert_int_equal(dw_turn(a), DW_OK);
	if (b)
		assert_int_equal(dw_turn(b), DW_OK);
}

/* rest lets 0.1 s pass, so that what is asked again and again keeps no processor busy. */
static void rest(dw *owner)
{
	dw_usec until = dw_now(owner) + DW_MILLISECONDS(100);

	while (dw_now(owner) < until)
		turn(owner, NULL);
}

#define AWAIT(a, b, condition)                                                                     \
	do {                                                                                       \
		dw_usec until = dw_now(a) + PATIENCE;                                              \
                                                                                                   \
		while (!(condition)) {                                                             \
			assert_true(dw_now(a) < until);                                            \
			turn(a, b);                                                                \
		}                                                                                  \
	} while (0)

/* limit_replies: the most bytes of replies that may wait for one client; "0": no limit. */
static void limit_replies(const char *limit)
{
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply;
	char words[64];

	assert_true(redis && !redis->err);
	(void)snprintf(words, sizeof words, "normal %s 0 0", limit);
	reply = redisCommand(redis, "CONFIG SET client-output-buffer-limit %s", words);
	assert_true(reply && reply->type == REDIS_REPLY_STATUS);
	freeReplyObject(reply);
	redisFree(redis);
}

/* ---- Requests ------------------------------------------------------------------------------ */

static void put_numbered(dw *d, const char *id)
{
	long i = strtol(id, NULL, 10);

	put(d, id, i % 20 == 7 ? LARGE : 100 + (size_t)i % 5 * 10000, FAR);
}

/* Large and sound puts of one turn: they come into the same commands where they can. */
static void put_among_others(const char *limit, dw_role role)
{
	const char *options[] = {limit, "1mb", NULL};
	dw *owner, *d;
	char id[16];

	begin(options);
	owner = open_at(server.path, DW_OWNER);
	d = role == DW_OWNER ? owner : open_at(server.path, role);
	seen.again = put_numbered;
	for (int i = 0; i < 60; i++) {
		(void)snprintf(id, sizeof id, "%d", i);
		put_numbered(d, id);
	}
	AWAIT(owner, d == owner ? NULL : d,
	      seen.answers[0] == 57 && seen.answers[-(DW_ELIMIT)] == 3);
	assert_true(seen.limits > 0);
	assert_non_null(strstr(seen.message, "client-query-buffer-limit and proto-max-bulk-len"));
	put(d, "due", 10, 0);
	AWAIT(owner, d == owner ? NULL : d, seen.starts == 1 && seen.answers[0] == 58);
	if (d != owner)
		assert_int_equal(dw_close(d, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

static void put_over_a_limit_fails_alone(void **state)
{
	(void)state;
	put_among_others("--client-query-buffer-limit", DW_OWNER);
	put_among_others("--client-query-buffer-limit", DW_CLIENT);
	put_among_others("--proto-max-bulk-len", DW_OWNER);
	put_among_others("--proto-max-bulk-len", DW_CLIENT);
}

/* ---- Replies ------------------------------------------------------------------------------- */

/* fill: timers that no page of the usual size can bring, and perhaps one that no page can. */
static dw *fill(bool with_large)
{
	char id[16];
	dw *owner;

	begin(NULL);
	owner = open_at(server.path, DW_OWNER);
	do { /* a busy machine may be too slow for some */
		memset(seen.answers, 0, sizeof seen.answers);
		for (int i = 0; i < 200; i++) {
			(void)snprintf(id, sizeof id, "%d", i);
			put(owner, id, SMALL, FAR);
		}
		if (with_large)
			put(owner, "large", LARGE, FAR);
		assert_int_equal(dw_sync(owner, PATIENCE), DW_OK);
	} while (seen.answers[0] < 200 + with_large);
	limit_replies("1mb");
	return owner;
}

static void list(dw *owner, dw *d)
{
	do { /* again if the machine is so busy that it is given up */
		seen.rows = 0;
		seen.ended = false;
		assert_int_equal(dw_list(d, NULL, NULL, 100, on_page, NULL), DW_OK);
		AWAIT(owner, d == owner ? NULL : d, seen.ended);
	} while (seen.status == DW_ESTORE);
}

static void get(dw *owner, dw *d, const char *id)
{
	do {
		seen.ended = false;
		assert_int_equal(dw_get(d, id, on_page, NULL), DW_OK);
		AWAIT(owner, d, seen.ended);
	} while (seen.status == DW_ESTORE);
}

static void page_that_is_cut_is_made_smaller(void **state)
{
	dw *owner = fill(false);
	dw *client = open_at(server.path, DW_CLIENT);
	char id[16];

	(void)state;
	list(owner, client);
	assert_int_equal(seen.status, DW_OK);
	assert_int_equal(seen.rows, 200);
	list(owner, owner);
	assert_int_equal(seen.rows, 200);
	do { /* a busy machine may answer some too late */
		seen.rows = seen.asked = 0;
		for (int i = 0; i < 200; i++) { /* they come as one reply where they can */
			(void)snprintf(id, sizeof id, "%d", i);
			assert_int_equal(dw_get(client, id, on_one, NULL), DW_OK);
		}
		AWAIT(owner, client, seen.asked == 200);
	} while (seen.rows < 200);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	owner = open_at(server.path, DW_OWNER);
	put(client, "due", 10, 0);
	AWAIT(owner, client, seen.starts == 1);
	assert_int_equal(dw_sync(owner, PATIENCE), DW_OK);
	assert_int_equal(seen.limits, 0);
	assert_int_equal(dw_close(client, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

static void timer_that_cannot_be_read_fails_alone(void **state)
{
	dw *owner = fill(true);
	dw *client = open_at(server.path, DW_CLIENT);

	(void)state;
	get(owner, client, "large");
	assert_int_equal(seen.status, DW_ELIMIT);
	assert_non_null(strstr(seen.message, "client-output-buffer-limit"));
	get(owner, client, "7");
	assert_int_equal(seen.status, DW_OK);
	list(owner, client);
	assert_int_equal(seen.status, DW_ELIMIT);
	/* An owner that starts says which one it does not know, and starts the others. */
	assert_int_equal(dw_close(client, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	seen.limits = 0;
	owner = open_at(server.path, DW_OWNER);
	AWAIT(owner, NULL, seen.limits > 0);
	assert_non_null(strstr(seen.message, "large: "));
	put(owner, "due", 10, 0);
	AWAIT(owner, NULL, seen.starts == 1);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

/* What a client writes behind such a timer is heard all the same: only that one stays in the
 * inbox. */
static void inbox_is_read_past_it(void **state)
{
	dw *owner = fill(false);
	dw *client = open_at(server.path, DW_CLIENT);
	char id[16];

	(void)state;
	put(client, "large", LARGE, FAR);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(id, sizeof id, "c%d", i);
		put(client, id, SMALL, FAR);
	}
	put(client, "due", 10, 0);
	seen.inbox = UINT64_MAX;
	while (seen.inbox != 1 || seen.starts == 0) {
		seen.ended = false;
		assert_int_equal(dw_get_status(client, on_status, NULL), DW_OK);
		AWAIT(owner, client, seen.ended);
	}
	assert_true(seen.limits > 0);
	assert_int_equal(dw_close(client, DW_SECONDS(60)), DW_OK);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

static void on_taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	(void)d;
	(void)messages;
	(void)user;
	seen.ended = true;
	seen.status = status;
	seen.rows += (int)count;
}

/* ---- What never fails ---------------------------------------------------------------------- */

static dw *open_behind(void)
{
	char path[TEMP_SIZE + 8];

	begin(NULL);
	(void)snprintf(path, sizeof path, "%s/relay", server.folder);
	relay_start(&relay, path, server.path);
	return open_at(relay.path, DW_OWNER);
}

static void close_behind(dw *owner)
{
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	relay_end(&relay);
	redis_server_end(&server);
}

static void others_fire(dw *owner)
{
	int before = seen.starts;
	char id[16];

	for (int i = 0; i < 20; i++) {
		(void)snprintf(id, sizeof id, "o%d", i);
		put(owner, id, 10, 0);
	}
	AWAIT(owner, NULL, seen.starts == before + 20);
}

/* Each claim of the timer closes the connection, until the server changes its mind. */
static void claim_is_tried_until_it_succeeds(void **state)
{
	dw *owner = open_behind();

	(void)state;
	put(owner, "venom", 10, DW_SECONDS(1));
	AWAIT(owner, NULL, seen.answers[0] == 1);
	atomic_store(&relay.poison, "venom");
	AWAIT(owner, NULL, seen.limits > 0);
	assert_non_null(strstr(seen.message, "venom: "));
	assert_non_null(strstr(seen.message, "growing pauses"));
	others_fire(owner);
	atomic_store(&relay.poison, NULL);
	AWAIT(owner, NULL, seen.starts == 21);
	close_behind(owner);
}

static void verdict_is_tried_until_it_succeeds(void **state)
{
	dw *owner = open_behind();
	dw_stats stats = {.size = sizeof stats};

	(void)state;
	seen.poison = "venom";
	put(owner, "venom", 10, 0);
	AWAIT(owner, NULL, seen.limits > 0);
	seen.poison = NULL;
	others_fire(owner);
	atomic_store(&relay.poison, NULL);
	do {
		turn(owner, NULL);
		assert_int_equal(dw_get_stats(owner, &stats), DW_OK);
	} while (stats.settled < 21);
	assert_int_equal(seen.starts, 21);
	close_behind(owner);
}

/* ---- Messages ------------------------------------------------------------------------------ */

static void make_queue(dw *owner)
{
	const dw_topic_settings settings = {.size = sizeof settings, .queue = 1};
	int before = seen.answers[0];

	assert_int_equal(dw_topic_set(owner, "q", &settings, on_done, NULL), DW_OK);
	AWAIT(owner, NULL, seen.answers[0] == before + 1);
}

static void take(dw *owner, int wanted)
{
	const dw_take_options options = {.size = sizeof options, .max = 10};

	while (seen.rows < wanted) {
		rest(owner);
		seen.ended = false;
		assert_int_equal(dw_take(owner, &options, on_taken, NULL), DW_OK);
		AWAIT(owner, NULL, seen.ended);
	}
}

static void on_topic(dw *d, int status, const dw_topic_info *items, size_t count, void *user)
{
	(void)d;
	(void)user;
	seen.ended = true;
	seen.topic = status == DW_OK && count == 1 ? *items : (dw_topic_info){0};
}

/* await_reason: the timer is due, and the owner says why it waits. */
static void await_reason(dw *owner, dw_usec due)
{
	do {
		rest(owner);
		seen.ended = false;
		assert_int_equal(dw_topic_list(owner, "q", on_topic, NULL), DW_OK);
		AWAIT(owner, NULL, seen.ended);
	} while (seen.topic.waits != DW_WAITS_SIZE);
	assert_int_equal(seen.topic.due, 1);
	assert_int_equal(seen.topic.pending, 0);
	assert_in_range(seen.topic.oldest, due, dw_now(owner));
}

static uint32_t attempts_of(dw *owner, const char *id)
{
	get(owner, owner, id);
	assert_int_equal(seen.status, DW_OK);
	return seen.attempt;
}

/* Each message of this timer closes the connection, until the server changes its mind. Meanwhile
 * other timers start, and the timer is claimed once for each closing, and not each second. */
static void message_of_a_timer_is_tried_until_it_succeeds(void **state)
{
	dw *owner = open_behind();
	dw_timer timer = {
	    .size = sizeof timer, .id = "venom", .topic = "q", .data = large, .data_size = LARGE};
	int poisoned;
	uint32_t attempts;

	(void)state;
	make_queue(owner);
	timer.due = dw_now(owner) + DW_SECONDS(1);
	assert_int_equal(dw_put(owner, &timer, on_done, NULL), DW_OK);
	AWAIT(owner, NULL, seen.answers[0] == 2);
	atomic_store(&relay.poison, "venom\n"); /* in a message, not in a claim */
	AWAIT(owner, NULL, seen.limits > 0);
	assert_non_null(strstr(seen.message, "venom: "));
	assert_non_null(strstr(seen.message, "growing pauses"));
	others_fire(owner);
	await_reason(owner, timer.due);
	poisoned = atomic_load(&relay.poisoned);
	attempts = attempts_of(owner, "venom");
	AWAIT(owner, NULL, atomic_load(&relay.poisoned) >= poisoned + 5);
	assert_in_range(attempts_of(owner, "venom"), attempts + 1, attempts + 8);
	/* The store is well while the message waits. */
	assert_in_range(seen.failures, 0, atomic_load(&relay.poisoned));
	atomic_store(&relay.poison, NULL);
	seen.rows = 0;
	take(owner, 1);
	assert_int_equal(seen.rows, 1);
	close_behind(owner);
}

/* ---- A crash is no refusal ----------------------------------------------------------------- */

static void crash_loop_fails_no_sound_call(void **state)
{
	const char *options[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
	char id[16];
	int count = 0;
	dw *owner;

	(void)state;
	begin(options);
	owner = open_at(server.path, DW_OWNER);
	for (int crash = 0; crash < 12; crash++) {
		for (int i = 0; i < 20; i++) {
			(void)snprintf(id, sizeof id, "%d", count++);
			put(owner, id, i % 10 == 0 ? LARGE : SMALL, FAR);
		}
		for (int i = 0; i < 3 + crash % 4; i++)
			turn(owner, NULL);
		redis_server_kill(&server);
		redis_server_restart(&server);
	}
	assert_int_equal(dw_sync(owner, PATIENCE), DW_OK);
	assert_int_equal(seen.answers[-(DW_ELIMIT)], 0);
	assert_int_equal(seen.limits, 0);
	put(owner, "due", LARGE, 0);
	AWAIT(owner, NULL, seen.starts == 1);
	assert_int_equal(dw_close(owner, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(put_over_a_limit_fails_alone),
	    cmocka_unit_test(page_that_is_cut_is_made_smaller),
	    cmocka_unit_test(timer_that_cannot_be_read_fails_alone),
	    cmocka_unit_test(inbox_is_read_past_it),
	    cmocka_unit_test(claim_is_tried_until_it_succeeds),
	    cmocka_unit_test(verdict_is_tried_until_it_succeeds),
	    cmocka_unit_test(message_of_a_timer_is_tried_until_it_succeeds),
	    cmocka_unit_test(crash_loop_fails_no_sound_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
