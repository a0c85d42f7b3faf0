/* How much a scan asks for at once: a claim waits behind it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/store.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "support/stub_link.h"

#define SHARDS 64u
#define ROWS_MAX 2048 /* a server needs some milliseconds for so many */

static long pages, rows;

/* count_page: EVALSHA, the script, the number of keys, the keys, the sign, the rows ... */
static void count_page(struct stub_link *stub, int count, const char *const *words,
		       const size_t *sizes)
{
	int at = (int)redis_scripts[SCRIPT_PAGE].key_count + 4;
	char number[32];

	(void)stub;
	assert_true(count > at && strcmp(words[0], "EVALSHA") == 0);
	pages++;
	(void)snprintf(number, sizeof number, "%.*s", (int)sizes[at], words[at]); /* it fits */
	rows += strtol(number, NULL, 10);
}

static void scan_asks_for_few_rows_at_a_time(void **state)
{
	struct stub_link stub;
	struct redis_store *store = stub_open(&stub, SHARDS);
	dw_store *base = redis_base(store);
	const dw_cursor beginning = {0};

	(void)state;
	stub.sent = count_page;
	base->type->submit(base, ask_scan(&beginning, 256, NULL));
	assert_in_range(pages, 1, 2 * SHARDS - 1);
	assert_in_range(rows, 1, ROWS_MAX);
	stub_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(scan_asks_for_few_rows_at_a_time),
	};

	return cmocka_run_group_tests_name("redis_ahead", tests, NULL, NULL);
}
