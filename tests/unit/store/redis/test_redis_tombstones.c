/* Timers that an owner has seen end do not come back with a server that is set back, for a minute;
 * all of a long inbox is read at once, and all timers of one deadline are scanned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/cmocka.h"
#include "support/newer.h"
#include "keyspace/store.h"
#include "store/redis/core.h"

static dw_op *done(struct keyspace_store *twin, dw_op *op)
{
	assert_non_null(keyspace_store_done(twin, op));
	assert_int_equal(op->status, DW_OK);
	return op;
}

static void set_up(struct keyspace_store *twin)
{
	keyspace_store_open(twin);
	ask_free(done(twin, ask_plain(DW_OP_OWN)));
}

/* settle_one puts, claims and settles a timer; past is the data while it was claimed. */
static void settle_one(struct keyspace_store *twin, struct keyspace **ret_past)
{
	dw_op *put = done(twin, ask_put("ended", 500, DW_OP_CLAIMED));

	*ret_past = keyspace_copy(twin->keyspace);
	ask_free(
	    done(twin, ask_about(DW_OP_SETTLE, "ended", put->head.generation, put->head.attempt)));
	ask_free(put);
}

static void settled_timer_stays_ended_when_its_shard_is_set_back(void **state)
{
	struct keyspace_store *twin = calloc(1, sizeof *twin);
	struct keyspace *past;
	size_t size;

	(void)state;
	set_up(twin);
	settle_one(twin, &past);
	keyspace_store_wait(twin, DW_SECONDS(25));
	ask_free(done(twin, ask_put("later", DW_HOURS(1000), 0))); /* forgets what is too old */
	ask_free(done(twin, ask_cancel("later", 0)));
	keyspace_set_back(twin->keyspace, past);
	keyspace_free(past);
	assert_non_null(keyspace_value(twin->keyspace, "{twin:00}:h", "ended", &size));
	twin->store->type->submit(twin->store, ask_plain(DW_OP_LOSS));
	keyspace_store_wait(twin, DW_SECONDS(4));
	assert_null(keyspace_value(twin->keyspace, "{twin:00}:h", "ended", &size));
	keyspace_store_close(twin);
	free(twin);
}

/* read_page reads and acknowledges a page of the inbox. */
static void read_page(struct keyspace_store *twin, size_t limit)
{
	dw_op *inbox = ask_plain(DW_OP_INBOX);

	inbox->limit = limit;
	inbox = done(twin, inbox);
	assert_int_equal(inbox->row_count, limit);
	for (const dw_row *row = inbox->rows; row; row = row->next)
		ask_free(done(twin, ask_about(DW_OP_ACK, row->id, row->head.generation, 0)));
	ask_free(inbox);
}

/* Another owner of an emptied shard may give lower versions, if the server's clock is behind. What
 * has ended in a shard that is as before (0) is still known. */
static void timers_of_before_an_emptying_by_another_are_forgotten(void **state)
{
	(void)state;
	for (int is_emptied = 0; is_emptied < 2; is_emptied++) {
		struct keyspace_store *twin = calloc(1, sizeof *twin);
		const struct redis_store *store;
		struct keyspace *past;

		set_up(twin);
		store = (const struct redis_store *)twin->store;
		settle_one(twin, &past);
		keyspace_free(past);
		ask_free(done(twin, ask_plain(DW_OP_DISOWN)));
		if (is_emptied)
			keyspace_empty(twin->keyspace, "{twin:00}:");
		ask_free(done(twin, ask_plain(DW_OP_OWN)));
		assert_int_equal(store->shards[0].tombstones.count, !is_emptied);
		keyspace_store_close(twin);
		free(twin);
	}
}

/* put_newer: as a client of a newer version does it, one version after our timer's. */
static void put_newer(struct keyspace_store *twin, uint64_t generation)
{
	dw_head head = {.generation = generation + 1, .due = 5};
	unsigned char value[NEWER_VALUE_MAX];
	const char *store[] = {"HSET", "{twin:00}:h", "it", (const char *)value};
	size_t sizes[] = {4, strlen(store[1]), 2, newer_value(&head, "it", "t", value)};
	char version[24];
	const char *const last[] = {"HSET", "{twin:00}:m", "ver", version, NULL};
	const char *const tell[] = {"ZADD", "{twin:00}:i", version, "it", NULL};

	(void)snprintf(version, sizeof version, "%llu", (unsigned long long)head.generation);
	reply_free(keyspace_call(twin->keyspace, 4, store, sizes));
	keyspace_store_command(twin, last);
	keyspace_store_command(twin, tell);
}

/* The server comes back with our timer (0), which the newer one had replaced, or with that (1). */
static void timer_that_a_newer_version_has_replaced_stays_ended(void **state)
{
	(void)state;
	for (int is_newer = 0; is_newer < 2; is_newer++) {
		struct keyspace_store *twin = calloc(1, sizeof *twin);
		struct keyspace *past;
		dw_op *put;
		size_t size;

		set_up(twin);
		put = done(twin, ask_put("it", DW_HOURS(1000), 0));
		past = keyspace_copy(twin->keyspace);
		put_newer(twin, put->head.generation);
		if (is_newer) {
			keyspace_free(past);
			past = keyspace_copy(twin->keyspace);
		}
		ask_free(put);
		read_page(twin, 1);
		keyspace_set_back(twin->keyspace, past);
		keyspace_free(past);
		twin->store->type->submit(twin->store, ask_plain(DW_OP_LOSS));
		keyspace_store_wait(twin, DW_SECONDS(4));
		assert_int_equal(keyspace_value(twin->keyspace, "{twin:00}:h", "it", &size) != NULL,
				 is_newer);
		keyspace_store_close(twin);
		free(twin);
	}
}

/* A renewal, every 1.5 s, would find the rest. */
static void pages_behind_the_first_of_the_inbox_need_no_renewal(void **state)
{
	enum { PAGE = 10, PAGES = 3 };
	struct keyspace_store *twin = calloc(1, sizeof *twin);
	dw_usec first;

	(void)state;
	set_up(twin);
	ask_free(done(twin, ask_put("first", DW_HOURS(1000), 0))); /* versions are above 9 */
	for (int i = 0; i < PAGE * PAGES; i++) {
		char id[16];
		const char *const words[] = {"ZADD", "{twin:00}:i", "9", id, NULL};

		(void)snprintf(id, sizeof id, "t%d", i);
		keyspace_store_command(twin, words);
	}
	read_page(twin, PAGE);
	first = twin->now;
	for (int i = 1; i < PAGES; i++)
		read_page(twin, PAGE);
	assert_true(twin->now - first < DW_SECONDS(1));
	keyspace_store_close(twin);
	free(twin);
}

/* Each page begins at its cursor: what a scan has read ahead is forgotten after a second. */
static void claimed_timers_of_one_deadline_are_scanned_once_over_pages(void **state)
{
	enum { CLAIMED = 6, LIMIT = 2 };
	struct keyspace_store *twin = calloc(1, sizeof *twin);
	dw_cursor cursor = {0};
	size_t found = 0;

	(void)state;
	set_up(twin);
	for (int i = 0; i < CLAIMED; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "t%d", i);
		ask_free(done(twin, ask_put(id, DW_HOURS(1000), DW_OP_CLAIMED)));
	}
	for (int i = 0; i < CLAIMED && !cursor.ended; i++) {
		dw_op *scan = done(twin, ask_scan(i > 0 ? &cursor : NULL, LIMIT, NULL));

		found += scan->row_count;
		cursor = scan->after;
		cursor.ended = scan->row_count < LIMIT;
		ask_free(scan);
		keyspace_store_wait(twin, DW_SECONDS(3));
	}
	assert_true(cursor.ended);
	assert_int_equal(found, CLAIMED);
	keyspace_store_close(twin);
	free(twin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(settled_timer_stays_ended_when_its_shard_is_set_back),
	    cmocka_unit_test(timers_of_before_an_emptying_by_another_are_forgotten),
	    cmocka_unit_test(timer_that_a_newer_version_has_replaced_stays_ended),
	    cmocka_unit_test(pages_behind_the_first_of_the_inbox_need_no_renewal),
	    cmocka_unit_test(claimed_timers_of_one_deadline_are_scanned_once_over_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
