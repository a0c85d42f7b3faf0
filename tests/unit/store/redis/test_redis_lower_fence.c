/* Whose lease is it? A store on a keyspace owns a shard, and finds another lease or
 * fence there. A higher fence of the same era is a successor. A lower one was given before ours, so
 * the server was set back: it is replaced, but only while our own lease holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keyspace/store.h"
#include "store/identity.h"
#include "store/redis/core.h"
#include "support/ask.h"
#include "support/cmocka.h"

#define L "{twin:00}:l"
#define M "{twin:00}:m"
#define FORMER "7:former:1" /* the token of an earlier owner */
#define HOLDER "host, pid 1|host 1"

struct scene {
	struct keyspace_store store; /* first */
	char own[96];                /* our token when the shard was set back */
	bool meddles;                /* a third owner comes before our next acquisition */
	unsigned acquisitions;
};

#define SAY(scene, ...)                                                                            \
	keyspace_store_command(&(scene)->store, (const char *const[]){__VA_ARGS__, NULL})

/* held: the token of the lease; "": there is none. */
static const char *held(struct scene *scene)
{
	static char token[96];
	size_t size = 0;
	const char *found;

	keyspace_set_time(scene->store.keyspace, scene->store.now);
	found = keyspace_string(scene->store.keyspace, L, &size);
	(void)snprintf(token, sizeof token, "%.*s", (int)size, found ? found : "");
	return token;
}

static uint64_t fence(const char *token)
{
	return strtoull(token, NULL, 10);
}

static bool is_owner(const struct scene *scene)
{
	const dw_store *store = scene->store.store;

	return store->type->lease(store, 0) > scene->store.now;
}

/* set_back: the shard is as an earlier owner had it. lease: its token, or NULL: it has ended. */
static void set_back(struct scene *scene, const char *number, const char *lease)
{
	SAY(scene, "HSET", M, "fence", number);
	SAY(scene, "HSET", M, "holder", HOLDER);
	SAY(scene, "HSET", M, "asked", "other.1");
	SAY(scene, "HSET", M, "mark", "0");
	SAY(scene, "DEL", L);
	if (lease)
		SAY(scene, "SET", L, lease, "PX", "300000");
}

/* meddle: a third owner has taken the shard when our acquisition arrives there. */
static struct reply *meddle(struct keyspace_store *store, const char *script, struct reply *reply)
{
	struct scene *scene = (struct scene *)store;

	scene->acquisitions += strcmp(script, "acquire") == 0;
	if (scene->meddles && strcmp(script, "renew") == 0 && reply_is(&reply->items[0], "HELD")) {
		scene->meddles = false;
		set_back(scene, "9", "9:third:1");
	}
	return reply;
}

static int begin(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);
	dw_op *op;

	assert_non_null(scene);
	scene->store.change = meddle;
	keyspace_store_open(&scene->store);
	op = keyspace_store_done(&scene->store, ask_plain(DW_OP_OWN));
	assert_non_null(op);
	assert_int_equal(op->status, DW_OK);
	ask_free(op);
	(void)snprintf(scene->own, sizeof scene->own, "%s", held(scene));
	assert_true(fence(scene->own) > 9);
	scene->store.store->type->submit(scene->store.store, ask_plain(DW_OP_LOSS));
	scene->acquisitions = 0;
	*state = scene;
	return 0;
}

static int end(void **state)
{
	struct scene *scene = *state;

	keyspace_store_close(&scene->store);
	free(scene);
	return 0;
}

/* expect_replaced: the store has the shard again, with a fence above all others. */
static void expect_replaced(struct scene *scene)
{
	assert_true(is_owner(scene));
	assert_non_null(strstr(held(scene), ":0000000000000001:"));
	assert_true(fence(held(scene)) > fence(scene->own));
}

static void expect_lost(const struct scene *scene)
{
	assert_int_equal(scene->store.store->type->lease(scene->store.store, 0), INT64_MIN);
}

static void lower_fence_with_a_lease_is_replaced(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "7", FORMER);
	keyspace_store_wait(&scene->store, DW_SECONDS(2)); /* of its lease of 5 s */
	expect_replaced(scene);
	assert_in_range(scene->acquisitions, 1, 2);
}

static void lower_fence_is_replaced_on_a_new_connection(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "7", FORMER);
	link_drop(&scene->store.link, "a test");
	keyspace_store_wait(&scene->store, DW_MILLISECONDS(200)); /* before any renewal is due */
	expect_replaced(scene);
}

static void lower_fence_without_a_lease_is_replaced(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "7", NULL);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_replaced(scene);
}

static void lower_fence_is_replaced_twice(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "7", FORMER);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_replaced(scene);
	(void)snprintf(scene->own, sizeof scene->own, "%s", held(scene));
	set_back(scene, "8", "8:former:2");
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_replaced(scene);
}

/* The server's clock is behind, so a third owner has acquired the shard below our fence. */
static void lower_fence_that_came_later_is_replaced(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "7", FORMER);
	scene->meddles = true;
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	assert_false(scene->meddles);
	expect_replaced(scene);
	assert_in_range(scene->acquisitions, 2, 3); /* the first one had named the other lease */
}

static void equal_fence_of_another_is_replaced(void **state)
{
	struct scene *scene = *state;
	char number[32];
	char token[64];

	(void)snprintf(number, sizeof number, "%" PRIu64, fence(scene->own));
	(void)snprintf(token, sizeof token, "%s:other:1", number);
	set_back(scene, number, token);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_replaced(scene);
}

static void higher_fence_is_a_successor(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "9007199254740000", "9007199254740000:next:1");
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_lost(scene);
	assert_string_equal(held(scene), "9007199254740000:next:1");
}

static void higher_fence_without_a_lease_is_a_successor(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "9007199254740000", NULL);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_lost(scene);
}

/* Nobody knows who has started timers since our lease is over. */
static void lower_fence_is_not_replaced_after_our_lease(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "7", FORMER);
	scene->store.now += DW_SECONDS(6); /* the process stood still */
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_lost(scene);
	assert_string_equal(held(scene), FORMER);
}

/* replace_server: the server is replaced, and then our lease ends. */
static void replace_server(struct scene *scene)
{
	struct redis_store *store = (struct redis_store *)(void *)scene->store.store;
	struct nomination named = {.server = "old 1", .until = DW_NEVER, .length = DW_NEVER};

	node_name(store, &store->node, &named);
	named.server[0] = 'n';
	node_name(store, &store->node, &named);
	scene->store.now += DW_SECONDS(6);
}

static void owner_on_the_new_server_is_a_successor(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "9007199254740000", NULL); /* it has released the shard */
	SAY(scene, "HSET", M, "era", "next.1");
	replace_server(scene);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_lost(scene);
	assert_string_equal(held(scene), "");
}

static void dead_owner_on_the_new_server_is_a_successor(void **state)
{
	struct scene *scene = *state;
	struct identity gone = identity_of_process();
	char holder[160];

	gone.start++; /* another process had the pid */
	(void)snprintf(holder, sizeof holder, "host|%s %" PRId64 " %" PRId64 " %" PRId64, gone.boot,
		       gone.pid_space, gone.pid, gone.start);
	set_back(scene, "9007199254740000", "9007199254740000:next:1");
	SAY(scene, "HSET", M, "holder", holder);
	SAY(scene, "HSET", M, "era", "next.1");
	replace_server(scene);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_lost(scene);
}

/* The new server has nothing of the shard. Our acquisition there is done, its reply is lost, and
 * that lease ends, too. */
static void own_acquisition_on_the_new_server_is_no_successor(void **state)
{
	struct scene *scene = *state;

	SAY(scene, "DEL", L);
	SAY(scene, "DEL", M);
	replace_server(scene);
	scene->store.delay = DW_MILLISECONDS(50);
	link_drop(&scene->store.link, "a test");
	for (int i = 0; i < 400 && scene->acquisitions == 0; i++)
		keyspace_store_turn(&scene->store);
	assert_int_equal(scene->acquisitions, 1);
	link_drop(&scene->store.link, "a test");
	scene->store.delay = 0;
	scene->store.now += DW_SECONDS(6);
	assert_string_equal(held(scene), "");
	keyspace_store_wait(&scene->store, DW_SECONDS(3));
	expect_replaced(scene);
}

/* The new server shows an earlier owner. So nobody has had the shard there since. */
static void earlier_owner_on_the_new_server_is_replaced(void **state)
{
	struct scene *scene = *state;

	set_back(scene, "7", NULL);
	replace_server(scene);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_replaced(scene);
}

/* Timers that were claimed before the loss must not start until they are written again. */
static void nothing_starts_until_the_shard_is_written_again(void **state)
{
	struct scene *scene = *state;
	const dw_store *store = scene->store.store;

	scene->store.delay = DW_MILLISECONDS(100);
	set_back(scene, "7", FORMER);
	link_drop(&scene->store.link, "a test");
	for (int i = 0; i < 100 && scene->acquisitions == 0; i++) {
		assert_true(store->type->lease(store, 0) > scene->store.now);
		keyspace_store_turn(&scene->store);
	}
	assert_int_equal(scene->acquisitions, 1); /* its reply is on its way */
	assert_int_equal(store->type->lease(store, 0), 0);
	keyspace_store_wait(&scene->store, DW_SECONDS(2));
	expect_replaced(scene);
	assert_true(store->type->lease(store, 0) > scene->store.now);
}

/* own: the status of an OWN that is submitted now. */
static int own(struct scene *scene)
{
	dw_op *op = keyspace_store_done(&scene->store, ask_plain(DW_OP_OWN));
	int status = op->status;

	ask_free(op);
	return status;
}

static void copy_asked(struct scene *scene, char *ret_asked, size_t size)
{
	size_t found_size = 0;
	const char *found = keyspace_value(scene->store.keyspace, M, "asked", &found_size);

	assert_non_null(found);
	(void)snprintf(ret_asked, size, "%.*s", (int)found_size, found);
}

/* The server is set back to when this store was the owner, long before another one was. */
static void own_earlier_lease_proves_nothing(void **state)
{
	struct scene *scene = *state;
	char number[32];
	char asked[64];

	copy_asked(scene, asked, sizeof asked);
	higher_fence_is_a_successor(state);
	(void)snprintf(number, sizeof number, "%" PRIu64, fence(scene->own));
	set_back(scene, number, scene->own);
	SAY(scene, "HSET", M, "asked", asked);
	assert_int_equal(own(scene), DW_EOWNED);
	SAY(scene, "DEL", L);
	assert_int_equal(own(scene), DW_OK);
}

/* lose_acquisition: an OWN whose acquisition is done, and whose reply is lost. */
static void lose_acquisition(struct scene *scene)
{
	dw_store *store = scene->store.store;

	scene->acquisitions = 0;
	scene->store.delay = DW_SECONDS(1);
	store->type->submit(store, ask_plain(DW_OP_OWN));
	for (int i = 0; i < 100 && scene->acquisitions == 0; i++)
		keyspace_store_turn(&scene->store);
	assert_int_equal(scene->acquisitions, 1);
	scene->store.delay = 0;
	link_drop(&scene->store.link, "a test");
	keyspace_store_turn(&scene->store);
	for (dw_op *op = store->type->collect(store); op;) {
		dw_op *next = op->next;

		ask_free(op);
		op = next;
	}
}

/* begin_anew: the store has lost the shard, and nobody has it. */
static void begin_anew(void **state)
{
	higher_fence_is_a_successor(state);
	SAY((struct scene *)*state, "DEL", L);
}

static void own_lease_that_was_asked_for_last_is_replaced(void **state)
{
	struct scene *scene = *state;

	begin_anew(state);
	lose_acquisition(scene);
	assert_non_null(strstr(held(scene), ":0000000000000001:"));
	assert_int_equal(own(scene), DW_OK);
}

/* The server is set back to what an acquisition had made whose reply was lost. That was long ago;
 * meanwhile others may have owned the shard. */
static void own_lease_of_an_earlier_acquisition_proves_nothing(void **state)
{
	struct scene *scene = *state;
	char first[96];
	char asked[64];

	begin_anew(state);
	lose_acquisition(scene);
	(void)snprintf(first, sizeof first, "%s", held(scene));
	copy_asked(scene, asked, sizeof asked);
	scene->store.now += DW_SECONDS(6);
	lose_acquisition(scene);
	SAY(scene, "SET", L, first, "PX", "300000");
	SAY(scene, "HSET", M, "asked", asked);
	assert_int_equal(own(scene), DW_EOWNED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	    TEST(lower_fence_with_a_lease_is_replaced),
	    TEST(lower_fence_is_replaced_on_a_new_connection),
	    TEST(lower_fence_without_a_lease_is_replaced),
	    TEST(lower_fence_is_replaced_twice),
	    TEST(lower_fence_that_came_later_is_replaced),
	    TEST(equal_fence_of_another_is_replaced),
	    TEST(higher_fence_is_a_successor),
	    TEST(higher_fence_without_a_lease_is_a_successor),
	    TEST(lower_fence_is_not_replaced_after_our_lease),
	    TEST(owner_on_the_new_server_is_a_successor),
	    TEST(dead_owner_on_the_new_server_is_a_successor),
	    TEST(own_acquisition_on_the_new_server_is_no_successor),
	    TEST(earlier_owner_on_the_new_server_is_replaced),
	    TEST(nothing_starts_until_the_shard_is_written_again),
	    TEST(own_earlier_lease_proves_nothing),
	    TEST(own_lease_that_was_asked_for_last_is_replaced),
	    TEST(own_lease_of_an_earlier_acquisition_proves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
