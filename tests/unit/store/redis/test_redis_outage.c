/* The Redis store's trouble: told when it lasts, whoever has opened it, even if nobody asks. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "store/redis/store.h"
#include "support/cmocka.h"
#include "support/redis_server.h"
#include "support/stub_link.h"

#define HANDLES 3

static struct redis_server server;

static int trouble_at(dw_store *store, struct stub_link *stub, dw_usec now, char *ret_words)
{
	stub->now = now;
	store->type->turn(store, now);
	return store->type->trouble(store, ret_words, DW_MESSAGE_SIZE);
}

/* One that is lost and made again at once is no trouble; one that stays away is, at the time that
 * due() names, and until it is back and of use. */
static void connection_that_stays_away_is_trouble(void **state)
{
	struct stub_link stub;
	struct redis_store *redis = stub_open(&stub, 1);
	dw_store *store = redis_base(redis);
	dw_usec start = stub.now;
	char words[DW_MESSAGE_SIZE] = "";

	(void)state;
	assert_int_equal(trouble_at(store, &stub, start, words), DW_OK);
	stub.connection = 0;
	stub.trouble = "it hung up";
	assert_int_equal(trouble_at(store, &stub, start + 1000, words), DW_EUNKNOWN);
	stub.connection = 2;
	stub.trouble = "";
	start += DW_SECONDS(10);
	assert_int_equal(trouble_at(store, &stub, start, words), DW_OK);

	stub.connection = 0;
	stub.trouble = "it hung up";
	assert_int_equal(trouble_at(store, &stub, start, words), DW_EUNKNOWN);
	assert_int_equal(store->type->due(store), start + DW_MILLISECONDS(200));
	start += DW_MILLISECONDS(200);
	assert_int_equal(trouble_at(store, &stub, start - 1, words), DW_EUNKNOWN);
	assert_int_equal(trouble_at(store, &stub, start, words), DW_ESTORE);
	assert_string_equal(words, "it hung up");
	assert_int_equal(store->type->due(store), DW_NEVER);
	stub.connection = 3;
	stub.trouble = "it refuses";
	assert_int_equal(trouble_at(store, &stub, start + 1, words), DW_ESTORE);
	assert_string_equal(words, "it refuses");
	stub.trouble = "";
	assert_int_equal(trouble_at(store, &stub, start + 2, words), DW_OK);
	redis_free(store);
}

/* ---- A server that goes and comes ----------------------------------------------------------- */

struct watcher {
	dw *d;
	int failed;
	int back;
	int status;
	char words[512];
};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct watcher *watcher = user;

	(void)d;
	watcher->back += event->kind == DW_EVENT_STORE_BACK;
	if (event->kind != DW_EVENT_STORE_FAILED)
		return;
	watcher->failed++;
	watcher->status = event->status;
	(void)snprintf(watcher->words, sizeof watcher->words, "%s", event->message); /* cut */
}

static void open_all(struct watcher *watchers)
{
	static const dw_role roles[HANDLES] = {DW_OWNER, DW_CLIENT, DW_STANDBY};
	char url[64];
	char message[DW_MESSAGE_SIZE];

	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	for (int i = 0; i < HANDLES; i++) {
		dw_options options = {.size = sizeof options,
				      .store = url,
				      .name = "outage",
				      .role = roles[i],
				      .on_event = happened,
				      .on_event_user = &watchers[i]};

		if (dw_open(&watchers[i].d, &options, message) != DW_OK)
			fail_msg("%s", message);
	}
}

/* await turns the handles, of which nobody asks anything, until the first of them have told. */
static void await(struct watcher *watchers, int count, int failed, int back)
{
	for (int i = 0; i < 3000; i++) {
		struct pollfd ready[HANDLES];
		bool done = true;

		for (int k = 0; k < HANDLES; k++) {
			ready[k] = (struct pollfd){dw_fd(watchers[k].d), POLLIN, 0};
			done = done && (k >= count ||
					(watchers[k].failed == failed && watchers[k].back == back));
		}
		if (done)
			return;
		(void)poll(ready, HANDLES, 20);
		for (int k = 0; k < HANDLES; k++)
			assert_int_equal(dw_turn(watchers[k].d), DW_OK);
	}
	for (int k = 0; k < HANDLES; k++)
		print_message("%d: failed %d, back %d\n", k, watchers[k].failed, watchers[k].back);
	fail_msg("not told, or too often");
}

static void says(const struct watcher *watchers, const char *words)
{
	for (int i = 0; i < HANDLES; i++) {
		assert_int_equal(watchers[i].status, DW_ESTORE);
		if (!strstr(watchers[i].words, "redis://127.0.0.1") ||
		    !strstr(watchers[i].words, words))
			fail_msg("\"%s\" does not say \"%s\"", watchers[i].words, words);
	}
}

static void owner_client_and_standby_tell_that_the_server_is_gone_and_back(void **state)
{
	struct watcher watchers[HANDLES] = {0};

	(void)state;
	redis_server_start(&server, true, NULL);
	open_all(watchers);
	await(watchers, HANDLES, 0, 0);
	redis_server_kill(&server);
	await(watchers, HANDLES, 1, 0);
	says(watchers, "Connection refused");
	redis_server_restart(&server);
	await(watchers, HANDLES, 1, 1);
	redis_server_pause(&server);
	await(watchers, HANDLES, 2, 1);
	says(watchers, "does not answer");
	redis_server_resume(&server);
	await(watchers, HANDLES, 2, 2);
	for (int i = 0; i < HANDLES; i++)
		assert_int_equal(dw_close(watchers[i].d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

static void command(const char *text)
{
	redisContext *redis = redisConnect("127.0.0.1", (int)server.port);
	redisReply *reply = redisCommand(redis, text);

	assert_non_null(reply);
	assert_int_equal(reply->type, REDIS_REPLY_STATUS);
	freeReplyObject(reply);
	redisFree(redis);
}

/* Nobody asks anything: a probe is refused, or held back. */
static void owner_client_and_standby_tell_that_the_server_takes_no_changes(void **state)
{
	struct watcher watchers[HANDLES] = {0};

	(void)state;
	redis_server_start(&server, true, NULL);
	open_all(watchers);
	command("CONFIG SET min-replicas-to-write 1");
	await(watchers, HANDLES, 1, 0);
	says(watchers, "NOREPLICAS");
	command("CONFIG SET min-replicas-to-write 0");
	await(watchers, HANDLES, 1, 1);
	command("CLIENT PAUSE 3600000 WRITE");
	await(watchers, HANDLES, 2, 1);
	says(watchers, "does not answer");
	command("CLIENT UNPAUSE");
	await(watchers, HANDLES, 2, 2);
	/* Demoted, it refuses writes, and says so to whoever comes back: it is a replica. */
	command("REPLICAOF 127.0.0.1 1");
	await(watchers, HANDLES, 3, 2);
	says(watchers, "READONLY");
	command("REPLICAOF NO ONE");
	await(watchers, HANDLES, 3, 3);
	for (int i = 0; i < HANDLES; i++)
		assert_int_equal(dw_close(watchers[i].d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

/* ---- Questions ------------------------------------------------------------------------------ */

struct answers {
	int given;
	uint64_t timers;
	uint64_t flaws;
};

static void checked(dw *d, int status, const dw_check_report *report, void *user)
{
	struct answers *answers = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	answers->flaws = report->flaw_count;
	answers->given++;
}

static void told(dw *d, int status, const dw_store_status *report, void *user)
{
	struct answers *answers = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	answers->timers += report->pending + report->claimed;
	answers->given++;
}

static void listed(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		   void *user)
{
	struct answers *answers = user;

	(void)d;
	(void)timers;
	(void)next;
	assert_int_equal(status, DW_OK);
	answers->timers += count;
	answers->given++;
}

static void letters_listed(dw *d, int status, const dw_dead *letters, size_t count,
			   const dw_cursor *next, void *user)
{
	(void)letters;
	listed(d, status, NULL, count, next, user);
}

static dw_verdict fire_once(dw *d, const dw_firing *firing, void *user)
{
	int *fired = user;

	(void)d;
	(void)firing;
	++*fired;
	return DW_DONE;
}

static void ask_all(dw *d, struct answers *answers)
{
	assert_int_equal(dw_list(d, NULL, NULL, 10, listed, answers), DW_OK);
	assert_int_equal(dw_dead_list(d, NULL, NULL, 10, letters_listed, answers), DW_OK);
	assert_int_equal(dw_get_status(d, told, answers), DW_OK);
	assert_int_equal(dw_check(d, checked, answers), DW_OK);
}

/* A claim that the server refuses is sent again and again: no question waits for its answer. */
static void questions_are_answered_while_every_change_is_refused(void **state)
{
	static const char *const refuse[] = {"CONFIG SET min-replicas-to-write 1",
					     "REPLICAOF 127.0.0.1 1"};
	static const char *const take[] = {"CONFIG SET min-replicas-to-write 0",
					   "REPLICAOF NO ONE"};
	struct watcher watchers[HANDLES] = {0};
	dw *owner;
	int fired = 0;

	(void)state;
	redis_server_start(&server, true, NULL);
	open_all(watchers);
	owner = watchers[0].d;
	assert_int_equal(dw_on(owner, "t", fire_once, &fired), DW_OK);
	for (int i = 0; i < 2; i++) {
		struct answers answers = {0};

		assert_int_equal(dw_pause(owner), DW_OK);
		assert_int_equal(dw_after(owner, "t", NULL, DW_SECONDS(2), NULL, 0), DW_OK);
		assert_int_equal(dw_sync(owner, DW_SECONDS(60)), DW_OK);
		command(refuse[i]);
		await(watchers, HANDLES, i + 1, i);
		(void)poll(NULL, 0, 2000); /* it is due, and was not claimed */
		assert_int_equal(dw_resume(owner), DW_OK);
		for (int turn = 0; turn < 20; turn++) {
			(void)poll(NULL, 0, 10);
			assert_int_equal(dw_turn(owner), DW_OK);
		}
		ask_all(owner, &answers);
		assert_int_equal(dw_sync(owner, DW_SECONDS(60)), DW_OK);
		assert_int_equal(answers.given, 4);
		assert_int_equal(answers.timers, 2); /* in the list, and in the status */
		assert_int_equal(fired, i);
		command(take[i]);
		await(watchers, HANDLES, i + 1, i + 1);
		while (fired == i)
			assert_int_equal(dw_turn(owner), DW_OK);
	}
	for (int i = 0; i < HANDLES; i++)
		assert_int_equal(dw_close(watchers[i].d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

static void put_answered(dw *d, const dw_result *result, void *user)
{
	int *answers = user;

	(void)d;
	assert_true(result->status == DW_OK || result->status == DW_ESTORE);
	answers[result->status == DW_OK ? 0 : 1]++;
}

/* break_shard takes a key of the only shard that has timers. */
static void break_shard(void)
{
	redisContext *redis = redisConnect("127.0.0.1", (int)server.port);
	redisReply *keys = redisCommand(redis, "KEYS {outage:*}:z");
	char *key;

	assert_int_equal(keys->elements, 1);
	key = keys->element[0]->str;
	freeReplyObject(redisCommand(redis, "DEL %s", key));
	freeReplyObject(redisCommand(redis, "SET %s broken", key));
	freeReplyObject(keys);
	redisFree(redis);
}

/* A claim in the broken shard is answered never. */
static void broken_shard_keeps_no_answer_of_others(void **state)
{
	struct watcher watchers[HANDLES] = {0};
	dw *owner;
	int fired = 0, answers[2] = {0};

	(void)state;
	redis_server_start(&server, true, NULL);
	open_all(watchers);
	owner = watchers[0].d;
	assert_int_equal(dw_on(owner, "t", fire_once, &fired), DW_OK);
	assert_int_equal(dw_pause(owner), DW_OK);
	assert_int_equal(dw_after(owner, "t", NULL, DW_SECONDS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(owner, DW_SECONDS(60)), DW_OK);
	break_shard();
	(void)poll(NULL, 0, 1000);
	assert_int_equal(dw_resume(owner), DW_OK);
	for (int turn = 0; turn < 20; turn++) {
		(void)poll(NULL, 0, 10);
		assert_int_equal(dw_turn(owner), DW_OK);
	}
	for (int i = 0; i < 64; i++) {
		dw_timer timer = {.size = sizeof timer, .topic = "t", .due = DW_NEVER - 1};

		assert_int_equal(dw_put(owner, &timer, put_answered, answers), DW_OK);
	}
	assert_int_equal(dw_sync(owner, DW_SECONDS(60)), DW_OK);
	assert_int_equal(answers[0] + answers[1], 64);
	assert_true(answers[0] > 32);
	assert_int_equal(fired, 0);
	for (int i = 0; i < HANDLES; i++)
		assert_int_equal(dw_close(watchers[i].d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

/* What only reads, and was under way when the connection was lost, is asked on the next one. */
static void check_and_status_survive_a_lost_connection(void **state)
{
	static const char *const kept[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};
	struct answers answers = {0};
	char url[64];
	dw_options options = {.size = sizeof options, .store = url, .name = "outage"};
	dw *d;

	(void)state;
	redis_server_start(&server, true, kept);
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	assert_int_equal(dw_after(d, "t", "t1", DW_HOURS(1), NULL, 0), DW_OK);
	assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_OK);
	for (int i = 1; i <= 5; i++) {
		redis_server_pause(&server);
		assert_int_equal(dw_check(d, checked, &answers), DW_OK);
		assert_int_equal(dw_get_status(d, told, &answers), DW_OK);
		assert_int_equal(dw_turn(d), DW_OK);
		redis_server_kill(&server);
		redis_server_restart(&server);
		assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_OK);
		assert_int_equal(answers.given, 2 * i);
		assert_int_equal(answers.timers, i);
		assert_int_equal(answers.flaws, 0);
	}
	assert_int_equal(dw_close(d, DW_SECONDS(60)), DW_OK);
	redis_server_end(&server);
}

/* is_busy: it serves nobody, because a script of somebody does not end. */
static bool is_busy(redisContext *redis)
{
	redisReply *reply = redisCommand(redis, "PING");
	bool busy = reply && reply->type == REDIS_REPLY_ERROR;

	assert_non_null(reply);
	freeReplyObject(reply);
	return busy;
}

static void check_and_status_wait_until_the_server_serves(void **state)
{
	static const char *const soon[] = {"--busy-reply-threshold", "1", NULL};
	struct answers answers = {0};
	char url[64];
	dw_options options = {
	    .size = sizeof options, .store = url, .name = "outage", .role = DW_CLIENT};
	redisContext *endless, *other;
	dw *d;

	(void)state;
	redis_server_start(&server, true, soon);
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	assert_int_equal(dw_open(&d, &options, NULL), DW_OK);
	endless = redisConnect("127.0.0.1", (int)server.port);
	other = redisConnect("127.0.0.1", (int)server.port);
	assert_int_equal(redisAppendCommand(endless, "EVAL %s 0", "while true do end"), REDIS_OK);
	for (int done = 0; !done;)
		assert_int_equal(redisBufferWrite(endless, &done), REDIS_OK);
	while (!is_busy(other))
		(void)poll(NULL, 0, 1);
	assert_int_equal(dw_check(d, checked, &answers), DW_OK);
	assert_int_equal(dw_get_status(d, told, &answers), DW_OK);
	assert_int_equal(dw_sync(d, DW_MILLISECONDS(200)), DW_ETIMEOUT);
	freeReplyObject(redisCommand(other, "SCRIPT KILL"));
	assert_int_equal(dw_sync(d, DW_SECONDS(60)), DW_OK);
	assert_int_equal(answers.given, 2);
	assert_int_equal(dw_close(d, DW_SECONDS(60)), DW_OK);
	redisFree(endless);
	redisFree(other);
	redis_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(connection_that_stays_away_is_trouble),
	    cmocka_unit_test(owner_client_and_standby_tell_that_the_server_is_gone_and_back),
	    cmocka_unit_test(owner_client_and_standby_tell_that_the_server_takes_no_changes),
	    cmocka_unit_test(questions_are_answered_while_every_change_is_refused),
	    cmocka_unit_test(broken_shard_keeps_no_answer_of_others),
	    cmocka_unit_test(check_and_status_survive_a_lost_connection),
	    cmocka_unit_test(check_and_status_wait_until_the_server_serves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
