/* A shard with a key of another program is cut off: its timers wait, all others fire. */
#include "support/cmocka.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "durawheel/topic.h"
#include "keyspace/store.h"
#include "store/redis/store.h"
#include "support/ask.h"
#include "support/sharded.h"

static struct redis_server server;
static redisContext *redis;
static unsigned spaces;
static char name[16];

/* command with a shard's key in the place of each %s. */
static void command(const char *format, unsigned shard, const char *end)
{
	char key[32];
	redisReply *reply;

	(void)snprintf(key, sizeof key, "{%s:%02u}:%s", name, shard, end);
	reply = redisCommand(redis, format, key, key);
	assert_non_null(reply);
	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s", reply->str);
	freeReplyObject(reply);
}

/* plant a key of another program, and keep ours. give_back it. Without the transaction the key
 * would be absent for a moment, and the shard lost. */
static void plant(unsigned shard, const char *end)
{
	command("MULTI", shard, end);
	command("RENAME %s ours-%s", shard, end);
	command("SET %s oops", shard, end);
	command("EXEC", shard, end);
}

static void give_back(unsigned shard, const char *end)
{
	command("RENAME ours-%s %s", shard, end);
}

static int is_recovering(const struct viewer *viewer)
{
	dw_stats stats = {.size = sizeof stats};

	assert_int_equal(dw_get_stats(viewer->d, &stats), DW_OK);
	return stats.recovering;
}

/* await_cut_off: the shard is, and the program was told once. */
static void await_cut_off(const struct viewer *viewer, unsigned shard, const char *end)
{
	char key[32];

	viewer_await(viewer, &viewer->events[DW_EVENT_SHARD_FAILED], 1);
	(void)snprintf(key, sizeof key, "{%s:%02u}:%s", name, shard, end);
	assert_non_null(strstr(viewer->trouble, key));
	assert_int_equal(viewer->statuses[DW_EVENT_SHARD_FAILED], DW_ESTORE);
}

static void keep_topic(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	dw_topic_info *found = user;

	(void)d;
	if (status == DW_OK && count > 0)
		*found = topics[0];
}

/* await_recovered waits for the last scan. A second one may follow the first. */
static void await_recovered(const struct viewer *viewer)
{
	dw_topic_info found;

	while (is_recovering(viewer))
		viewer_sync(viewer, dw_topic_list(viewer->d, "t", keep_topic, &found));
}

/* assert_waiting: so many timers of topic "t" are due and wait for their shard. */
static void assert_waiting(const struct viewer *viewer, uint64_t due)
{
	dw_topic_info found = {0};

	viewer_sync(viewer, dw_topic_list(viewer->d, "t", keep_topic, &found));
	assert_int_equal(found.due, due);
	assert_int_equal(found.waits, due > 0 ? DW_WAITS_STORE : DW_WAITS_NOT);
}

static void assert_no_other_trouble(const struct viewer *viewer)
{
	assert_int_equal(viewer->events[DW_EVENT_SHARD_FAILED], 1);
	assert_int_equal(viewer->events[DW_EVENT_STORE_FAILED], 0);
	assert_int_equal(viewer->events[DW_EVENT_OWNER_LOST], 0);
}

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(name, sizeof name, "n%u", ++spaces);
	return 0;
}

/* ---- A living owner ------------------------------------------------------------------------ */

/* Of the shard that is cut off nothing fires, far beyond the lease; all others go on. */
static void only_its_timers_wait(const char *end, unsigned shard)
{
	struct viewer viewer = {0};

	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	plant(shard, end);
	await_cut_off(&viewer, shard, end);
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	assert_true(is_recovering(&viewer));
	(void)sharded_outlast_lease(&viewer, (shard + 1) % SHARDS);
	assert_no_other_trouble(&viewer);
	assert_waiting(&viewer, EACH);
	give_back(shard, end);
	viewer_await(&viewer, &viewer.starts, TIMERS + OUTLAST_TIMERS);
	viewer_await(&viewer, &viewer.events[DW_EVENT_RECOVERED], 2);
	assert_int_equal(viewer.events[DW_EVENT_SHARD_BACK], 1);
	assert_no_other_trouble(&viewer);
	await_recovered(&viewer);
	viewer_sync(&viewer, DW_OK);
	assert_int_equal(viewer.starts, TIMERS + OUTLAST_TIMERS);
	assert_waiting(&viewer, 0);
	viewer_close(&viewer);
}

static void timers_of_all_other_shards_fire(void **state)
{
	(void)state;
	only_its_timers_wait("m", 7);
}

static void shard_without_its_order_is_cut_off(void **state)
{
	(void)state;
	only_its_timers_wait("z", 3);
}

static void owner_goes_on_without_the_arbiter(void **state)
{
	(void)state;
	only_its_timers_wait("m", 0);
}

static void calls_on_it_fail_at_once(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_HOURS(1));
	plant(7, "m");
	assert_int_equal(sharded_put(&viewer, 7, 90), DW_ESTORE);
	await_cut_off(&viewer, 7, "m");
	assert_int_equal(
	    viewer_answer(&viewer, dw_cancel(viewer.d, sharded_id(7, 0), viewer_done, &viewer)),
	    DW_ESTORE);
	for (int i = 0; i < 300;
	     i++) /* at once: with the store's patience this would take 20 minutes */
		assert_int_equal(sharded_put(&viewer, 7, 90), DW_ESTORE);
	assert_int_equal(sharded_put(&viewer, 8, 90), DW_OK);
	assert_int_equal(viewer_answer(&viewer, dw_purge(viewer.d, viewer_done, &viewer)),
			 DW_ESTORE);
	assert_no_other_trouble(&viewer);
	give_back(7, "m");
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_BACK], 1);
	assert_int_equal(
	    viewer_answer(&viewer, dw_cancel(viewer.d, sharded_id(7, 0), viewer_done, &viewer)),
	    DW_OK);
	assert_int_equal(sharded_put(&viewer, 7, 90), DW_OK);
	viewer_close(&viewer);
}

struct listed {
	int status;
	size_t count;
	int lacks;
};

static void listed(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		   void *user)
{
	struct listed *page = user;

	(void)d;
	(void)timers;
	*page = (struct listed){status, count, next && next->lacks};
}

static struct listed list(const struct viewer *viewer, int partial)
{
	const dw_select select = {.size = sizeof select, .partial = partial};
	struct listed page = {0};

	viewer_sync(viewer, dw_list(viewer->d, &select, NULL, DW_LIST_MAX, listed, &page));
	return page;
}

static void partial_list_has_all_other_shards(void **state)
{
	struct viewer viewer = {0};
	struct listed page;

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_HOURS(1));
	page = list(&viewer, 1);
	assert_int_equal(page.count, TIMERS);
	assert_false(page.lacks);
	plant(7, "m");
	await_cut_off(&viewer, 7, "m");
	assert_int_equal(list(&viewer, 0).status, DW_ESTORE);
	page = list(&viewer, 1);
	assert_int_equal(page.status, DW_OK);
	assert_int_equal(page.count, TIMERS - EACH);
	assert_true(page.lacks);
	give_back(7, "m");
	viewer_await(&viewer, &viewer.events[DW_EVENT_SHARD_BACK], 1);
	page = list(&viewer, 1);
	assert_int_equal(page.count, TIMERS);
	assert_false(page.lacks);
	viewer_close(&viewer);
}

/* The operator deletes the key. So what the shard was is lost, and memory has its timers. */
static void timers_are_written_again_if_the_key_is_deleted(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	plant(7, "m");
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	(void)sharded_outlast_lease(&viewer, 8);
	command("DEL %s", 7, "m");
	viewer_await(&viewer, &viewer.starts, TIMERS + OUTLAST_TIMERS);
	assert_int_equal(viewer.events[DW_EVENT_SHARD_BACK], 1);
	assert_no_other_trouble(&viewer);
	viewer_close(&viewer);
}

static void owner_closes_meanwhile(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	plant(7, "m");
	await_cut_off(&viewer, 7, "m");
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	(void)sharded_outlast_lease(&viewer, 8);
	viewer_close(&viewer);
	give_back(7, "m");
	sharded_open(&viewer, &server, name);
	viewer_await(&viewer, &viewer.starts, TIMERS + OUTLAST_TIMERS);
	viewer_close(&viewer);
}

/* ---- A new owner --------------------------------------------------------------------------- */

static void new_owner_loads_all_others(void **state)
{
	struct viewer viewer = {0};

	(void)state;
	sharded_open(&viewer, &server, name);
	sharded_put_all(&viewer, DW_SECONDS(1));
	viewer_close(&viewer);
	viewer = (struct viewer){0};
	plant(7, "m");
	sharded_open(&viewer, &server, name);
	viewer_await(&viewer, &viewer.events[DW_EVENT_RECOVERED], 1);
	await_cut_off(&viewer, 7, "m");
	assert_true(is_recovering(&viewer));
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH);
	assert_no_other_trouble(&viewer);
	command("CLIENT KILL TYPE normal SKIPME yes", 7, "m");
	assert_int_equal(sharded_put(&viewer, 8, 90), DW_OK);
	viewer_await(&viewer, &viewer.starts, TIMERS - EACH + 1);
	give_back(7, "m");
	viewer_await(&viewer, &viewer.starts, TIMERS + 1);
	viewer_await(&viewer, &viewer.events[DW_EVENT_RECOVERED], 2);
	await_recovered(&viewer);
	assert_int_equal(viewer.events[DW_EVENT_SHARD_BACK], 1);
	viewer_close(&viewer);
}

/* ---- The store ----------------------------------------------------------------------------- */

struct refusing {
	struct keyspace_store store; /* first */
	unsigned shards;             /* a bit for each shard that the server refuses */
	bool refuses_renewals;       /* of the first shard */
};

static struct reply *refuse(struct keyspace_store *store, const char *script, struct reply *reply)
{
	static const char words[] = "NOPERM No permissions to access a key";
	const struct refusing *refusing = (struct refusing *)store;
	struct reply *error;
	unsigned shard;

	if (!store->key || sscanf(store->key, "{twin:%2u}", &shard) != 1)
		return reply;
	if (!(refusing->shards & 1u << shard) &&
	    !(refusing->refuses_renewals && shard == 0 && strcmp(script, "renew") == 0))
		return reply;
	reply_free(reply);
	error = reply_new(&store->alloc);
	assert_true(reply_bytes(error, error, REPLY_ERROR, words, strlen(words)));
	return error;
}

static void put_in(struct keyspace_store *store, unsigned shard)
{
	char id[16];
	unsigned i = 0;

	do
		(void)snprintf(id, sizeof id, "t%u", i++);
	while (crc16_of(id) % 3 != shard);
	store->store->type->submit(store->store, ask_put(id, DW_HOURS(1), 0));
}

/* take_turn takes what an engine takes in a turn, in its order. Returns how many were answered. */
static unsigned take_turn(struct keyspace_store *store, bool *told)
{
	const dw_store_class *type = store->store->type;
	dw_shard_news news;
	unsigned count = 0;

	keyspace_store_turn(store);
	while (type->take_shard(store->store, &news))
		told[news.number] = told[news.number] || news.state == DW_SHARD_REFUSED;
	for (dw_op *op = type->collect(store->store), *next; op; op = next, count++) {
		next = op->next;
		assert_int_equal(op->status, DW_ESTORE);
		assert_true(told[crc16_of(op->id) % 3]);
		ask_free(op);
	}
	return count;
}

/* A command of the second shard is refused in the turn in which the first one is found out. It
 * makes the store look again. */
static void engine_is_told_before_operations_are_answered(void **state)
{
	struct refusing refusing = {
	    .store.shards = 3, .store.delay = DW_MILLISECONDS(50), .store.change = refuse};
	struct keyspace_store *store = &refusing.store;
	bool told[3] = {false};
	unsigned given, answered = 0;

	(void)state;
	keyspace_store_open(store);
	ask_free(keyspace_store_done(store, ask_plain(DW_OP_OWN)));
	refusing.shards = 3;
	given = store->given;
	put_in(store, 0);
	while (store->given < given + 4) /* the put, and the looks at all shards, are sent */
		answered += take_turn(store, told);
	put_in(store, 1);
	for (int i = 0; i < 1000 && answered < 2; i++)
		answered += take_turn(store, told);
	assert_int_equal(answered, 2);
	keyspace_store_close(store);
}

/* hears_refused turns the store, and returns true if it reports that a shard is refused. */
static bool hears_refused(struct keyspace_store *store)
{
	const dw_store_class *type = store->store->type;
	dw_shard_news news;
	bool hears = false;

	keyspace_store_turn(store);
	while (type->take_shard(store->store, &news))
		hears |= news.state == DW_SHARD_REFUSED;
	for (dw_op *op = type->collect(store->store), *next; op; op = next) {
		next = op->next;
		ask_free(op);
	}
	return hears;
}

/* begin_refused opens the store. Then the server refuses the first shard. */
static void begin_refused(struct refusing *refusing)
{
	struct keyspace_store *store = &refusing->store;

	keyspace_store_open(store);
	ask_free(keyspace_store_done(store, ask_plain(DW_OP_OWN)));
	refusing->shards = 1;
	put_in(store, 0);
	while (!hears_refused(store))
		;
}

/* The store looks at the shards at different times, because they were refused one after another. */
static void shards_that_come_back_one_by_one_are_one_outage(void **state)
{
	struct refusing refusing = {.store.shards = 3, .store.change = refuse};
	struct keyspace_store *store = &refusing.store;
	char words[DW_MESSAGE_SIZE];

	(void)state;
	begin_refused(&refusing);
	for (int i = 0; i < 30; i++)
		assert_false(hears_refused(store));
	refusing.shards = 7;
	put_in(store, 1);
	while (store->store->type->trouble(store->store, words, sizeof words) != DW_ESTORE)
		assert_false(hears_refused(store));
	refusing.shards = 0;
	store->delay = DW_MILLISECONDS(50);
	for (int i = 0; i < 300; i++)
		assert_false(hears_refused(store));
	for (unsigned i = 0; i < 3; i++)
		assert_true(store->store->type->lease(store->store, i) > store->now);
	keyspace_store_close(store);
}

/* turns_until_refused returns how many turns pass until the store reports that the second shard is
 * refused. */
static unsigned turns_until_refused(struct refusing *refusing)
{
	unsigned turns = 1;

	refusing->shards = 2;
	put_in(&refusing->store, 1);
	while (!hears_refused(&refusing->store) && turns < 1000)
		turns++;
	return turns;
}

static void lost_shard_holds_no_news_up(void **state)
{
	struct refusing refusing = {.store.shards = 3, .store.change = refuse};
	struct keyspace_store *store = &refusing.store;

	(void)state;
	begin_refused(&refusing);
	keyspace_store_command(
	    store, (const char *const[]){"HSET", "{twin:00}:m", "fence", "9007199254740000", NULL});
	keyspace_store_command(
	    store, (const char *const[]){"SET", "{twin:00}:l", "9007199254740000:next:1", NULL});
	refusing.shards = 0;
	for (int i = 0; i < 120; i++) /* it looks each second */
		assert_false(hears_refused(store));
	assert_in_range(turns_until_refused(&refusing), 1, 10);
	keyspace_store_close(store);
}

/* The user may run types.lua and not renew.lua. */
static void refused_renewal_holds_no_news_up(void **state)
{
	struct refusing refusing = {.store.shards = 3, .store.change = refuse};
	struct keyspace_store *store = &refusing.store;
	unsigned given;

	(void)state;
	begin_refused(&refusing);
	refusing.refuses_renewals = true;
	refusing.shards = 0;
	given = store->given;
	for (int i = 0; i < 500; i++)
		(void)hears_refused(store);
	assert_in_range(store->given - given, 1, 50); /* in 5 s */
	assert_in_range(turns_until_refused(&refusing), 1, 10);
	keyspace_store_close(store);
}

#define CASE(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(timers_of_all_other_shards_fire),
	    CASE(shard_without_its_order_is_cut_off),
	    CASE(owner_goes_on_without_the_arbiter),
	    CASE(calls_on_it_fail_at_once),
	    CASE(partial_list_has_all_other_shards),
	    CASE(timers_are_written_again_if_the_key_is_deleted),
	    CASE(owner_closes_meanwhile),
	    CASE(new_owner_loads_all_others),
	    CASE(engine_is_told_before_operations_are_answered),
	    CASE(shards_that_come_back_one_by_one_are_one_outage),
	    CASE(lost_shard_holds_no_news_up),
	    CASE(refused_renewal_holds_no_news_up),
	};
	int failed;

	redis_server_start(&server, false, NULL);
	redis = redisConnectUnix(server.path);
	assert_non_null(redis);
	failed = cmocka_run_group_tests_name("redis_cut_off", tests, NULL, NULL);
	redisFree(redis);
	redis_server_end(&server);
	return failed;
}
