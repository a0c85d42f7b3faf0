/* The tokens of messages. */
#include "topic/message.h"

#include <string.h>

#include "support/cmocka.h"

static void token_has_a_topic_and_two_numbers(void **state)
{
	static const struct {
		const char *token, *topic, *own;
	} good[] = {
	    {"q/17/2", "q", "17/2"},
	    {"game.x/1795478400000016-1795478400031416-0/2", "game.x",
	     "1795478400000016-1795478400031416-0/2"},
	    {"g/1-2-3/4", "g", "1-2-3/4"},
	    {"a/b/1/2", "a/b", "1/2"},
	    {"1/2/3/4", "1/2", "3/4"},
	};
	char topic[DW_TOPIC_MAX + 1];
	const char *own;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(token_split(good[i].token, topic, &own));
		assert_string_equal(topic, good[i].topic);
		assert_string_equal(own, good[i].own);
	}
}

static void token_of_another_form_is_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    "x",
	    "/",
	    "//",
	    "g//1",
	    "g/1/",
	    "g/1",
	    "/1/1",
	    "g/-1/1",
	    "g/1-/1",
	    "g/1--1/1",
	    "g/1/1-1",
	    "g/1/1 ",
	    "g/ 1/1",
	    "g\n/1/1",
	    "\x7f/1/1",
	    "\xff/1/1",
	    "g/1/x",
	    "g/1/1/",
	    "g/+1/1",
	    "g/1/-1",
	    "g/123456789012345678901234567890/123456789012345678901234567890",
	    "g/18446744073709551616-0/1",
	    "g/1-18446744073709551616/1",
	    "g/1/18446744073709551616",
	};
	char topic[DW_TOPIC_MAX + 1], long_one[2 * DW_TOKEN_SIZE];
	const char *own;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (token_split(bad[i], topic, &own))
			fail_msg("\"%s\" is taken for a token", bad[i]);
	memset(long_one, 'g', sizeof long_one);
	memcpy(long_one + DW_TOPIC_MAX + 1, "/1/1", sizeof "/1/1");
	assert_false(token_split(long_one, topic, &own));
	memcpy(long_one + DW_TOPIC_MAX, "/1/1", sizeof "/1/1");
	assert_true(token_split(long_one, topic, &own));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(token_has_a_topic_and_two_numbers),
	    cmocka_unit_test(token_of_another_form_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
