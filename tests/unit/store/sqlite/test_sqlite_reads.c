/* A disk that fails to read for a moment: SQLite calls it damage, and no sound timer may be set
 * aside because of it. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "store/sqlite/heal/suspects.h"
#include "support/faulty.h"
#include "support/sqlite_fixture.h"

enum { TIMERS = 300, DATA = 3000, DUE = 5000000 };

static uint64_t generations[TIMERS];

static void id_of(int number, char id[8])
{
	(void)snprintf(id, 8, "id%d", number);
}

/* fill stores timers on many pages. */
static void fill(struct fixture *f)
{
	static char data[DATA + 1];
	char id[8];
	dw_head head;

	memset(data, 'd', DATA);
	fixture_open(f, &f->owner, DW_OWNER);
	for (int i = 0; i < TIMERS; i++) {
		id_of(i, id);
		assert_int_equal(ask_head(&f->owner, ask_put_full(id, "t", DUE + i, data), &head),
				 DW_OK);
		generations[i] = head.generation;
	}
	ask_end(&f->owner);
}

/* open_cold opens the store, and another process writes: so SQLite reads all pages again. */
static void open_cold(struct fixture *f)
{
	fixture_open(f, &f->owner, DW_OWNER);
	fixture_open(f, &f->other, DW_CLIENT);
	(void)ask_put_one(&f->other, "another", DUE);
	ask_end(&f->other);
}

/* is_whole: every timer is there, and nothing was set aside or repaired. */
static void is_whole(struct fixture *f, uint64_t count)
{
	dw_op *status;

	fixture_open(f, &f->owner, DW_OWNER);
	status = ask_done(&f->owner, ask_plain(DW_OP_STATUS));
	assert_int_equal(status->store_status->pending, count);
	assert_int_equal(status->store_status->dead, 0);
	ask_free(status);
	assert_string_equal(f->owner.logged, "");
	ask_end(&f->owner);
}

static void failed_read_is_not_damage(void **state)
{
	struct fixture *f = *state;
	char id[8];
	int failed = 0;

	fill(f);
	for (int n = 1; n <= 12; n++) {
		open_cold(f);
		faulty_arm(FAULTY_READ, n, 3, false);
		for (int i = 0; i < TIMERS; i += 7) {
			dw_head head;
			int status;

			id_of(i, id);
			status = ask_stored(&f->owner, id, &head);
			failed += status != DW_OK;
			if (status != DW_OK)
				assert_int_equal(status, DW_ESTORE);
		}
		faulty_disarm();
		ask_end(&f->owner);
	}
	assert_true(failed > 0);
	is_whole(f, TIMERS + 1);
}

static void failed_claim_is_done_when_it_is_tried_again(void **state)
{
	struct fixture *f = *state;
	char id[8];

	fill(f);
	for (int i = 0; i < 20; i++) {
		int last = TIMERS - 1 - i * 9, status = DW_ESTORE;

		open_cold(f);
		faulty_arm(FAULTY_READ, 1 + i % 5, 1 + i % 7, false);
		id_of(last, id);
		for (int tries = 0; tries < 20 && status == DW_ESTORE; tries++)
			status =
			    ask_status(&f->owner, ask_about(DW_OP_CLAIM, id, generations[last], 0));
		assert_int_equal(status, DW_OK);
		faulty_disarm();
		assert_int_equal(
		    ask_status(&f->owner, ask_about(DW_OP_RETRY, id, generations[last], 1)), DW_OK);
		ask_end(&f->owner);
	}
	is_whole(f, TIMERS + 1);
}

/* Opening reads the whole file. */
static void failed_read_at_open_repairs_nothing(void **state)
{
	struct fixture *f = *state;
	int refused = 0;

	fill(f);
	for (int n = 1; n <= 400; n += n < 20 ? 1 : 31) {
		faulty_arm(FAULTY_READ, n, 2, false);
		if (fixture_try(f, &f->owner, DW_OWNER, f->path) != DW_OK) {
			refused++;
			if (strstr(f->message, "damaged"))
				fail_msg("read %d: %s", n, f->message);
		}
		faulty_disarm();
		assert_null(strstr(f->owner.logged, "damaged"));
		ask_end(&f->owner);
	}
	assert_true(refused > 5);
	is_whole(f, TIMERS);
}

/* A part that can never be read is damage. */
static void read_that_fails_for_seconds_is_damage(void **state)
{
	struct sqlite_suspects suspects = {0};
	dw_op one = {.kind = DW_OP_CLAIM, .id = "one"};
	dw_op other = {.kind = DW_OP_CLAIM, .id = "other"};
	dw_op *const first = &one;

	(void)state;
	assert_false(sqlite_suspects_add(&suspects, &one, 1));
	assert_false(sqlite_suspects_add(&suspects, &one, SQLITE_SUSPECT_FOR));
	assert_false(sqlite_suspects_add(&suspects, &other, SQLITE_SUSPECT_FOR));
	assert_true(sqlite_suspects_add(&suspects, &one, SQLITE_SUSPECT_FOR + 1));
	sqlite_suspects_clear(&suspects, &first, 1);
	assert_false(sqlite_suspects_add(&suspects, &one, 2 * SQLITE_SUSPECT_FOR));
	assert_true(sqlite_suspects_add(&suspects, &other, 2 * SQLITE_SUSPECT_FOR));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(failed_read_is_not_damage, fixture_set_up,
					    fixture_tear_down),
	    cmocka_unit_test_setup_teardown(failed_claim_is_done_when_it_is_tried_again,
					    fixture_set_up, fixture_tear_down),
	    cmocka_unit_test_setup_teardown(failed_read_at_open_repairs_nothing, fixture_set_up,
					    fixture_tear_down),
	    cmocka_unit_test(read_that_fails_for_seconds_is_damage),
	};

	faulty_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
