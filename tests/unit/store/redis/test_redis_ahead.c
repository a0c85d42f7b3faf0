/* How much a scan asks for at once: a claim waits behind it. */
#include <stdlib.h>
#include <string.h>

#include "store/redis/core.h"
#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"

#define SHARDS 64u
#define ROWS_MAX 2048 /* a server needs some milliseconds for so many */

/* A link to a server that has not answered yet. */
struct silent {
	struct link link; /* first */
	long pages;
	long rows;
};

static int no_descriptor(const struct link *link)
{
	(void)link;
	return -1;
}

static void no_work(struct link *link, dw_usec now)
{
	(void)link;
	(void)now;
}

static dw_usec never(const struct link *link)
{
	(void)link;
	return DW_NEVER;
}

static uint64_t first_connection(const struct link *link)
{
	(void)link;
	return 1;
}

/* count_page: EVALSHA, the script, the number of keys, the keys, the sign, the rows ... */
static int count_page(struct link *link, int count, const char *const *words, const size_t *sizes,
		      dw_usec now)
{
	struct silent *silent = (struct silent *)link;
	int at = (int)redis_scripts[SCRIPT_PAGE].key_count + 4;

	(void)sizes;
	(void)now;
	assert_true(count > at && strcmp(words[0], "EVALSHA") == 0);
	silent->pages++;
	silent->rows += strtol(words[at], NULL, 10);
	return DW_OK;
}

static struct reply *no_reply(struct link *link)
{
	(void)link;
	return NULL;
}

static void no_free(struct link *link)
{
	(void)link;
}

static const struct link_class silent_class = {.descriptor = no_descriptor,
					       .work = no_work,
					       .due = never,
					       .connection = first_connection,
					       .send = count_page,
					       .take = no_reply,
					       .free = no_free};

static dw_usec stand_still(void *user)
{
	(void)user;
	return DW_SECONDS(100);
}

static void *resize(void *user, void *block, size_t size)
{
	(void)user;
	if (size > 0)
		return realloc(block, size);
	free(block);
	return NULL;
}

static void wake(void *user)
{
	(void)user;
}

static void scan_asks_for_few_rows_at_a_time(void **state)
{
	struct silent silent = {.link = {.type = &silent_class}};
	dw_store_env env = {.size = sizeof env,
			    .role = DW_CLIENT,
			    .token = 1,
			    .now = stand_still,
			    .resize = resize,
			    .wake = wake,
			    .name = "ahead",
			    .steady = stand_still};
	const dw_cursor beginning = {0};
	dw_op *scan = ask_scan(&beginning, 256, NULL);
	struct redis_store *store;

	(void)state;
	assert_int_equal(redis_new(&store, &env, &silent.link), DW_OK);
	assert_int_equal(redis_shards(store, SHARDS), DW_OK);
	store->layout.is_fixed = true;
	redis_base(store)->type->turn(redis_base(store), DW_SECONDS(100));
	redis_base(store)->type->submit(redis_base(store), scan);
	assert_in_range(silent.pages, 1, 2 * SHARDS - 1);
	assert_in_range(silent.rows, 1, ROWS_MAX);
	redis_free(redis_base(store));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scan_asks_for_few_rows_at_a_time),
	};

	return cmocka_run_group_tests_name("redis_ahead", tests, NULL, NULL);
}
