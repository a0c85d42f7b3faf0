/* Files of zones that are no files. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durawheel/durawheel.h"
#include "support/temp.h"

#define HANGS 20 /* s; then SIGALRM ends the test */

static void refuse_zone(const char *zone)
{
	char text[64], message[DW_MESSAGE_SIZE] = "";
	dw_rule *rule = NULL;

	(void)snprintf(text, sizeof text, "every 1h; zone %s", zone);
	assert_int_equal(dw_rule_parse(text, &rule, message), DW_EINVAL);
	assert_null(rule);
	if (!strstr(message, "it is not a regular file"))
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
	refuse_zone("Pipe");
	refuse_zone("Folder");
	refuse_zone("Device");
	refuse_zone("Link");
	(void)alarm(0);
	assert_int_equal(unsetenv("TZDIR"), 0);
	temp_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(zone_that_is_no_file_is_refused_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
