/* Messages with a list of troubles have whole ones, and say how many they leave out. */
#include "store/redis/nodes/why_list.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"

/* fill adds so many troubles of this size, and returns the message. */
static const char *fill(char room[DW_MESSAGE_SIZE], const char *subject, unsigned count, int size)
{
	struct why_list list;
	char trouble[512];

	why_list_begin(&list, room, subject);
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(trouble, sizeof trouble, "<%0*u>", size - 2, i); /* it fits */
		why_list_add(&list, trouble);
	}
	why_list_end(&list);
	assert_true(strlen(room) < DW_MESSAGE_SIZE);
	return room;
}

static void list_that_fits_is_whole(void **state)
{
	char room[DW_MESSAGE_SIZE];

	(void)state;
	assert_string_equal(fill(room, "none", 3, 4), "none; <00>; <01>; <02>");
	assert_string_equal(fill(room, "", 2, 4), "<00>; <01>");
	assert_string_equal(fill(room, "none", 0, 4), "none");
}

static void list_that_is_too_long_ends_behind_a_whole_trouble(void **state)
{
	char room[DW_MESSAGE_SIZE], wanted[DW_MESSAGE_SIZE];

	(void)state;
	for (int size = 3; size < 200; size++) {
		const char *text = fill(room, "none", 99, size);
		const char *end = strrchr(text, '>');
		unsigned shown = 0;

		for (const char *at = text; (at = strchr(at, '<')); at++)
			shown++;
		assert_non_null(end);
		(void)snprintf(wanted, sizeof wanted, ">; and %u more", 99 - shown); /* it fits */
		assert_string_equal(end, wanted);
	}
}

static void trouble_that_is_too_long_alone_is_cut(void **state)
{
	char room[DW_MESSAGE_SIZE];

	(void)state;
	(void)fill(room, "none", 3, 500);
	assert_non_null(strstr(room, "0; and 2 more"));
	assert_true(strlen(fill(room, "", 1, 500)) > DW_MESSAGE_SIZE / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(list_that_fits_is_whole),
	    cmocka_unit_test(list_that_is_too_long_ends_behind_a_whole_trouble),
	    cmocka_unit_test(trouble_that_is_too_long_alone_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
