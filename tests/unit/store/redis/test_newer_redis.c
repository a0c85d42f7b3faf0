/* A namespace in which a newer durawheel has stored timers: they are listed and left alone, and no
 * owner of this version owns it. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "store/redis/store.h"
#include "store/redis/wire/value.h"
#include "keyspace/store.h"
#include "support/ask.h"
#include "support/newer.h"
#include "support/redis_server.h"
#include "support/viewer.h"
#include "timer/record.h"

#define OF_LATER UINT64_C(4000000000000000) /* a version */
#define MANY 3000                           /* more than are restored in ten turns */

static struct redis_server server;

static redisContext *redis;
static unsigned spaces;
static char name[16];

/* command: the integer of the reply, or the number in its text; -1: nil. */
static long long command(const char *format, ...)
{
	redisReply *reply;
	va_list arguments;
	long long number;

	va_start(arguments, format);
	reply = redisvCommand(redis, format, arguments);
	va_end(arguments);
	assert_non_null(reply);
	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s", reply->str);
	number = reply->type == REDIS_REPLY_NIL ? -1 : reply->integer;
	if (reply->type == REDIS_REPLY_STRING)
		(void)sscanf(reply->str, "%lld", &number);
	freeReplyObject(reply);
	return number;
}

/* ---- A handle ------------------------------------------------------------------------------ */

static int try_open(struct viewer *viewer, dw_role role)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.store = url, .name = name, .role = role, .lease_us = DW_SECONDS(30)};

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	return viewer_open(viewer, &options);
}

static void open_as(struct viewer *viewer, dw_role role)
{
	if (try_open(viewer, role) != DW_OK)
		fail_msg("%s", viewer->message);
	if (role != DW_CLIENT)
		assert_int_equal(dw_on(viewer->d, "*", viewer_due, viewer), DW_OK);
}

/* ---- What a newer version has written ------------------------------------------------------ */

static size_t value_of(const char *id, unsigned char *ret_bytes)
{
	dw_head head = {.generation = OF_LATER, .due = 5};

	return newer_value(&head, id, "later", ret_bytes);
}

static unsigned shard_of(const char *id)
{
	return crc16_of(id) % 16;
}

/* plant_value: as a client of a newer version does it, but for the mark. */
static void plant_value(const char *id)
{
	unsigned char bytes[NEWER_VALUE_MAX];
	size_t size = value_of(id, bytes);
	unsigned shard = shard_of(id);

	(void)command("ZADD {%s:%02u}:z 5 %s", name, shard, id);
	(void)command("HSET {%s:%02u}:h %s %b", name, shard, id, bytes, size);
	(void)command("ZADD {%s:%02u}:i 4000000000000000 %s", name, shard, id);
	(void)command("PUBLISH {%s:%02u}:wake %u", name, shard, shard);
}

static void assert_untouched(const char *id)
{
	unsigned char bytes[NEWER_VALUE_MAX];
	size_t size = value_of(id, bytes);
	redisReply *reply = redisCommand(redis, "HGET {%s:%02u}:h %s", name, shard_of(id), id);

	assert_non_null(reply);
	assert_int_equal(reply->len, size);
	assert_memory_equal(reply->str, bytes, size);
	freeReplyObject(reply);
	assert_int_equal(command("ZSCORE {%s:%02u}:z %s", name, shard_of(id), id), 5);
}

/* take_away: as an owner of a newer version does it that has nothing else of its own. */
static void take_away(const char *id)
{
	unsigned shard = shard_of(id);

	assert_int_equal(command("ZREM {%s:%02u}:z %s", name, shard, id), 1);
	assert_int_equal(command("HDEL {%s:%02u}:h %s", name, shard, id), 1);
	(void)command("HDEL {%s:%02u}:m format", name, shard);
}

/* make the namespace: it has one timer of ours, "mine". */
static void make(void)
{
	struct viewer viewer = {0};

	open_as(&viewer, DW_OWNER);
	viewer_sync(&viewer, dw_after(viewer.d, "t", "mine", DW_HOURS(1), NULL, 0));
	viewer_close(&viewer);
}

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(name, sizeof name, "n%u", ++spaces);
	return 0;
}

/* ---- Tests --------------------------------------------------------------------------------- */

static void client_lists_a_newer_timer_and_cannot_change_it(void **state)
{
	struct viewer viewer = {0};
	dw_timer timer = {.size = sizeof timer, .id = "it", .topic = "t", .flags = DW_NEW};

	(void)state;
	make();
	plant_value("it");
	(void)command("HSET {%s:%02u}:m format 3", name, shard_of("it"));
	open_as(&viewer, DW_CLIENT);
	assert_int_equal(viewer_answer(&viewer, dw_list(viewer.d,
							&(dw_select){.size = sizeof(dw_select),
								     .topic = "later"},
							NULL, 8, viewer_page, &viewer)),
			 DW_OK);
	assert_int_equal(viewer.count, 1);
	assert_int_equal(viewer.states[0], DW_NEWER);
	assert_string_equal(viewer.topics[0], "later");
	assert_int_equal(
	    viewer_answer(&viewer, dw_list(viewer.d, NULL, NULL, 8, viewer_page, &viewer)), DW_OK);
	assert_int_equal(viewer.count, 2);
	assert_int_equal(viewer_answer(&viewer, dw_get(viewer.d, "it", viewer_page, &viewer)),
			 DW_OK);
	assert_int_equal(viewer.states[0], DW_NEWER);
	assert_int_equal(viewer_answer(&viewer, dw_put(viewer.d, &timer, viewer_done, &viewer)),
			 DW_EEXIST);
	timer.flags = 0;
	assert_int_equal(viewer_answer(&viewer, dw_put(viewer.d, &timer, viewer_done, &viewer)),
			 DW_ENEWER);
	assert_int_equal(viewer_answer(&viewer, dw_cancel(viewer.d, "it", viewer_done, &viewer)),
			 DW_ENEWER);
	assert_int_equal(viewer_answer(&viewer, dw_move(viewer.d, "it", 7, viewer_done, &viewer)),
			 DW_ENEWER);
	viewer_sync(&viewer, dw_check(viewer.d, viewer_check, &viewer));
	assert_int_equal(viewer.flaws, 1);
	assert_non_null(strstr(viewer.flaw, "newer durawheel"));
	assert_int_equal(viewer.events[DW_EVENT_CORRUPT] + viewer.events[DW_EVENT_STORE_FAILED], 0);
	/* What is its own it may change. */
	assert_int_equal(viewer_answer(&viewer, dw_cancel(viewer.d, "mine", viewer_done, &viewer)),
			 DW_OK);
	viewer_close(&viewer);
	assert_untouched("it");
}

static void owner_is_refused_where_the_mark_is(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	make();
	(void)command("HSET {%s:11}:m format 3", name);
	assert_int_equal(try_open(&viewer, DW_OWNER), DW_ENEWER);
	assert_non_null(strstr(viewer.message, "newer durawheel"));
	(void)command("HSET {%s:11}:m format x", name);
	assert_int_equal(try_open(&viewer, DW_OWNER), DW_ENEWER);
	(void)command("HSET {%s:11}:m format 2", name);
	open_as(&viewer, DW_OWNER);
	viewer_close(&viewer);
}

/* An older library reads the mark of the first shard before it changes anything. */
static void owner_marks_every_shard_with_its_version(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	make();
	(void)command("HSET {%s:03}:m format 1", name);
	(void)command("HDEL {%s:00}:m format", name);
	open_as(&viewer, DW_OWNER);
	viewer_close(&viewer);
	for (unsigned shard = 0; shard < 16; shard++)
		assert_int_equal(command("HGET {%s:%02u}:m format", name, shard), 2);
}

static void standby_waits_where_the_mark_is(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	make();
	(void)command("HSET {%s:11}:m format 3", name);
	open_as(&viewer, DW_STANDBY);
	viewer_await(&viewer, &viewer.events[DW_EVENT_NEWER], 1);
	assert_int_equal(viewer.statuses[DW_EVENT_NEWER], DW_ENEWER);
	(void)command("HDEL {%s:11}:m format", name);
	viewer_await(&viewer, &viewer.events[DW_EVENT_OWNER], 1);
	assert_int_equal(viewer.events[DW_EVENT_NEWER], 1);
	viewer_close(&viewer);
}

/* It is met at work, in the inbox, over a timer that the owner knows. */
static void owner_that_meets_a_newer_timer_marks_the_shard_and_gives_up(void **state)
{
	struct viewer viewer = {0};
	struct viewer other = {0};

	(void)state;
	open_as(&viewer, DW_OWNER);
	viewer_sync(&viewer, dw_after(viewer.d, "t", "it", DW_HOURS(1), NULL, 0));
	plant_value("it");
	viewer_await(&viewer, &viewer.events[DW_EVENT_OWNER_LOST], 1);
	assert_int_equal(viewer.events[DW_EVENT_NEWER], 1);
	assert_int_equal(viewer.statuses[DW_EVENT_OWNER_LOST], DW_ENEWER);
	viewer_sync(&viewer, dw_after(viewer.d, "t", "mine", 0, NULL, 0));
	assert_int_equal(command("HGET {%s:%02u}:m format", name, shard_of("it")), 3);
	assert_int_equal(try_open(&other, DW_OWNER), DW_ENEWER);
	assert_untouched("it");
	take_away("it");
	viewer_await(&viewer, &viewer.starts, 1); /* "mine" */
	assert_int_equal(viewer.events[DW_EVENT_OWNER], 1);
	assert_int_equal(viewer.events[DW_EVENT_NEWER], 1);
	assert_int_equal(viewer.events[DW_EVENT_CORRUPT] + viewer.events[DW_EVENT_DEAD], 0);
	viewer_close(&viewer);
}

/* A deploy was rolled back, and nothing but the timer tells: it is met by the scan. */
static void owner_that_loads_a_newer_timer_gives_up(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	make();
	plant_value("it");
	(void)command("DEL {%s:%02u}:i", name, shard_of("it"));
	open_as(&viewer, DW_OWNER);
	viewer_await(&viewer, &viewer.events[DW_EVENT_OWNER_LOST], 1);
	assert_int_equal(viewer.events[DW_EVENT_NEWER], 1);
	viewer_close(&viewer);
	assert_int_equal(try_open(&viewer, DW_OWNER), DW_ENEWER);
	assert_untouched("it");
}

/* put_many: timers of ours. */
static void put_many(const struct viewer *viewer)
{
	char id[16];

	for (int i = 0; i < MANY; i++) {
		(void)snprintf(id, sizeof id, "t%d", i);
		assert_int_equal(dw_after(viewer->d, "t", id, DW_HOURS(1), NULL, 0), DW_OK);
	}
	viewer_sync(viewer, DW_OK);
}

/* Nobody else knows them. The owner reads the newer timer before anything tells it of the loss. */
static void owner_restores_lost_timers_before_it_gives_up(void **state)
{
	struct viewer viewer = {0};
	long long stored = 0;

	(void)state;
	open_as(&viewer, DW_OWNER);
	put_many(&viewer);
	(void)command("FLUSHALL");
	plant_value("t0");
	viewer_await(&viewer, &viewer.events[DW_EVENT_OWNER_LOST], 1);
	assert_int_equal(viewer.statuses[DW_EVENT_OWNER_LOST], DW_ENEWER);
	for (unsigned shard = 0; shard < 16; shard++)
		stored += command("HLEN {%s:%02u}:h", name, shard);
	assert_int_equal(stored, MANY);
	viewer_close(&viewer);
}

/* The server was set back to before the put, when the id had a newer timer, which was cancelled. */
static void owner_restores_its_put_in_place_of_an_older_newer_timer(void **state)
{
	struct viewer viewer = {0};
	unsigned char bytes[NEWER_VALUE_MAX];
	dw_head head = {.generation = 16, .due = 5};
	size_t size = newer_value(&head, "it", "later", bytes);
	unsigned shard = shard_of("it");

	(void)state;
	open_as(&viewer, DW_OWNER);
	viewer_sync(&viewer, dw_after(viewer.d, "t", "it", DW_HOURS(1), NULL, 0));
	(void)command("ZADD {%s:%02u}:z 5 it", name, shard);
	(void)command("HSET {%s:%02u}:h it %b", name, shard, bytes, size);
	(void)command("HINCRBY {%s:%02u}:m mark -1", name, shard);
	viewer_sync(&viewer, dw_after(viewer.d, "t", "{it}2", DW_HOURS(1), NULL, 0));
	assert_true(command("ZSCORE {%s:%02u}:z it", name, shard) > 5);
	assert_int_equal(viewer.events[DW_EVENT_NEWER] + viewer.events[DW_EVENT_OWNER_LOST], 0);
	viewer_close(&viewer);
}

static void newer_letter_is_listed_and_stays(void **state)
{
	struct viewer viewer = {0};
	unsigned char bytes[17 + NEWER_VALUE_MAX] = {1, [16] = DW_REASON_LATE};
	size_t size = 17 + value_of("it", bytes + 17);
	unsigned shard = shard_of("it");
	const char member[] = "it\0"
			      "4000000000000000";
	size_t member_size = sizeof member - 1;

	(void)state;
	make();
	(void)command("ZADD {%s:%02u}:d 1 %b", name, shard, member, member_size);
	(void)command("ZADD {%s:%02u}:e 0 %b", name, shard, member, member_size);
	(void)command("HSET {%s:%02u}:D %b %b", name, shard, member, member_size, bytes, size);
	(void)command("HSET {%s:%02u}:m format 3", name, shard);
	open_as(&viewer, DW_CLIENT);
	for (int i = 0; i < 2; i++) {
		viewer_sync(&viewer, dw_dead_list(viewer.d,
						  &(dw_dead_select){.size = sizeof(dw_dead_select),
								    .topic = "later"},
						  NULL, 8, viewer_letters, &viewer));
		assert_int_equal(viewer.count, 1);
		assert_int_equal(viewer.newer, 1);
		assert_int_equal(viewer_answer(&viewer, dw_dead_requeue(viewer.d, "it", 0, 5,
									viewer_done, &viewer)),
				 DW_ENEWER);
		assert_int_equal(
		    viewer_answer(&viewer, dw_dead_drop(viewer.d, "it", 0, viewer_done, &viewer)),
		    DW_ENEWER);
		assert_int_equal(viewer_answer(&viewer, dw_dead_drop(viewer.d, "it", OF_LATER,
								     viewer_done, &viewer)),
				 DW_ENEWER);
		assert_int_equal(
		    viewer_answer(&viewer, dw_dead_drop(viewer.d, NULL, 0, viewer_done, &viewer)),
		    DW_ENEWER);
	}
	viewer_close(&viewer);
}

static void purge_leaves_what_is_newer(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	open_as(&viewer, DW_OWNER);
	(void)command("HSET {%s:%02u}:m format 3", name, shard_of("it"));
	viewer_sync(&viewer, dw_after(viewer.d, "t", "it", DW_HOURS(1), NULL, 0));
	assert_int_equal(viewer_answer(&viewer, dw_purge(viewer.d, viewer_done, &viewer)),
			 DW_ENEWER);
	assert_int_equal(command("HLEN {%s:%02u}:h", name, shard_of("it")), 1);
	viewer_close(&viewer);
}

/* ---- The store ----------------------------------------------------------------------------- */

struct cut {
	struct keyspace_store store; /* first */
	int puts;                    /* that the server carried out */
};

static struct reply *count_puts(struct keyspace_store *store, const char *script,
				struct reply *reply)
{
	((struct cut *)store)->puts += strcmp(script, "put") == 0;
	return reply;
}

/* store_newer: under the header of the timer that is stored. */
static void store_newer(struct keyspace_store *store, const char *id)
{
	unsigned char value[NEWER_VALUE_MAX];
	const char *words[] = {"HSET", "{twin:00}:h", id, (const char *)value};
	size_t sizes[] = {4, strlen(words[1]), strlen(id), 0};
	dw_head head;
	size_t size;

	assert_true(value_head(keyspace_value(store->keyspace, words[1], id, &size),
			       VALUE_HEAD_SIZE, &head));
	sizes[3] = newer_value(&head, id, "later", value);
	reply_free(keyspace_call(store->keyspace, 4, words, sizes));
}

/* status_of the answer of this kind; all that are given until then are freed. */
static int status_of(struct keyspace_store *store, dw_op_kind kind)
{
	int status = DW_EUNKNOWN;

	for (bool found = false; !found;) {
		dw_op *op = store->store->type->collect(store->store);

		while (op) {
			dw_op *next = op->next;

			if (op->kind == kind) {
				found = true;
				status = op->status;
			}
			ask_free(op);
			op = next;
		}
		keyspace_store_turn(store); /* the test has its time limit */
	}
	return status;
}

/* The session says that the put was carried out, and not that it was refused. */
static void put_whose_refusal_was_lost_is_not_confirmed(void **state)
{
	struct cut cut = {.store.delay = DW_MILLISECONDS(50), .store.change = count_puts};

	(void)state;
	keyspace_store_open(&cut.store);
	ask_free(keyspace_store_done(&cut.store, ask_put("it", DW_HOURS(1), 0)));
	store_newer(&cut.store, "it");
	cut.store.store->type->submit(cut.store.store, ask_put("it", DW_HOURS(2), 0));
	while (cut.puts == 1)
		keyspace_store_turn(&cut.store);
	link_drop(&cut.store.link, "a test");
	assert_int_equal(status_of(&cut.store, DW_OP_PUT), DW_EUNKNOWN);
	keyspace_store_close(&cut.store);
}

/* Its engine restores nothing any more, and the purge before waits for that. */
static void owner_gives_way_after_a_loss_of_the_server(void **state)
{
	struct keyspace_store store = {0};
	dw_op *op;

	(void)state;
	keyspace_store_open(&store);
	ask_free(keyspace_store_done(&store, ask_plain(DW_OP_OWN)));
	keyspace_empty(store.keyspace, "{twin:00}:");
	op = keyspace_store_done(&store, ask_plain(DW_OP_LOSS));
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
	op = ask_plain(DW_OP_PURGE);
	op->next = ask_plain(DW_OP_DISOWN);
	store.store->type->submit(store.store, op);
	assert_int_equal(status_of(&store, DW_OP_DISOWN), DW_OK);
	store.store->type->submit(store.store, ask_plain(DW_OP_OWN));
	assert_int_equal(status_of(&store, DW_OP_OWN), DW_OK);
	keyspace_store_close(&store);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(client_lists_a_newer_timer_and_cannot_change_it),
	    CASE(owner_is_refused_where_the_mark_is),
	    CASE(owner_marks_every_shard_with_its_version),
	    CASE(standby_waits_where_the_mark_is),
	    CASE(owner_that_meets_a_newer_timer_marks_the_shard_and_gives_up),
	    CASE(owner_that_loads_a_newer_timer_gives_up),
	    CASE(owner_restores_lost_timers_before_it_gives_up),
	    CASE(owner_restores_its_put_in_place_of_an_older_newer_timer),
	    CASE(newer_letter_is_listed_and_stays),
	    CASE(purge_leaves_what_is_newer),
	    CASE(put_whose_refusal_was_lost_is_not_confirmed),
	    CASE(owner_gives_way_after_a_loss_of_the_server),
	};
	int failed;

	redis_server_start(&server, false, NULL);
	redis = redisConnectUnix(server.path);
	assert_non_null(redis);
	failed = cmocka_run_group_tests_name("newer_redis", tests, NULL, NULL);
	redisFree(redis);
	redis_server_end(&server);
	return failed;
}
