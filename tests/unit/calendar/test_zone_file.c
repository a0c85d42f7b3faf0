/* Files of zones that are no files, or no zones. */
#include "support/cmocka.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calendar/zone.h"
#include "durawheel/durawheel.h"
#include "support/temp.h"

#define HANGS 20 /* s; then SIGALRM ends the test */

static void refuse_zone(const char *zone, const char *why)
{
	char text[64], message[DW_MESSAGE_SIZE] = "";
	dw_rule *rule = NULL;

	(void)snprintf(text, sizeof text, "every 1h; zone %s", zone);
	assert_int_equal(dw_rule_parse(text, &rule, message), DW_EINVAL);
	assert_null(rule);
	if (!strstr(message, why))
		fail_msg("%s: %s", zone, message);
}

static void zone_that_is_no_file_is_refused_at_once(void **state)
{
	char folder[TEMP_SIZE], path[TEMP_SIZE];

	(void)state;
	temp_make(folder);
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	assert_int_equal(mkfifo(temp_file(path, folder, "Pipe"), 0600), 0);
	assert_int_equal(mkdir(temp_file(path, folder, "Folder"), 0700), 0);
	assert_int_equal(symlink("/dev/zero", temp_file(path, folder, "Device")), 0);
	assert_int_equal(symlink("Pipe", temp_file(path, folder, "Link")), 0);
	(void)alarm(HANGS);
	refuse_zone("Pipe", "it is not a regular file");
	refuse_zone("Folder", "it is not a regular file");
	refuse_zone("Device", "it is not a regular file");
	refuse_zone("Link", "it is not a regular file");
	(void)alarm(0);
	assert_int_equal(unsetenv("TZDIR"), 0);
	temp_remove(folder);
}

/* ---- Bytes that are no zone ---------------------------------------------------------------- */

enum { HEADER = 44, CHANGES = 2 };

/* write_header: version 2, with so many changes and types of time, and four characters of names. */
static unsigned char *write_header(unsigned char *at, unsigned changes, unsigned types)
{
	memset(at, 0, HEADER);
	memcpy(at, "TZif2", 5);
	at[35] = (unsigned char)changes;
	at[39] = (unsigned char)types;
	at[43] = 4;
	return at + HEADER;
}

/* write_zone: UTC until the first change, an hour more until the second one. */
static size_t write_zone(unsigned char *bytes, unsigned char first, unsigned char second)
{
	unsigned char *at = write_header(bytes, 0, 1);

	memset(at, 0, 6);
	memcpy(at + 6, "UTC", 4); /* the block of version 1 */
	at = write_header(at + 10, CHANGES, 2);
	memset(at, 0, 16);
	at[7] = first;
	at[15] = second;
	at[16] = 1;
	at[17] = 0; /* to the type of these numbers */
	memset(at + 18, 0, 12);
	at[18 + 6 + 2] = 3600 >> 8;
	at[18 + 6 + 3] = 3600 & 255;
	memcpy(at + 30, "UTC", 4);
	memcpy(at + 34, "\nUTC0\n", 6);
	return (size_t)(at + 40 - bytes);
}

static void save(const char *folder, const char *name, const unsigned char *bytes, size_t size)
{
	char path[TEMP_SIZE];
	FILE *file = fopen(temp_file(path, folder, name), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void zone_whose_changes_are_not_in_order_is_refused(void **state)
{
	static unsigned char bytes[128 * 1024];
	char folder[TEMP_SIZE];
	dw_rule *rule = NULL;
	size_t size;

	(void)state;
	temp_make(folder);
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	size = write_zone(bytes, 10, 20);
	save(folder, "Good", bytes, size);
	assert_int_equal(dw_rule_parse("every 1h; zone Good", &rule, NULL), DW_OK);
	dw_rule_free(rule);
	(void)write_zone(bytes, 10, 10);
	save(folder, "Equal", bytes, size);
	refuse_zone("Equal", "has changes that are not in order");
	(void)write_zone(bytes, 20, 10);
	save(folder, "Back", bytes, size);
	refuse_zone("Back", "has changes that are not in order");
	(void)write_zone(bytes, 10, 20);
	save(folder, "Large", bytes, sizeof bytes);
	refuse_zone("Large", "it is too large");
	assert_int_equal(unsetenv("TZDIR"), 0);
	temp_remove(folder);
}

/* Behind the types stand the names, which would do as a type. */
static void zone_with_a_type_that_it_has_not_is_refused(void **state)
{
	unsigned char bytes[256];
	char folder[TEMP_SIZE];
	size_t size = write_zone(bytes, 10, 20);

	(void)state;
	temp_make(folder);
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	bytes[size - 40 + 17] = 2; /* the type of the second change */
	memset(bytes + size - 10, 0, 4);
	save(folder, "Beyond", bytes, size);
	refuse_zone("Beyond", "names a type of time that it has not");
	assert_int_equal(unsetenv("TZDIR"), 0);
	temp_remove(folder);
}

/* A package may bring a file that is as large, and as old. */
static void zone_file_that_was_replaced_is_noticed(void **state)
{
	unsigned char bytes[256];
	char folder[TEMP_SIZE], path[TEMP_SIZE], other[TEMP_SIZE];
	size_t size = write_zone(bytes, 10, 20);
	struct zone_stamp before, after;
	struct stat status;

	(void)state;
	temp_make(folder);
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	save(folder, "Zone", bytes, size);
	assert_int_equal(stat(temp_file(path, folder, "Zone"), &status), 0);
	before = zone_stamp("Zone");
	(void)write_zone(bytes, 10, 30);
	save(folder, "New", bytes, size);
	assert_int_equal(utimensat(AT_FDCWD, temp_file(other, folder, "New"),
				   (struct timespec[]){status.st_atim, status.st_mtim}, 0),
			 0);
	assert_int_equal(rename(other, path), 0);
	after = zone_stamp("Zone");
	assert_memory_not_equal(&before, &after, sizeof before);
	assert_int_equal(unsetenv("TZDIR"), 0);
	temp_remove(folder);
}

/* ---- Days of the footer -------------------------------------------------------------------- */

/* Summer time begins at this day's midnight, in a year of 365 and in one of 366 days. */
static const char *const days[][3] = {
    {"J59", "2027-02-28T00:00:00Z", "2028-02-28T00:00:00Z"},
    {"J60", "2027-03-01T00:00:00Z", "2028-03-01T00:00:00Z"},
    {"J61", "2027-03-02T00:00:00Z", "2028-03-02T00:00:00Z"},
    {"58", "2027-02-28T00:00:00Z", "2028-02-28T00:00:00Z"},
    {"59", "2027-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
    {"M2.5.0", "2027-02-28T00:00:00Z", "2028-02-27T00:00:00Z"},
};

static dw_usec offset_at(dw_usec time)
{
	dw_rule rule = {.size = sizeof rule, .cron = "* * * * * *", .zone = "Days"};
	dw_local local = {.size = sizeof local};

	assert_int_equal(dw_rule_local(&rule, time, &local, NULL), DW_OK);
	return local.offset_us;
}

static void day_of_the_footer_is_the_right_one(void **state)
{
	unsigned char bytes[256];
	char folder[TEMP_SIZE];
	size_t size = write_zone(bytes, 10, 20) - 6;

	(void)state;
	temp_make(folder);
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
		int footer = snprintf((char *)bytes + size, sizeof bytes - size,
				      "\nAAA0BBB,%s/0,J300\n", days[i][0]);

		save(folder, "Days", bytes, size + (size_t)footer);
		for (size_t year = 1; year <= 2; year++) {
			dw_usec begin;

			assert_int_equal(dw_parse_time(days[i][year], &begin), DW_OK);
			assert_int_equal(offset_at(begin - DW_SECONDS(1)), 0);
			assert_int_equal(offset_at(begin), DW_HOURS(1));
		}
	}
	assert_int_equal(unsetenv("TZDIR"), 0);
	temp_remove(folder);
}

static void version_of_the_zones_is_that_of_their_folder(void **state)
{
	char folder[TEMP_SIZE], path[TEMP_SIZE], version[16];
	FILE *file;

	(void)state;
	temp_make(folder);
	assert_int_equal(setenv("TZDIR", folder, 1), 0);
	zone_data_version(version, sizeof version);
	assert_string_equal(version, "");
	assert_int_equal(mkfifo(temp_file(path, folder, "tzdata.zi"), 0600), 0);
	(void)alarm(HANGS);
	zone_data_version(version, sizeof version);
	(void)alarm(0);
	assert_string_equal(version, "");
	assert_int_equal(unlink(path), 0);
	file = fopen(path, "w");
	assert_true(fputs("# version 2031c\n# more", file) >= 0 && fclose(file) == 0);
	zone_data_version(version, sizeof version);
	assert_string_equal(version, "2031c");
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(version_of_the_zones_is_that_of_their_folder),
	    cmocka_unit_test(zone_that_is_no_file_is_refused_at_once),
	    cmocka_unit_test(zone_whose_changes_are_not_in_order_is_refused),
	    cmocka_unit_test(zone_with_a_type_that_it_has_not_is_refused),
	    cmocka_unit_test(zone_file_that_was_replaced_is_noticed),
	    cmocka_unit_test(day_of_the_footer_is_the_right_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
