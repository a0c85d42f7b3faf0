/* The link to a real redis-server: who may come in, what is found out about the server, and a
 * server that stands still, dies, or has a forked child for a client. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "base/usec.h"
#include "support/cmocka.h"
#include "support/redis_link.h"
#include "support/redis_server.h"
#include "support/shortage.h"

static void ok(struct linked *linked, const char *command)
{
	struct reply *reply = linked_ask(linked, command);

	if (!reply_is(reply, "OK"))
		fail_msg("%s: %s", command, reply->bytes ? reply->bytes : "not OK");
	reply_free(reply);
}

static void is(struct linked *linked, const char *command, const char *wanted)
{
	struct reply *reply = linked_ask(linked, command);

	assert_true(reply_is(reply, wanted));
	reply_free(reply);
}

static void open_at(struct linked *linked, const char *before, const char *path, const char *after)
{
	char url[TEMP_SIZE + 64];

	(void)snprintf(url, sizeof url, "unix://%s%s%s", before, path, after);
	linked_open(linked, url, NULL);
}

/* refused: for good, with these words, and without the password in any. */
static void refused(const struct redis_server *server, const char *before, const char *after,
		    const char *words)
{
	struct linked linked;
	bool fatal = false;

	open_at(&linked, before, server->path, after);
	linked_await_trouble(&linked, words, &fatal);
	assert_true(fatal);
	assert_null(strstr(link_trouble(linked.link, &fatal), "hunter2"));
	assert_null(strstr(linked.log, "hunter2"));
	linked_close(&linked);
}

static void server_is_used(void **state)
{
	struct redis_server server;
	struct linked linked;
	char url[64];

	(void)state;
	redis_server_start(&server, true, NULL);
	open_at(&linked, "", server.path, "?db=3");
	linked_await_up(&linked);
	ok(&linked, "SET a 1");
	is(&linked, "CLIENT GETNAME", "durawheel-test");
	linked_close(&linked);
	linked_open(&linked, linked_url(url, sizeof url, NULL, server.port), NULL);
	linked_await_up(&linked);
	ok(&linked, "SELECT 3");
	is(&linked, "GET a", "1");
	linked_close(&linked);
	/* By name: both addresses of it are tried, and the server has one. */
	(void)snprintf(url, sizeof url, "redis://localhost:%u/3", server.port);
	linked_open(&linked, url, NULL);
	linked_await_up(&linked);
	is(&linked, "GET a", "1");
	linked_close(&linked);
	redis_server_end(&server);
}

static void many_commands_are_answered_in_order(void **state)
{
	struct redis_server server;
	struct linked linked;

	(void)state;
	redis_server_start(&server, false, NULL);
	open_at(&linked, "", server.path, "");
	linked_await_up(&linked);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 1000; i++)
			assert_int_equal(linked_send(&linked, "INCR n"), DW_OK);
		for (int i = 1; i <= 1000; i++) {
			struct reply *reply = linked_await_reply(&linked);

			assert_int_equal(reply->integer, round * 1000 + i);
			reply_free(reply);
		}
	}
	linked_close(&linked);
	redis_server_end(&server);
}

/* More goes out than any socket buffer has room for, and comes back. */
static void large_values_go_both_ways(void **state)
{
	const size_t size = 8u << 20;
	struct socket_options options = {.name = "t", .reply_patience = DW_MINUTES(1)};
	char url[TEMP_SIZE + 16];
	struct redis_server server;
	struct linked linked;
	struct reply *reply;
	char *value = malloc(size);
	const char *words[] = {"ECHO", value};
	const size_t sizes[] = {4, size};

	(void)state;
	assert_non_null(value);
	for (size_t i = 0; i < size; i++)
		value[i] = (char)(i * 7 + i / 256);
	redis_server_start(&server, false, NULL);
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	linked_open(&linked, url, &options); /* a loaded machine may be silent for a second */
	linked_await_up(&linked);
	for (int i = 0; i < 3; i++)
		assert_int_equal(link_send(linked.link, 2, words, sizes, linked_now()), DW_OK);
	for (int i = 0; i < 3; i++) {
		reply = linked_await_reply(&linked);
		assert_int_equal(reply->size, size);
		assert_memory_equal(reply->bytes, value, size);
		reply_free(reply);
	}
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	redis_server_end(&server);
	free(value);
}

static void password_and_user_are_needed(void **state)
{
	static const char *const options[] = {"--requirepass", "right", NULL};
	struct redis_server server;
	struct linked linked;

	(void)state;
	redis_server_start(&server, false, options);
	refused(&server, "", "", "wants a password");
	refused(&server, ":hunter2@", "", "does not accept this password");
	refused(&server, "me:hunter2@", "", "does not accept this user and password");
	open_at(&linked, ":right@", server.path, "");
	linked_await_up(&linked);
	ok(&linked, "ACL SETUSER small on >pw -@all +get ~*");
	linked_close(&linked);
	open_at(&linked, "small:pw@", server.path, "");
	linked_await_up(&linked);
	assert_non_null(strstr(linked.log, "does not show INFO"));
	linked_close(&linked);
	redis_server_end(&server);
}

/* A password that is changed under way is not for good: it was right once. */
static void password_that_changes_is_not_fatal(void **state)
{
	struct redis_server server;
	struct linked linked;
	struct linked other;
	bool fatal = true;

	(void)state;
	redis_server_start(&server, false, NULL);
	open_at(&linked, "", server.path, "");
	open_at(&other, "", server.path, "");
	linked_await_up(&linked);
	linked_await_up(&other);
	ok(&other, "CONFIG SET requirepass new");
	link_drop(linked.link, "for the test");
	linked_await_trouble(&linked, "wants a password", &fatal);
	assert_false(fatal);
	ok(&other, "CONFIG SET requirepass ");
	linked_await_up(&linked);
	linked_close(&other);
	linked_close(&linked);
	redis_server_end(&server);
}

/* own_slots gives a node of a cluster those slots. */
static void own_slots(const struct redis_server *server, int from, int to)
{
	redisContext *redis = redisConnectUnix(server->path);
	redisReply *reply;

	assert_true(redis && !redis->err);
	for (int slot = from; slot <= to; slot++) {
		reply = redisCommand(redis, "CLUSTER ADDSLOTS %d", slot);
		assert_non_null(reply);
		assert_string_equal(reply->str, "OK");
		freeReplyObject(reply);
	}
	redisFree(redis);
}

static void server_that_would_lose_timers_is_refused(void **state)
{
	static const char *const allkeys[] = {"--maxmemory-policy", "allkeys-lru", NULL};
	static const char *const some[] = {"--maxmemory-policy", "volatile-lru", NULL};
	static const char *const node[] = {"--cluster-enabled", "yes", NULL};
	static const char *const replica[] = {"--replicaof", "127.0.0.1 1", NULL};
	struct redis_server server;
	struct linked linked;
	bool fatal = true;

	(void)state;
	redis_server_start(&server, false, allkeys);
	refused(&server, "", "", "set maxmemory-policy noeviction");
	refused(&server, "", "?db=99", "database 99");
	redis_server_end(&server);
	redis_server_start(&server, false, some);
	refused(&server, "", "", "is volatile-lru, so it would throw leases away");
	redis_server_end(&server);
	redis_server_start(&server, true, node);
	refused(&server, "", "", "does not serve all slots");
	own_slots(&server, 0, 9999);
	refused(&server, "", "", "does not serve all slots");
	own_slots(&server, 10000, 16383);
	open_at(&linked, "", server.path, "");
	linked_await_up(&linked);
	linked_close(&linked);
	redis_server_end(&server);
	redis_server_start(&server, false, replica);
	open_at(&linked, "", server.path, "");
	linked_await_trouble(&linked, "is a replica", &fatal);
	assert_false(fatal);
	linked_close(&linked);
	redis_server_end(&server);
}

static void server_that_stands_still_is_left_and_found_again(void **state)
{
	struct socket_options options = {.name = "t", .reply_patience = DW_MILLISECONDS(200)};
	struct redis_server server;
	struct linked linked;
	char url[TEMP_SIZE + 16];

	(void)state;
	redis_server_start(&server, false, NULL);
	linked_open(&linked, linked_url(url, sizeof url, server.path, 0), &options);
	linked_await_up(&linked);
	redis_server_pause(&server);
	assert_int_equal(linked_send(&linked, "SET a 1"), DW_OK);
	linked_await_trouble(&linked, "does not answer", NULL);
	redis_server_resume(&server);
	linked_await_up(&linked);
	assert_true(link_connection(linked.link) > 1);
	ok(&linked, "SET a 2");
	linked_close(&linked);
	redis_server_end(&server);
}

static void server_that_dies_is_found_again(void **state)
{
	struct redis_server server;
	struct linked linked;

	(void)state;
	redis_server_start(&server, false, NULL);
	open_at(&linked, "", server.path, "");
	linked_await_up(&linked);
	for (uint64_t i = 2; i < 4; i++) {
		assert_int_equal(linked_send(&linked, "SET a 1"), DW_OK);
		redis_server_kill(&server);
		linked_await_down(&linked);
		linked_await_trouble(&linked, "Connection refused", NULL);
		redis_server_restart(&server);
		linked_await_up(&linked);
		assert_int_equal(link_connection(linked.link), i);
		ok(&linked, "SET a 2");
	}
	linked_close(&linked);
	redis_server_end(&server);
}

static void message_is(struct linked *listener, const char *text)
{
	struct reply *reply = linked_await_reply(listener);

	assert_int_equal(reply->kind, REPLY_ARRAY);
	assert_int_equal(reply->count, 3);
	assert_true(reply_is(&reply->items[0], "message"));
	assert_true(reply_is(&reply->items[1], "bell"));
	assert_true(reply_is(&reply->items[2], text));
	reply_free(reply);
}

static void listener_hears_messages_between_probes(void **state)
{
	struct socket_options options = {
	    .name = "t", .channels = "bell", .probe_every = DW_MILLISECONDS(5)};
	struct redis_server server;
	struct linked listener;
	struct linked linked;
	char url[TEMP_SIZE + 16];

	(void)state;
	redis_server_start(&server, false, NULL);
	linked_url(url, sizeof url, server.path, 0);
	linked_open(&listener, url, &options);
	linked_open(&linked, url, NULL);
	linked_await_up(&listener);
	linked_await_up(&linked);
	for (int i = 0; i < 30; i++) {
		reply_free(linked_ask(&linked, "PUBLISH bell one"));
		reply_free(linked_ask(&linked, "PUBLISH bell two"));
		message_is(&listener, "one");
		message_is(&listener, "two");
		linked_step(&listener);
		linked_step(&listener);
	}
	assert_int_equal(link_connection(listener.link), 1);
	redis_server_pause(&server);
	linked_await_trouble(&listener, "does not answer", NULL);
	redis_server_resume(&server);
	linked_await_up(&listener);
	linked_close(&linked);
	linked_close(&listener);
	redis_server_end(&server);
}

static void child_that_frees_it_leaves_it_alone(void **state)
{
	struct redis_server server;
	struct linked linked;
	pid_t child;
	int status;

	(void)state;
	redis_server_start(&server, false, NULL);
	open_at(&linked, "", server.path, "");
	linked_await_up(&linked);
	child = fork();
	if (child == 0) {
		link_free(linked.link);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ok(&linked, "SET a 1");
	assert_int_equal(link_connection(linked.link), 1);
	linked_close(&linked);
	redis_server_end(&server);
}

/* use asks something until it is answered: what no memory was for is made again. */
static void use(struct linked *linked)
{
	struct reply *reply = NULL;

	for (int tries = 0; !reply; tries++) {
		uint64_t connection;

		assert_true(tries < 100);
		linked_await_up(linked);
		connection = link_connection(linked->link);
		if (linked_send(linked, "LRANGE list 0 -1") != DW_OK)
			continue;
		while (!reply && link_connection(linked->link) == connection) {
			linked_step(linked);
			reply = link_take(linked->link);
		}
	}
	assert_int_equal(reply->count, 40);
	reply_free(reply);
}

/* Each allocation fails once, on the way to a connection and on it. */
static void shortage_of_memory_is_survived(void **state)
{
	struct shortage shortage = SHORTAGE_NONE;
	struct socket_options options = {.alloc = {.resize = shortage_resize, .user = &shortage},
					 .name = "t"};
	struct redis_server server;
	struct linked linked;
	char url[64];
	bool failed = true;

	(void)state;
	redis_server_start(&server, true, NULL);
	linked_open(&linked, linked_url(url, sizeof url, NULL, server.port), NULL);
	linked_await_up(&linked);
	for (int i = 0; i < 40; i++)
		reply_free(linked_ask(&linked, "RPUSH list value"));
	linked_close(&linked);
	(void)snprintf(url, sizeof url, "redis://localhost:%u", server.port);
	for (size_t nth = 1; failed; nth++) {
		linked_open(&linked, url, &options);
		shortage.failed = false;
		shortage_begin(&shortage, nth, false);
		use(&linked);
		failed = shortage_failed(&shortage);
		shortage_end(&shortage);
		linked_close(&linked);
		assert_int_equal(shortage.blocks, 0);
		assert_true(failed || nth > 8);
	}
	redis_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(server_is_used),
	    cmocka_unit_test(many_commands_are_answered_in_order),
	    cmocka_unit_test(large_values_go_both_ways),
	    cmocka_unit_test(password_and_user_are_needed),
	    cmocka_unit_test(password_that_changes_is_not_fatal),
	    cmocka_unit_test(server_that_would_lose_timers_is_refused),
	    cmocka_unit_test(server_that_stands_still_is_left_and_found_again),
	    cmocka_unit_test(server_that_dies_is_found_again),
	    cmocka_unit_test(listener_hears_messages_between_probes),
	    cmocka_unit_test(child_that_frees_it_leaves_it_alone),
	    cmocka_unit_test(shortage_of_memory_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
