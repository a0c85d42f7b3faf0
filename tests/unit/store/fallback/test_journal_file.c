/* dw_journal_list() and dw_journal_drop() on a file that fails, or does not have what is asked. */
#include <stdio.h>
#include <string.h>

#include "durawheel/journal.h"
#include "support/cmocka.h"
#include "support/faulty.h"
#include "support/temp.h"

enum { ROWS = 3, UNTOUCHED = 77, ALL_LATER = 1000 };

static char folder[TEMP_SIZE];
static char file[TEMP_SIZE];

/* write_rows puts ROWS timers while there is no server, so the journal takes them. */
static void write_rows(void)
{
	char message[DW_MESSAGE_SIZE], id[] = "0";
	dw_options options = {.size = sizeof options,
			      .store = "unix:///nowhere/redis",
			      .name = "n",
			      .role = DW_CLIENT,
			      .journal = file,
			      .open_patience_us = DW_MILLISECONDS(20)};
	dw *d;

	if (dw_open(&d, &options, message) != DW_OK)
		fail_msg("%s", message);
	for (int i = 0; i < ROWS; i++) {
		id[0] = (char)('0' + i);
		assert_int_equal(dw_after(d, "t", id, DW_HOURS(1), NULL, 0), DW_OK);
	}
	assert_int_equal(dw_close(d, DW_SECONDS(60)), DW_OK);
}

static int set_up(void **state)
{
	(void)state;
	temp_make(folder);
	(void)temp_file(file, folder, "journal");
	write_rows();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	temp_remove(folder);
	return 0;
}

static void count_row(const dw_journal_row *row, void *user)
{
	assert_string_equal(row->what, "put");
	++*(int *)user;
}

static int rows_left(void)
{
	int count = 0;

	assert_int_equal(dw_journal_list(file, count_row, &count, NULL, NULL), DW_OK);
	return count;
}

static void list_that_fails_says_why_and_counts_nothing(void **state)
{
	bool fails = true;

	(void)state;
	for (int read = 1; fails; read++) {
		char message[DW_MESSAGE_SIZE] = "";
		uint64_t damaged = UNTOUCHED;
		int count = 0;

		faulty_arm(FAULTY_READ, read, ALL_LATER, false);
		fails = dw_journal_list(file, count_row, &count, &damaged, message) != DW_OK;
		faulty_disarm();
		assert_int_equal(damaged, fails ? UNTOUCHED : 0);
		assert_int_equal(strstr(message, file) != NULL, fails);
		assert_int_equal(count, fails ? 0 : ROWS);
	}
}

/* Each time the file is another one: this process may still count as the owner of a file whose last
 * write has failed. */
static void drop_that_fails_says_why_and_how_many(void **state)
{
	int partial = 0;
	bool fails = true;

	(void)state;
	for (int write = 1; fails; write += 4) { /* a row takes 8 writes */
		char message[DW_MESSAGE_SIZE] = "", name[24];
		uint64_t count = UNTOUCHED;
		int left;

		(void)snprintf(name, sizeof name, "journal%d", write);
		(void)temp_file(file, folder, name);
		write_rows();
		faulty_arm(FAULTY_WRITE, write, ALL_LATER, false);
		fails = dw_journal_drop(file, NULL, &count, message) != DW_OK;
		faulty_disarm();
		left = rows_left();
		assert_int_equal(count, fails ? UNTOUCHED : ROWS);
		assert_int_equal(strstr(message, file) != NULL, fails);
		assert_int_equal(strstr(message, "rows dropped: ") != NULL, fails && left < ROWS);
		partial += fails && left < ROWS;
	}
	assert_true(partial > 0);
	assert_int_equal(rows_left(), 0);
}

static void drop_of_an_unknown_id_has_no_words(void **state)
{
	char message[DW_MESSAGE_SIZE] = "earlier words";
	uint64_t count = UNTOUCHED;

	(void)state;
	assert_int_equal(dw_journal_drop(file, "none", &count, message), DW_ENOENT);
	assert_string_equal(message, "");
	assert_int_equal(count, UNTOUCHED);
	assert_int_equal(dw_journal_drop(file, "1", &count, message), DW_OK);
	assert_int_equal(count, 1);
	assert_int_equal(rows_left(), ROWS - 1);
}

static void missing_file_has_words(void **state)
{
	char message[DW_MESSAGE_SIZE] = "", none[TEMP_SIZE];
	uint64_t count = UNTOUCHED;

	(void)state;
	(void)temp_file(none, folder, "none");
	assert_int_equal(dw_journal_drop(none, "1", &count, message), DW_ENOENT);
	assert_non_null(strstr(message, none));
	message[0] = '\0';
	assert_int_equal(dw_journal_list(none, count_row, NULL, &count, message), DW_ENOENT);
	assert_non_null(strstr(message, none));
	assert_int_equal(count, UNTOUCHED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(list_that_fails_says_why_and_counts_nothing, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(drop_that_fails_says_why_and_how_many, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(drop_of_an_unknown_id_has_no_words, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(missing_file_has_words, set_up, tear_down),
	};

	faulty_install();
	return cmocka_run_group_tests_name("journal_file", tests, NULL, NULL);
}
