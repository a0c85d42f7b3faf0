/* A peer gives a shard away: when it may, and what becomes of it if the server has lost the shard,
 * or its answer is lost. */
#include <stdio.h>
#include <string.h>

#include "base/usec.h"
#include "support/cmocka.h"
#include "support/relay.h"
#include "support/town.h"

#define LONG DW_MINUTES(5) /* a lease that no test waits for */

#define AWAIT(town, ...) town_await(town, (const int[]){__VA_ARGS__, -1})

static struct town town;

static dw_op *give_of(unsigned shard)
{
	dw_op *op = ask_plain(DW_OP_GIVE);

	op->limit = shard;
	return op;
}

static dw_usec later(void)
{
	return usec_add(town.clock, DW_HOURS(1));
}

/* begin: member 0 has all shards, and nobody gives one away by itself. Nobody else takes one. */
static int set_up(void **state)
{
	(void)state;
	town_open(&town, LONG);
	town.keeps = true;
	town_join(&town, 0);
	AWAIT(&town, 16);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	town_close(&town);
	return 0;
}

static void a_shard_that_is_given_is_a_clients(void **state)
{
	dw_op *put = ask_put(town_id(3), later(), 0), *give = give_of(3);

	(void)state;
	ask_send(&town.members[0].ask, give);
	assert_false(town_has(&town, 0, 3)); /* from the sending on */
	ask_send(&town.members[0].ask, put);
	assert_int_equal(town_await_op(&town, 0, give), DW_OK);
	assert_int_equal(town_await_op(&town, 0, put), DW_OK);
	AWAIT(&town, 16); /* nobody else is there */
	assert_int_equal(town_ask(&town, 0, ask_get(town_id(3))), DW_OK);
	assert_int_equal(town.members[0].lost, 0);
}

static void a_shard_with_commands_under_way_is_not_given(void **state)
{
	dw_op *put = ask_put(town_id(3), later(), 0), *give = give_of(3);

	(void)state;
	put->next = give;
	ask_send(&town.members[0].ask, put);
	assert_int_equal(town_await_op(&town, 0, give), DW_EBUSY);
	assert_int_equal(town_await_op(&town, 0, put), DW_OK);
	assert_true(town_has(&town, 0, 3));
}

static void an_emptied_shard_is_not_given_but_restored(void **state)
{
	dw_op *loss = ask_plain(DW_OP_LOSS), *put, *scan;
	dw_head head;

	(void)state;
	assert_int_equal(ask_head(&town.members[0].ask, ask_put(town_id(3), later(), 0), &head),
			 DW_OK);
	ask_send(&town.members[0].ask, loss);
	town_command(&town, "FLUSHALL");
	assert_int_equal(town_ask(&town, 0, give_of(3)), DW_ESTORE);
	assert_int_equal(town_await_op(&town, 0, loss), DW_OK);
	put = ask_put(town_id(3), later(), 0);
	put->kind = DW_OP_REPUSH;
	put->head.generation = head.generation;
	assert_int_equal(town_ask(&town, 0, put), DW_OK);
	scan = ask_plain(DW_OP_LOSS);
	ask_send(&town.members[0].ask, scan);
	AWAIT(&town, 16);
	assert_int_equal(town_ask(&town, 0, ask_get(town_id(3))), DW_OK);
	assert_int_equal(town.members[0].lost, 0);
	town_leave(&town, 0); /* answers it */
	ask_free(scan);
}

/* ---- A lost answer ------------------------------------------------------------------------- */

static struct relay relay;

/* begin_behind: member 1 has half of the shards, over a connection that can be cut. */
static void begin_behind(char *path)
{
	char url[TEMP_SIZE + 16];

	relay_start(&relay, temp_file(path, town.server.folder, "relay"), town.server.path);
	(void)snprintf(url, sizeof url, "unix://%s", path);
	town.keeps = false;
	town_join_at(&town, 1, url);
	AWAIT(&town, 8, 8);
	town.keeps = true;
}

/* lose_answer: the connection is lost after so many bytes of one way. */
static void lose_answer(enum relay_way way, int status)
{
	char path[TEMP_SIZE];
	unsigned shard;
	dw_op *give;

	begin_behind(path);
	shard = town_shard_of(&town, 1);
	give = give_of(shard);
	relay_cut_after(&relay, way, 0);
	ask_send(&town.members[1].ask, give);
	assert_false(town_has(&town, 1, shard));
	while (!relay.cut)
		town_turn(&town);
	assert_false(town_has(&town, 1, shard));
	relay_open(&relay);
	assert_int_equal(town_await_op(&town, 1, give), status);
	town.keeps = false;
	AWAIT(&town, 8, 8);
	town_leave(&town, 1);
	relay_end(&relay);
}

static void a_release_that_was_lost_leaves_the_shard_ours(void **state)
{
	(void)state;
	lose_answer(RELAY_REQUESTS, DW_EBUSY);
}

static void a_release_whose_answer_was_lost_is_found_out(void **state)
{
	(void)state;
	lose_answer(RELAY_REPLIES, DW_OK);
}

/* The server comes back from before the release. Another peer may have had the shard meanwhile. */
static void old_data_does_not_undo_a_release(void **state)
{
	char path[TEMP_SIZE];
	unsigned shard;
	dw_op *give;

	(void)state;
	begin_behind(path);
	shard = town_shard_of(&town, 1);
	town_command(&town, "SAVE");
	give = give_of(shard);
	relay_cut_after(&relay, RELAY_REPLIES, 0);
	ask_send(&town.members[1].ask, give);
	while (!relay.cut)
		town_turn(&town);
	redis_server_kill(&town.server);
	redis_server_restart(&town.server);
	relay_open(&relay);
	assert_int_equal(town_await_op(&town, 1, give), DW_OK);
	assert_false(town_has(&town, 1, shard));
	town_leave(&town, 1);
	relay_end(&relay);
}

/* ---- The whole namespace ------------------------------------------------------------------- */

static void a_peer_without_all_shards_purges_nothing(void **state)
{
	(void)state;
	assert_int_equal(town_ask(&town, 0, ask_plain(DW_OP_PURGE)), DW_OK);
	town.keeps = false;
	town_join(&town, 1);
	AWAIT(&town, 8, 8);
	assert_int_equal(town_ask(&town, 0, ask_plain(DW_OP_PURGE)), DW_EOWNED);
}

static void a_peer_without_the_first_shard_reports_nothing(void **state)
{
	unsigned with = 0;

	(void)state;
	town.keeps = false;
	town_join(&town, 1);
	AWAIT(&town, 8, 8);
	with = town_has(&town, 0, 0) ? 0 : 1;
	assert_int_equal(town_ask(&town, with, ask_plain(DW_OP_REPORT)), DW_OK);
	assert_int_equal(town_ask(&town, 1 - with, ask_plain(DW_OP_REPORT)), DW_OK);
	assert_int_equal(town_ask(&town, 1 - with, ask_plain(DW_OP_TOPIC_COUNT)), DW_OK);
}

static void members_are_told_to_anybody(void **state)
{
	dw_op *op = ask_plain(DW_OP_MEMBERS);
	const dw_member_row *row;
	bool is_self[2];

	(void)state;
	town.keeps = false;
	town_join(&town, 1);
	AWAIT(&town, 8, 8);
	ask_send(&town.members[1].ask, op);
	while (!ask_is_answered(&town.members[1].ask, op))
		town_turn(&town);
	assert_int_equal(op->status, DW_OK);
	assert_int_equal(op->row_count, 2);
	assert_non_null(strstr(op->rows->id, "pid"));
	assert_null(strchr(op->rows->id, '|'));
	for (const dw_row *each = op->rows; each; each = each->next) {
		assert_int_equal(each->body_size, sizeof *row);
		row = (const dw_member_row *)(const void *)each->body;
		assert_int_equal(row->room, 16);
		assert_true(row->since > 0 && row->until > row->since);
		assert_string_equal(row->version, dw_version());
		is_self[each != op->rows] = row->is_self;
	}
	assert_true(is_self[0] != is_self[1]);
	ask_free(op);
}

/* ---- Refusals ------------------------------------------------------------------------------ */

/* A peer that may not take shards (its user lacks a right that only an acquisition needs) leaves
 * them to the others. */
static void a_peer_that_may_not_take_leaves_the_shards(void **state)
{
	char url[TEMP_SIZE + 64];

	(void)state;
	town_command(&town, "ACL SETUSER weak on >pw ~* &* +@all -unlink");
	(void)snprintf(url, sizeof url, "unix://weak:pw@%s", town.server.path);
	town.keeps = false;
	town_join_at(&town, 1, url);
	while (strstr(town.members[1].ask.logged, "refuses") == NULL)
		town_turn(&town);
	AWAIT(&town, 16, 0);
	town_leave(&town, 0);
	for (int i = 0; i < 3; i++)
		town_turn(&town);
	assert_int_equal(town_count(&town, 1), 0);
	town_command(&town, "ACL SETUSER weak +unlink");
	AWAIT(&town, 0, 16);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(a_shard_that_is_given_is_a_clients),
	    CASE(a_shard_with_commands_under_way_is_not_given),
	    CASE(an_emptied_shard_is_not_given_but_restored),
	    CASE(a_release_that_was_lost_leaves_the_shard_ours),
	    CASE(a_release_whose_answer_was_lost_is_found_out),
	    CASE(old_data_does_not_undo_a_release),
	    CASE(a_peer_without_all_shards_purges_nothing),
	    CASE(a_peer_without_the_first_shard_reports_nothing),
	    CASE(members_are_told_to_anybody),
	    CASE(a_peer_that_may_not_take_leaves_the_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
