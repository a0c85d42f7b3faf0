/* DW_EXISTING: a store that is not there is not made. */
#include "support/cmocka.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durawheel/durawheel.h"
#include "support/temp.h"

struct place {
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	char url[TEMP_SIZE + 8];
	char message[DW_MESSAGE_SIZE];
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof *place);

	assert_non_null(place);
	temp_make(place->folder);
	(void)snprintf(place->url, sizeof place->url, "sqlite:%s",
		       temp_file(place->path, place->folder, "orders.db"));
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	temp_remove(place->folder);
	free(place);
	return 0;
}

static int try_open(struct place *place, dw_role role, unsigned flags)
{
	dw_options options = {
	    .size = sizeof options, .store = place->url, .role = role, .flags = flags};
	dw *d = NULL;
	int status = dw_open(&d, &options, place->message);

	return status == DW_OK ? dw_close(d, DW_SECONDS(60)) : status;
}

static int count_files(const struct place *place)
{
	DIR *folder = opendir(place->folder);
	struct dirent *entry;
	int count = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	(void)closedir(folder); /* only read */
	return count;
}

static void expect_words(const struct place *place, const char *words)
{
	if (!strstr(place->message, words) || !strstr(place->message, place->path))
		fail_msg("\"%s\" does not say \"%s\" of %s", place->message, words, place->path);
}

static void missing_store_is_refused_and_not_made(void **state)
{
	struct place *place = *state;

	for (dw_role role = DW_OWNER; role <= DW_STANDBY; role++) {
		assert_int_equal(try_open(place, role, DW_EXISTING), DW_ENOENT);
		expect_words(place, "no such store");
		assert_int_equal(count_files(place), 0);
	}
}

static void empty_file_is_no_store(void **state)
{
	struct place *place = *state;
	FILE *file = fopen(place->path, "w");
	struct stat status;

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(try_open(place, DW_CLIENT, DW_EXISTING), DW_ENOENT);
	expect_words(place, "is empty");
	assert_int_equal(count_files(place), 1);
	assert_int_equal(stat(place->path, &status), 0);
	assert_int_equal(status.st_size, 0);
}

static void store_that_exists_is_opened(void **state)
{
	struct place *place = *state;

	assert_int_equal(try_open(place, DW_CLIENT, 0), DW_OK);
	for (dw_role role = DW_OWNER; role <= DW_STANDBY; role++)
		assert_int_equal(try_open(place, role, DW_EXISTING), DW_OK);
}

/* copy_beside writes a copy as a backup has it: one file without a log, in the mode DELETE. */
static void copy_beside(const struct place *place, struct place *ret_copy)
{
	char words[TEMP_SIZE + 32];
	sqlite3 *db = NULL;

	(void)snprintf(ret_copy->url, sizeof ret_copy->url, "sqlite:%s",
		       temp_file(ret_copy->path, place->folder, "copy.db"));
	(void)unlink(ret_copy->path); /* the first time there is none */
	(void)snprintf(words, sizeof words, "VACUUM INTO '%s'", ret_copy->path);
	assert_int_equal(sqlite3_open(place->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, words, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void copy_without_a_log_is_opened(void **state)
{
	struct place *place = *state, copy = {.message = ""};

	assert_int_equal(try_open(place, DW_OWNER, 0), DW_OK);
	for (dw_role role = DW_OWNER; role <= DW_STANDBY; role++) {
		copy_beside(place, &copy);
		if (try_open(&copy, role, DW_EXISTING) != DW_OK)
			fail_msg("role %d: %s", (int)role, copy.message);
	}
}

static void unknown_flag_is_refused(void **state)
{
	struct place *place = *state;

	assert_int_equal(try_open(place, DW_CLIENT, 1 << 30), DW_EINVAL);
	assert_non_null(strstr(place->message, "options.flags"));
	assert_int_equal(count_files(place), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(missing_store_is_refused_and_not_made),
	    CASE(empty_file_is_no_store),
	    CASE(store_that_exists_is_opened),
	    CASE(copy_without_a_log_is_opened),
	    CASE(unknown_flag_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
