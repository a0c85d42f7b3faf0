/* A namespace in which a newer durawheel has stored timers: they are listed and left alone, and no
 * owner of this version owns it. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "store/redis/store.h"
#include "store/redis/value.h"
#include "script_model/store.h"
#include "support/ask.h"
#include "support/newer.h"
#include "support/redis_server.h"
#include "timer/record.h"

#define PATIENCE DW_SECONDS(60)
#define OF_LATER UINT64_C(4000000000000000) /* a version */

enum { LISTED_MAX = 8 };

static struct redis_server server;

struct seen {
	dw *d;
	int events[32];
	int statuses[32]; /* of the last event of a kind */
	int starts;
	int status; /* of the last answer */
	size_t count;
	dw_state states[LISTED_MAX];
	char topics[LISTED_MAX][DW_TOPIC_MAX + 1];
	int newer;
	uint64_t flaws;
	char message[DW_MESSAGE_SIZE];
};

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

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	((struct seen *)user)->starts++;
	return DW_DONE;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct seen *seen = user;

	(void)d;
	seen->events[event->kind]++;
	seen->statuses[event->kind] = event->status;
}

static void on_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	((struct seen *)user)->status = result->status;
}

static void on_page(dw *d, int status, const dw_info *infos, size_t count, const dw_cursor *next,
		    void *user)
{
	struct seen *seen = user;

	(void)d;
	(void)next;
	seen->status = status;
	seen->count = count;
	for (size_t i = 0; i < count && i < LISTED_MAX; i++) {
		seen->states[i] = infos[i].state;
		(void)snprintf(seen->topics[i], sizeof seen->topics[i], "%s", infos[i].topic);
	}
}

static void on_letters(dw *d, int status, const dw_dead *letters, size_t count,
		       const dw_cursor *next, void *user)
{
	struct seen *seen = user;

	(void)d;
	(void)next;
	assert_int_equal(status, DW_OK);
	seen->count = count;
	seen->newer = count > 0 && letters[0].newer && !letters[0].damaged;
}

static void on_check(dw *d, int status, const dw_check_report *report, void *user)
{
	struct seen *seen = user;

	(void)d;
	assert_int_equal(status, DW_OK);
	seen->flaws = report->flaw_count;
	if (report->flaws_shown > 0)
		(void)snprintf(seen->message, sizeof seen->message, "%s", report->flaws[0].what);
}

static int try_open(struct seen *seen, dw_role role)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .name = name,
			      .role = role,
			      .lease_us = DW_SECONDS(30),
			      .on_event = on_event,
			      .on_event_user = seen};

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	return dw_open(&seen->d, &options, seen->message);
}

static void open_as(struct seen *seen, dw_role role)
{
	if (try_open(seen, role) != DW_OK)
		fail_msg("%s", seen->message);
	if (role != DW_CLIENT)
		assert_int_equal(dw_on(seen->d, "*", on_due, seen), DW_OK);
}

static void end(struct seen *seen)
{
	assert_int_equal(dw_close(seen->d, PATIENCE), DW_OK);
}

static void await(const struct seen *seen, const int *counter, int wanted)
{
	struct pollfd fd = {.fd = dw_fd(seen->d), .events = POLLIN};

	for (int i = 0; *counter < wanted; i++) {
		assert_true(i < 1000000);
		assert_true(poll(&fd, 1, (int)(PATIENCE / 1000)) > 0);
		assert_int_equal(dw_turn(seen->d), DW_OK);
	}
}

static int answer_of(const struct seen *seen, int status)
{
	assert_int_equal(status, DW_OK);
	assert_int_equal(dw_sync(seen->d, PATIENCE), DW_OK);
	return seen->status;
}

static void sync_all(const struct seen *seen, int status)
{
	assert_int_equal(status, DW_OK);
	assert_int_equal(dw_sync(seen->d, PATIENCE), DW_OK);
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
	(void)command("PUBLISH {%s}:wake %u", name, shard);
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
	struct seen seen = {0};

	open_as(&seen, DW_OWNER);
	sync_all(&seen, dw_after(seen.d, "t", "mine", DW_HOURS(1), NULL, 0));
	end(&seen);
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
	struct seen seen = {0};
	dw_timer timer = {.size = sizeof timer, .id = "it", .topic = "t", .flags = DW_NEW};

	(void)state;
	make();
	plant_value("it");
	(void)command("HSET {%s:%02u}:m format 2", name, shard_of("it"));
	open_as(&seen, DW_CLIENT);
	assert_int_equal(answer_of(&seen, dw_list(seen.d, "later", NULL, 8, on_page, &seen)),
			 DW_OK);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.states[0], DW_NEWER);
	assert_string_equal(seen.topics[0], "later");
	assert_int_equal(answer_of(&seen, dw_list(seen.d, NULL, NULL, 8, on_page, &seen)), DW_OK);
	assert_int_equal(seen.count, 2);
	assert_int_equal(answer_of(&seen, dw_get(seen.d, "it", on_page, &seen)), DW_OK);
	assert_int_equal(seen.states[0], DW_NEWER);
	assert_int_equal(answer_of(&seen, dw_put(seen.d, &timer, on_done, &seen)), DW_EEXIST);
	timer.flags = 0;
	assert_int_equal(answer_of(&seen, dw_put(seen.d, &timer, on_done, &seen)), DW_ENEWER);
	assert_int_equal(answer_of(&seen, dw_cancel(seen.d, "it", on_done, &seen)), DW_ENEWER);
	assert_int_equal(answer_of(&seen, dw_move(seen.d, "it", 7, on_done, &seen)), DW_ENEWER);
	sync_all(&seen, dw_check(seen.d, on_check, &seen));
	assert_int_equal(seen.flaws, 1);
	assert_non_null(strstr(seen.message, "newer durawheel"));
	assert_int_equal(seen.events[DW_EVENT_CORRUPT] + seen.events[DW_EVENT_STORE_FAILED], 0);
	/* What is its own it may change. */
	assert_int_equal(answer_of(&seen, dw_cancel(seen.d, "mine", on_done, &seen)), DW_OK);
	end(&seen);
	assert_untouched("it");
}

static void owner_is_refused_where_the_mark_is(void **state)
{
	struct seen seen = {0};

	(void)state;
	make();
	(void)command("HSET {%s:11}:m format 2", name);
	assert_int_equal(try_open(&seen, DW_OWNER), DW_ENEWER);
	assert_non_null(strstr(seen.message, "newer durawheel"));
	(void)command("HSET {%s:11}:m format 1", name);
	open_as(&seen, DW_OWNER);
	end(&seen);
}

static void standby_waits_where_the_mark_is(void **state)
{
	struct seen seen = {0};

	(void)state;
	make();
	(void)command("HSET {%s:11}:m format 2", name);
	open_as(&seen, DW_STANDBY);
	await(&seen, &seen.events[DW_EVENT_NEWER], 1);
	assert_int_equal(seen.statuses[DW_EVENT_NEWER], DW_ENEWER);
	(void)command("HDEL {%s:11}:m format", name);
	await(&seen, &seen.events[DW_EVENT_OWNER], 1);
	assert_int_equal(seen.events[DW_EVENT_NEWER], 1);
	end(&seen);
}

/* It is met at work, in the inbox, over a timer that the owner knows. */
static void owner_that_meets_a_newer_timer_marks_the_shard_and_gives_up(void **state)
{
	struct seen seen = {0};
	struct seen other = {0};

	(void)state;
	open_as(&seen, DW_OWNER);
	sync_all(&seen, dw_after(seen.d, "t", "it", DW_HOURS(1), NULL, 0));
	plant_value("it");
	await(&seen, &seen.events[DW_EVENT_OWNER_LOST], 1);
	assert_int_equal(seen.events[DW_EVENT_NEWER], 1);
	assert_int_equal(seen.statuses[DW_EVENT_OWNER_LOST], DW_ENEWER);
	sync_all(&seen, dw_after(seen.d, "t", "mine", 0, NULL, 0));
	assert_int_equal(command("HGET {%s:%02u}:m format", name, shard_of("it")), 2);
	assert_int_equal(try_open(&other, DW_OWNER), DW_ENEWER);
	assert_untouched("it");
	take_away("it");
	await(&seen, &seen.starts, 1); /* "mine" */
	assert_int_equal(seen.events[DW_EVENT_OWNER], 1);
	assert_int_equal(seen.events[DW_EVENT_NEWER], 1);
	assert_int_equal(seen.events[DW_EVENT_CORRUPT] + seen.events[DW_EVENT_DEAD], 0);
	end(&seen);
}

/* A deploy was rolled back, and nothing but the timer tells: it is met by the scan. */
static void owner_that_loads_a_newer_timer_gives_up(void **state)
{
	struct seen seen = {0};

	(void)state;
	make();
	plant_value("it");
	(void)command("DEL {%s:%02u}:i", name, shard_of("it"));
	open_as(&seen, DW_OWNER);
	await(&seen, &seen.events[DW_EVENT_OWNER_LOST], 1);
	assert_int_equal(seen.events[DW_EVENT_NEWER], 1);
	end(&seen);
	assert_int_equal(try_open(&seen, DW_OWNER), DW_ENEWER);
	assert_untouched("it");
}

static void newer_letter_is_listed_and_stays(void **state)
{
	struct seen seen = {0};
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
	(void)command("HSET {%s:%02u}:m format 2", name, shard);
	open_as(&seen, DW_CLIENT);
	for (int i = 0; i < 2; i++) {
		sync_all(&seen, dw_dead_list(seen.d, "later", NULL, 8, on_letters, &seen));
		assert_int_equal(seen.count, 1);
		assert_int_equal(seen.newer, 1);
		assert_int_equal(
		    answer_of(&seen, dw_dead_requeue(seen.d, "it", 0, 5, on_done, &seen)),
		    DW_ENEWER);
		assert_int_equal(answer_of(&seen, dw_dead_drop(seen.d, "it", 0, on_done, &seen)),
				 DW_ENEWER);
		assert_int_equal(
		    answer_of(&seen, dw_dead_drop(seen.d, "it", OF_LATER, on_done, &seen)),
		    DW_ENEWER);
		assert_int_equal(answer_of(&seen, dw_dead_drop(seen.d, NULL, 0, on_done, &seen)),
				 DW_ENEWER);
	}
	end(&seen);
}

static void purge_leaves_what_is_newer(void **state)
{
	struct seen seen = {0};

	(void)state;
	open_as(&seen, DW_OWNER);
	(void)command("HSET {%s:%02u}:m format 2", name, shard_of("it"));
	sync_all(&seen, dw_after(seen.d, "t", "it", DW_HOURS(1), NULL, 0));
	assert_int_equal(answer_of(&seen, dw_purge(seen.d, on_done, &seen)), DW_ENEWER);
	assert_int_equal(command("HLEN {%s:%02u}:h", name, shard_of("it")), 1);
	end(&seen);
}

/* ---- The store ----------------------------------------------------------------------------- */

struct cut {
	struct model_store store; /* first */
	int puts;                 /* that the server carried out */
};

static struct reply *count_puts(struct model_store *store, const char *script, struct reply *reply)
{
	((struct cut *)store)->puts += strcmp(script, "put") == 0;
	return reply;
}

/* store_newer: under the header of the timer that is stored. */
static void store_newer(struct model_store *store, const char *id)
{
	unsigned char value[NEWER_VALUE_MAX];
	const char *words[] = {"HSET", "{model:00}:h", id, (const char *)value};
	size_t sizes[] = {4, 12, strlen(id), 0};
	dw_head head;
	size_t size;

	assert_true(
	    value_head(model_value(store->model, words[1], id, &size), VALUE_HEAD_SIZE, &head));
	sizes[3] = newer_value(&head, id, "later", value);
	reply_free(model_call(store->model, 4, words, sizes));
}

/* status_of the answer of this kind; all that are given until then are freed. */
static int status_of(struct model_store *store, dw_op_kind kind)
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
		model_store_turn(store); /* the test has its time limit */
	}
	return status;
}

/* The session says that the put was carried out, and not that it was refused. */
static void put_whose_refusal_was_lost_is_not_confirmed(void **state)
{
	struct cut cut = {.store.delay = DW_MILLISECONDS(50), .store.change = count_puts};

	(void)state;
	model_store_open(&cut.store);
	ask_free(model_store_done(&cut.store, ask_put("it", DW_HOURS(1), 0)));
	store_newer(&cut.store, "it");
	cut.store.store->type->submit(cut.store.store, ask_put("it", DW_HOURS(2), 0));
	while (cut.puts == 1)
		model_store_turn(&cut.store);
	link_drop(&cut.store.link, "a test");
	assert_int_equal(status_of(&cut.store, DW_OP_PUT), DW_EUNKNOWN);
	model_store_close(&cut.store);
}

/* Its engine restores nothing any more, and the purge before waits for that. */
static void owner_gives_way_after_a_loss_of_the_server(void **state)
{
	struct model_store store = {0};
	dw_op *op;

	(void)state;
	model_store_open(&store);
	ask_free(model_store_done(&store, ask_plain(DW_OP_OWN)));
	model_empty(store.model, "{model:00}:");
	op = model_store_done(&store, ask_plain(DW_OP_LOSS));
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
	op = ask_plain(DW_OP_PURGE);
	op->next = ask_plain(DW_OP_DISOWN);
	store.store->type->submit(store.store, op);
	assert_int_equal(status_of(&store, DW_OP_DISOWN), DW_OK);
	store.store->type->submit(store.store, ask_plain(DW_OP_OWN));
	assert_int_equal(status_of(&store, DW_OP_OWN), DW_OK);
	model_store_close(&store);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(client_lists_a_newer_timer_and_cannot_change_it),
	    CASE(owner_is_refused_where_the_mark_is),
	    CASE(standby_waits_where_the_mark_is),
	    CASE(owner_that_meets_a_newer_timer_marks_the_shard_and_gives_up),
	    CASE(owner_that_loads_a_newer_timer_gives_up),
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
