/* The numbers of several peers: readers see their sum, and no counter becomes smaller when a peer
 * leaves, dies or is late. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/usec.h"
#include "store/redis/core.h"
#include "support/cmocka.h"
#include "support/town.h"

#define LONG DW_MINUTES(5) /* a lease that no test waits for */

#define AWAIT(town, ...) town_await(town, (const int[]){__VA_ARGS__, -1})

static struct town town;

static int set_up(void **state)
{
	(void)state;
	town_open(&town, LONG);
	town_join(&town, 0);
	town_join(&town, 1);
	AWAIT(&town, 8, 8);
	/* Each second a peer tells the list which shards it has. */
	for (unsigned i = 0; i < 2; i++)
		members_enter(((struct redis_store *)town.members[i].ask.store));
	town_turn(&town);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	town_close(&town);
	return 0;
}

static dw_op *op_of(dw_op_kind kind, const char *body)
{
	struct alloc alloc = alloc_default();

	return op_new(&alloc, kind, NULL, body, strlen(body));
}

static void tell(unsigned member, const char *report)
{
	assert_int_equal(town_ask(&town, member, op_of(DW_OP_REPORT, report)), DW_OK);
}

static struct redis_store *store_of(unsigned member)
{
	return (struct redis_store *)town.members[member].ask.store;
}

/* name_of returns who the peer is, as the list shows it. */
static const char *name_of(unsigned member)
{
	static char name[256];
	const char *holder = store_of(member)->names.holder;

	(void)snprintf(name, sizeof name, "%.*s", (int)strcspn(holder, "|"), holder);
	return name;
}

/* hear sends an operation, and returns it when it is answered. */
static dw_op *hear(unsigned member, dw_op_kind kind)
{
	dw_op *op = ask_plain(kind);

	ask_send(&town.members[member].ask, op);
	while (!ask_is_answered(&town.members[member].ask, op))
		town_turn(&town);
	assert_int_equal(op->status, DW_OK);
	return op;
}

static bool is_told(unsigned member, const char *owner, const char *words)
{
	dw_op *op = hear(member, DW_OP_STATUS);
	const dw_store_status *status = op->store_status;
	bool is_so = strcmp(status->owner, owner) == 0 && strstr(status->owner_report, words);

	if (!is_so)
		print_message("%s: %s\n", status->owner, status->owner_report);
	ask_free(op);
	return is_so;
}

/* expect waits until readers are told this, because the peers have a connection each. */
static void expect(unsigned member, const char *owner, const char *words)
{
	time_t end = time(NULL) + 600;

	while (!is_told(member, owner, words))
		if (time(NULL) >= end)
			fail_msg("%s is not told", words);
}

static void reports_of_peers_are_added(void **state)
{
	(void)state;
	tell(0, "{\"timers\":3,\"fired\":100}");
	tell(1, "{\"timers\":4,\"fired\":11}");
	expect(0, "2 peers", "{\"timers\":7,");
	expect(1, "2 peers", ",\"fired\":111,");
	expect(1, "2 peers",
	       ",\"peers\":2,\"owners\":2,\"shards\":16,\"shards_owned\":16,\"shards_refused\":0,"
	       "\"shards_free\":0,");
	tell(0, "{\"timers\":3,\"fired\":200}");
	expect(1, "2 peers", ",\"fired\":211,");
}

static void counters_stay_when_a_peer_leaves_or_dies(void **state)
{
	(void)state;
	tell(0, "{\"timers\":3,\"fired\":100}");
	tell(1, "{\"timers\":4,\"fired\":11}");
	town_leave(&town, 1);
	AWAIT(&town, 16);
	expect(0, name_of(0), "{\"timers\":3,");
	expect(0, name_of(0), ",\"fired\":111,");
	town_join(&town, 2);
	tell(2, "{\"timers\":1,\"fired\":1000}");
	expect(0, name_of(0), "{\"timers\":4,");
	expect(0, name_of(0), ",\"fired\":1111,");
	town_kill(&town, 2);
	town_command(&town, "ZREMRANGEBYRANK {town:00}:o 0 -1"); /* as if 5 s had passed */
	members_enter(store_of(0));
	town_turn(&town);
	expect(0, name_of(0), "{\"timers\":3,");
	expect(0, name_of(0), ",\"fired\":1111,");
}

/* rows_of returns how many rows of the list of topics have these numbers. */
static unsigned rows_of(const char *topic, const char *numbers)
{
	dw_op *op = hear(0, DW_OP_TOPIC_LIST);
	unsigned count = 0;

	for (const dw_row *row = op->rows; row; row = row->next)
		count += row->status == DW_ENOENT && strcmp(row->id, topic) == 0 &&
			 row->body_size == strlen(numbers) &&
			 memcmp(row->body, numbers, row->body_size) == 0;
	ask_free(op);
	return count;
}

static void numbers_of_topics_are_told_by_each_peer(void **state)
{
	static const char one_numbers[] = "pending=4 done=2", other_numbers[] = "pending=5 done=3";
	static const char one[] = "x\tpending=4 done=2\ny\tdead=1\n";
	static const char other[] = "x\tpending=5 done=3\n";

	(void)state;
	assert_int_equal(town_ask(&town, 0, op_of(DW_OP_TOPIC_COUNT, one)), DW_OK);
	assert_int_equal(town_ask(&town, 1, op_of(DW_OP_TOPIC_COUNT, other)), DW_OK);
	while (rows_of("x", other_numbers) + rows_of("x", one_numbers) < 2)
		town_turn(&town);
	town_leave(&town, 1);
	while (rows_of("x", "done=3") < 1) /* of the one that has left */
		town_turn(&town);
	assert_int_equal(rows_of("x", other_numbers), 0);
	assert_int_equal(rows_of("x", one_numbers), 1);
}

static void a_shard_that_nobody_has_for_long_is_told(void **state)
{
	struct redis_store *store = store_of(0);
	struct shard *shard = &store->shards[town_shard_of(&town, 1)];
	dw_sharing sharing;

	(void)state;
	store->store.type->sharing(&store->store, &sharing);
	assert_int_equal(sharing.members, 2);
	assert_int_equal(sharing.share, 8);
	assert_int_equal(sharing.unowned, 0);
	assert_true(sharing.clock < -DW_HOURS(1)); /* that of the test stands still */
	shard->share.free_since = usec_sub(store->now, LONG + DW_SECONDS(7));
	store->store.type->sharing(&store->store, &sharing);
	assert_int_equal(sharing.unowned, 0); /* a move, or the end of a lease, takes so long */
	shard->share.free_since = usec_sub(store->now, LONG + DW_SECONDS(9));
	store->store.type->sharing(&store->store, &sharing);
	assert_int_equal(sharing.unowned, 1);
	assert_int_equal(sharing.first_unowned, shard->number);
	members_held(store, shard); /* an owner that is no peer */
	store->store.type->sharing(&store->store, &sharing);
	assert_int_equal(sharing.unowned, 0);
}

static void be_a_peer(const char *url)
{
	static struct town other = {.clock = 1, .lease = LONG};

	town_join_at(&other, 2, url);
	for (;;)
		town_turn(&other);
}

static unsigned count_members(bool is_dead)
{
	dw_op *op = hear(0, DW_OP_MEMBERS);
	unsigned count = 0;

	for (const dw_row *row = op->rows; row; row = row->next)
		count += ((const dw_member_row *)row->body)->is_dead == is_dead;
	ask_free(op);
	return count;
}

/* Another peer would drop it from the list, but none reads the list between these two steps. */
static void a_dead_process_of_this_machine_is_shown_as_dead(void **state)
{
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0) {
		be_a_peer(town.url);
		_exit(1);
	}
	while (count_members(false) < 3)
		town_turn(&town);
	for (unsigned i = 0; i < 2; i++) /* the list is not read any more */
		store_of(i)->ownership.members.beat_at = DW_NEVER;
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(count_members(true), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(reports_of_peers_are_added),
	    CASE(counters_stay_when_a_peer_leaves_or_dies),
	    CASE(numbers_of_topics_are_told_by_each_peer),
	    CASE(a_shard_that_nobody_has_for_long_is_told),
	    CASE(a_dead_process_of_this_machine_is_shown_as_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
