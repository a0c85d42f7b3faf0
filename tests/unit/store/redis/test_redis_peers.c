/* Several stores share the shards of one namespace: who joins, gives, takes, leaves and dies. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/redis/core.h"
#include "support/cmocka.h"
#include "support/town.h"

#define LONG DW_MINUTES(5) /* a lease that no test waits for */

#define AWAIT(town, ...) town_await(town, (const int[]){__VA_ARGS__, -1})

static void a_peer_alone_has_all_shards(void **state)
{
	static struct town town;

	(void)state;
	town_open(&town, LONG);
	town_join(&town, 0);
	AWAIT(&town, 16);
	town_turn(&town);
	assert_int_equal(town.members[0].gained, 16);
	town_close(&town);
}

static void peers_that_join_get_their_share(void **state)
{
	static struct town town;

	(void)state;
	town_open(&town, LONG);
	town_join(&town, 0);
	AWAIT(&town, 16);
	town_join(&town, 1);
	AWAIT(&town, 8, 8);
	town_join(&town, 2);
	AWAIT(&town, 6, 5, 5);
	assert_int_equal(town.members[0].lost, 0); /* what is given away is not told */
	town_close(&town);
}

/* The leases hold for long after: only a release, and that it is heard of, frees the shards. */
static void a_peer_that_closes_leaves_its_shards_at_once(void **state)
{
	static struct town town;

	(void)state;
	town_open(&town, LONG);
	town_join(&town, 0);
	town_join(&town, 1);
	AWAIT(&town, 8, 8);
	town_leave(&town, 0);
	AWAIT(&town, 0, 16);
	town_close(&town);
}

static void a_killed_peer_is_replaced_when_its_lease_ends(void **state)
{
	static struct town town;

	(void)state;
	town_open(&town, DW_SECONDS(1));
	town_join(&town, 0);
	town_join(&town, 1);
	town_join(&town, 2);
	AWAIT(&town, 6, 5, 5);
	town_kill(&town, 0);
	AWAIT(&town, 0, 8, 8);
	town_close(&town);
}

static void be_a_peer(const char *url)
{
	static struct town town = {.clock = 1, .lease = LONG};

	town_join_at(&town, 1, url);
	for (;;)
		town_turn(&town);
}

/* Its lease holds, and the list has it; but the process is gone. */
static void a_dead_process_of_this_machine_is_replaced_at_once(void **state)
{
	static struct town town;
	pid_t child;

	(void)state;
	town_open(&town, LONG);
	town_join(&town, 0);
	AWAIT(&town, 16);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		be_a_peer(town.url);
		_exit(1);
	}
	AWAIT(&town, 8);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	AWAIT(&town, 16);
	town_close(&town);
}

/* The server says that another one has the shard, which was announced as free before. */
static void a_shard_that_was_announced_is_asked_for_once(void **state)
{
	static struct town town;
	struct redis_store *store;
	struct shard *shard;
	char command[64];

	(void)state;
	town_open(&town, LONG);
	town_join(&town, 0);
	town_join(&town, 1);
	AWAIT(&town, 8, 8);
	store = (struct redis_store *)town.members[0].ask.store;
	shard = &store->shards[town_shard_of(&town, 1)];
	town_kill(&town, 1);
	(void)snprintf(command, sizeof command, "PUBLISH {town}:free %02u", shard->number);
	town_command(&town, command);
	while (!shard->share.is_announced)
		town_turn(&town);
	town_command(&town, "ZREMRANGEBYRANK {town:00}:o 0 -1"); /* as if 5 s had passed */
	while (shard->share.held_at == 0)
		town_turn(&town);
	assert_false(shard->share.is_announced);
	assert_true(shard->lease.again_at > store->now);
	town_close(&town);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_peer_alone_has_all_shards),
	    cmocka_unit_test(peers_that_join_get_their_share),
	    cmocka_unit_test(a_peer_that_closes_leaves_its_shards_at_once),
	    cmocka_unit_test(a_killed_peer_is_replaced_when_its_lease_ends),
	    cmocka_unit_test(a_shard_that_was_announced_is_asked_for_once),
	    cmocka_unit_test(a_dead_process_of_this_machine_is_replaced_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
