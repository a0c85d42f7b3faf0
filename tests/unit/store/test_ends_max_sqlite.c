/* A store that has too many ends: those that expire first go, a few at a time. */
#include "support/cmocka.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "durawheel/ended.h"
#include "store/memory/ends.h"
#include "support/sqlite_fixture.h"
#include "timer/record.h"

enum { SOME = 100, MANY = 300, PATIENCE_MS = 60000 };

static const char *id_of(int number)
{
	static char id[16];

	(void)snprintf(id, sizeof id, "t%d", number);
	return id;
}

static void memory_drops_those_that_expire_first(void **state)
{
	struct alloc alloc = alloc_default();
	struct ends ends = {0};

	(void)state;
	assert_int_equal(ends_init(&ends, &alloc), DW_OK);
	for (int i = 0; i < SOME; i++) {
		dw_ended ended = {.end = DW_END_DONE, .topic = "t", .by = "", .until = 1000 - i};
		struct stored_end *end = ends_make(&ends, &alloc, id_of(i), &ended);

		assert_non_null(end);
		ends_add(&ends, &alloc, end);
	}
	ends_forget(&ends, &alloc, 1);
	assert_non_null(ends_find(&ends, id_of(SOME - 1), 1));
	ends.by_id.table.count += DW_ENDED_MAX - SOME + 3; /* as if that many were there */
	ends_forget(&ends, &alloc, 1);
	for (int i = 0; i < SOME; i++)
		assert_int_equal(ends_find(&ends, id_of(i), 1) != NULL, i < SOME - 3);
	ends.by_id.table.count -= DW_ENDED_MAX - SOME + 3;
	ends_free(&ends, &alloc);
}

/* end_one puts a timer whose end is kept and cancels it. */
static void end_one(struct fixture *f, int number)
{
	struct alloc alloc = alloc_default();
	unsigned char blocks[RECORD_BLOCKS_MAX];
	struct record record = {.id = id_of(number),
				.topic = "t",
				.data = "",
				.blocks = blocks,
				.id_size = (uint8_t)strlen(id_of(number)),
				.topic_size = 1};
	dw_op *op;

	record.blocks_size = (uint16_t)record_keep_write(DW_HOURS(5) - number, blocks);
	op = op_new(&alloc, DW_OP_PUT, record.id, NULL, record_size(&record));
	assert_non_null(op);
	record_encode(&record, op_room(op));
	op->topic = "t";
	op->head.due = DW_HOURS(1);
	assert_int_equal(ask_status(&f->owner, op), DW_OK);
	assert_int_equal(ask_status(&f->owner, op_new(&alloc, DW_OP_CANCEL, record.id, NULL, 0)),
			 DW_OK);
}

static int status_of(struct fixture *f, int number)
{
	struct alloc alloc = alloc_default();

	return ask_status(&f->owner, op_new(&alloc, DW_OP_ENDED, id_of(number), NULL, 0));
}

static void sqlite_drops_those_that_expire_first(void **state)
{
	struct fixture *f = *state;

	fixture_open(f, &f->owner, DW_OWNER);
	for (int i = 0; i < SOME; i++)
		end_one(f, i);
	assert_int_equal(status_of(f, 0), DW_OK);
	assert_int_equal(status_of(f, SOME - 1), DW_OK);
	fixture_raw(f, "UPDATE meta SET ended = 1000000");
	end_one(f, SOME);
	end_one(f, 0); /* it replaces its end */
	assert_int_equal(status_of(f, 0), DW_OK);
	assert_int_equal(status_of(f, SOME - 1), DW_OK);
	assert_int_equal(status_of(f, SOME), DW_ENOENT); /* the first to expire */
	fixture_raw(f, "UPDATE meta SET ended = 1000064");
	end_one(f, 0);
	for (int i = 0; i < SOME; i++)
		assert_int_equal(status_of(f, i), i < SOME - 64 ? DW_OK : DW_ENOENT);
}

/* An idle owner does not wait for the next reports. */
static void sqlite_drops_the_rest_while_it_is_idle(void **state)
{
	struct fixture *f = *state;
	struct alloc alloc = alloc_default();

	fixture_open(f, &f->owner, DW_OWNER);
	for (int i = 0; i < MANY; i++)
		end_one(f, i);
	fixture_raw(f, "UPDATE meta SET ended = 1000200");
	assert_int_equal(
	    ask_status(&f->owner, op_new(&alloc, DW_OP_REPORT, NULL, "{}", strlen("{}"))), DW_OK);
	for (int i = 0; i < PATIENCE_MS && status_of(f, MANY - 200) == DW_OK; i++)
		(void)poll(NULL, 0, 1);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(status_of(f, i), i < MANY - 200 ? DW_OK : DW_ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(memory_drops_those_that_expire_first),
	    cmocka_unit_test_setup_teardown(sqlite_drops_those_that_expire_first, fixture_set_up,
					    fixture_tear_down),
	    cmocka_unit_test_setup_teardown(sqlite_drops_the_rest_while_it_is_idle, fixture_set_up,
					    fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
