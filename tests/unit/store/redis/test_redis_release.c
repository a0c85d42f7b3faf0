/* An owner that stops gives its leases back, whatever its connection is doing: the next owner need
 * not wait until they run out. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "store/redis/core.h"
#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "support/redis_server.h"
#include "support/relay.h"

enum { SHARDS = 16, TRIES = 8 };

#define LONG DW_HOURS(1)

static struct redis_server server;
static dw_usec clock_now = DW_SECONDS(1700000000);
static uint64_t openings;

static int try_open(struct ask *ask, const char *path, char *message)
{
	char url[TEMP_SIZE + 16];

	ask_init(ask, DW_OWNER, ++openings, &clock_now);
	ask->env.name = "n";
	ask->env.shards = SHARDS;
	ask->env.lease = LONG;
	(void)snprintf(url, sizeof url, "unix://%s", path);
	return redis_store_open(&ask->store, url, &ask->env, message);
}

static void open_owner(struct ask *ask)
{
	char message[DW_MESSAGE_SIZE] = "";

	if (try_open(ask, server.path, message) != DW_OK)
		fail_msg("%s", message);
}

static struct redis_store *redis_of(const struct ask *ask)
{
	return (struct redis_store *)(void *)ask->store;
}

static redisReply *command(const char *format, const char *word)
{
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply;

	assert_true(redis && !redis->err);
	reply = redisCommand(redis, format, word);
	assert_non_null(reply);
	redisFree(redis);
	return reply;
}

static void cut(void)
{
	freeReplyObject(command("CLIENT KILL TYPE %s", "normal"));
}

/* is_gone: no lease is left. If any is, all keys are deleted, and the next try has a new start. */
static bool is_gone(void)
{
	redisReply *reply = command("KEYS %s", "*:l");
	bool is_none = reply->elements == 0;

	freeReplyObject(reply);
	freeReplyObject(command("FLUSHALL %s", "SYNC"));
	return is_none;
}

/* step does less than a turn, in which a fast server answers. */
static void step(struct redis_store *store)
{
	store->now = store->env.steady(store->env.steady_user);
	(void)redis_wait(store, usec_add(store->now, DW_MILLISECONDS(20)));
	store->now = store->env.steady(store->env.steady_user);
	redis_wire(store);
	wake_channel_work(store); /* or the wait ends at once */
}

/* ---- The moments at which an owner stops ----------------------------------------------------- */

static void unaware(struct redis_store *store)
{
	(void)store;
	cut();
}

static void without_connection(struct redis_store *store)
{
	cut();
	while (store->node.connection)
		step(store);
}

static void in_the_handshake(struct redis_store *store)
{
	without_connection(store);
	while (store->shards[SHARDS - 1].channel.handshake != HANDSHAKE_ASKED)
		step(store);
}

/* The server has the new tokens, and the owner does not know it. */
static void behind_the_handshake(struct redis_store *store)
{
	const struct shard *last = &store->shards[SHARDS - 1];
	bool is_taken = false;

	in_the_handshake(store);
	while (!is_taken && last->channel.handshake == HANDSHAKE_ASKED) {
		redisReply *reply;

		step(store);
		reply = command("GET %s", last->keys.name[KEY_LEASE]);

		is_taken = reply->str && strcmp(reply->str, last->lease.token) != 0;
		freeReplyObject(reply);
	}
	cut();
}

static bool has_all_handshakes(const struct redis_store *store)
{
	for (unsigned i = 0; i < SHARDS; i++)
		if (store->shards[i].channel.handshake != HANDSHAKE_DONE)
			return false;
	return true;
}

/* get_through_a_handshake: the server does not know the script of the first one. Each shard asks
 * again after a pause of its own, and not with the next renewal: that comes after 18 minutes. */
static void get_through_a_handshake(struct redis_store *store)
{
	dw_usec until;

	in_the_handshake(store);
	until = usec_add(store->now, DW_MINUTES(5));
	while (!has_all_handshakes(store)) {
		assert_true(store->now < until);
		step(store);
		redis_work(store);
	}
}

/* gives_back: a slow machine may need longer than an owner waits for a connection. */
static void gives_back(void (*moment)(struct redis_store *))
{
	redis_server_start(&server, false, NULL);
	for (unsigned i = 0; i < TRIES; i++) {
		struct ask ask;

		open_owner(&ask);
		get_through_a_handshake(redis_of(&ask));
		moment(redis_of(&ask));
		ask_end(&ask);
		if (is_gone()) {
			redis_server_end(&server);
			return;
		}
	}
	fail_msg("leases are left, %d times", TRIES);
}

static void each_shard_asks_again_for_its_handshake(void **state)
{
	struct ask ask;

	(void)state;
	redis_server_start(&server, false, NULL);
	for (unsigned i = 0; i < TRIES; i++) {
		open_owner(&ask);
		freeReplyObject(command("SCRIPT %s", "FLUSH"));
		get_through_a_handshake(redis_of(&ask));
		ask_end(&ask);
	}
	redis_server_end(&server);
}

static void owner_gives_back_what_it_has(void **state)
{
	struct ask ask;

	(void)state;
	redis_server_start(&server, false, NULL);
	open_owner(&ask);
	ask_end(&ask);
	open_owner(&ask);
	ask_end(&ask);
	assert_true(is_gone());
	redis_server_end(&server);
}

static void owner_without_a_connection_waits_for_one(void **state)
{
	(void)state;
	gives_back(without_connection);
}

static void owner_that_was_cut_off_unawares_gives_back(void **state)
{
	(void)state;
	gives_back(unaware);
}

static void owner_in_a_handshake_gives_back_the_new_token(void **state)
{
	(void)state;
	gives_back(in_the_handshake);
}

static void owner_that_was_cut_off_in_a_handshake_gives_back(void **state)
{
	(void)state;
	gives_back(behind_the_handshake);
}

/* The server is away: the owner ends all the same. */
static void owner_whose_server_is_away_ends(void **state)
{
	struct ask ask;

	(void)state;
	redis_server_start(&server, false, NULL);
	open_owner(&ask);
	redis_server_kill(&server);
	ask_end(&ask);
	redis_server_end(&server);
}

/* ---- The opening ----------------------------------------------------------------------------- */

static void *end_poison(void *user)
{
	struct relay *relay = user;

	while (atomic_load(&relay->poisoned) == 0)
		(void)poll(NULL, 0, 1);
	atomic_store(&relay->poison, NULL);
	return NULL;
}

/* The connection is closed when the first shard is acquired, and the others are not. The owner that
 * is being opened acquires the first one again. */
static void owner_that_is_cut_while_it_opens_knows_its_lease(void **state)
{
	struct relay relay;
	char path[TEMP_SIZE + 8], message[DW_MESSAGE_SIZE] = "";
	pthread_t thread;
	struct ask ask;

	(void)state;
	redis_server_start(&server, false, NULL);
	(void)snprintf(path, sizeof path, "%s/relay", server.folder);
	relay_start(&relay, path, server.path);
	atomic_store(&relay.poison, "{n:07}:l");
	assert_int_equal(pthread_create(&thread, NULL, end_poison, &relay), 0);
	if (try_open(&ask, path, message) != DW_OK)
		fail_msg("%s", message);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(atomic_load(&relay.poisoned), 1);
	ask_end(&ask);
	relay_end(&relay);
	redis_server_end(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_shard_asks_again_for_its_handshake),
	    cmocka_unit_test(owner_gives_back_what_it_has),
	    cmocka_unit_test(owner_without_a_connection_waits_for_one),
	    cmocka_unit_test(owner_that_was_cut_off_unawares_gives_back),
	    cmocka_unit_test(owner_in_a_handshake_gives_back_the_new_token),
	    cmocka_unit_test(owner_that_was_cut_off_in_a_handshake_gives_back),
	    cmocka_unit_test(owner_whose_server_is_away_ends),
	    cmocka_unit_test(owner_that_is_cut_while_it_opens_knows_its_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
