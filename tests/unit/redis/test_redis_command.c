/* A command grows with its words, and tells that there is no memory for one. */
#include "redis/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "durawheel/durawheel.h"
#include "support/cmocka.h"

#define WORDS COMMAND_WORDS_MAX

static void words_stay_when_the_command_grows(void **state)
{
	struct redis_command command = {.alloc = alloc_default()};
	char text[24];

	(void)state;
	for (int round = 0; round < 2; round++) {
		command_clear(&command);
		for (int i = 0; i < WORDS; i += 2) {
			command_text(&command, i % 4 ? "text" : "");
			command_number(&command, i % 4 ? i : -i);
		}
		assert_int_equal(command.status, DW_OK);
		assert_int_equal(command.count, WORDS);
		for (int i = 1; i < WORDS; i += 2) {
			int size = snprintf(text, sizeof text, "%d", (i - 1) % 4 ? i - 1 : 1 - i);

			assert_int_equal(command.size[i], size);
			assert_memory_equal(command.word[i], text, (size_t)size);
		}
	}
	command_free(&command);
}

/* some gives as many blocks as *user says. */
static void *some(void *user, void *block, size_t size)
{
	int *left = user;

	if (size == 0) {
		free(block);
		return NULL;
	}
	return (*left)-- > 0 ? realloc(block, size) : NULL;
}

static void command_without_memory_is_not_sent(void **state)
{
	int left = 2;
	struct redis_command command = {.alloc = {.resize = some, .user = &left}};

	(void)state;
	command_clear(&command);
	for (int i = 0; i < 1000; i++)
		command_number(&command, i);
	assert_int_equal(command.status, DW_ENOMEM);
	left = 9;
	command_clear(&command);
	for (int i = 0; i < 1000; i++)
		command_number(&command, i);
	assert_int_equal(command.status, DW_OK);
	assert_int_equal(command.count, 1000);
	left = 0;
	assert_null(command_keep(&command, 100));
	assert_int_equal(command.status, DW_ENOMEM);
	command_clear(&command);
	assert_int_equal(command.status, DW_OK);
	left = 1;
	command_text(&command, memset(command_keep(&command, 100), 0, 100));
	assert_int_equal(command.status, DW_OK);
	command_free(&command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words_stay_when_the_command_grows),
	    cmocka_unit_test(command_without_memory_is_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
