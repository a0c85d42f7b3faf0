/* The text of settings in a store, which somebody may have damaged by hand. */
#include "topic/settings.h"
#include "support/cmocka.h"

#include <string.h>

#include "durawheel/ended.h"

static int check(const char *text, char *message)
{
	return settings_check_text(text, strlen(text), message);
}

static void damaged_text_is_refused_in_words(void **state)
{
	static const struct {
		const char *text, *words;
	} damaged[] = {{"garbage", "\"garbage\" is not NAME=NUMBER"},
		       {"queue=1 max=50x ver=7", "\"max=50x\" is not NAME=NUMBER"},
		       {"queue=1 max= ver=7", "\"max=\" is not NAME=NUMBER"},
		       {"=1", "\"=1\" is not NAME=NUMBER"},
		       {"max=--1", "\"max=--1\" is not NAME=NUMBER"},
		       {"queue=1\tmax=5", "\"queue=1 max=5\" is not NAME=NUMBER"},
		       {"max=4294967297 queue=1", "max=4294967297 is out of range"},
		       {"keep=99999999999999999999", "keep=99999999999999999999 is out of range"},
		       {"queue=7", "queue is 0 or 1"},
		       {"retries=300", "retries_max is 300: at most 255"},
		       {"\xff=1", "\"?=1\" is not NAME=NUMBER"}};
	char message[DW_MESSAGE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
		assert_int_equal(check(damaged[i].text, message), DW_EINVAL);
		assert_string_equal(message, damaged[i].words);
	}
}

static void text_with_a_nul_or_a_long_word_is_damaged(void **state)
{
	static const char nul[] = "max=5\0 queue=1";
	char message[DW_MESSAGE_SIZE], word[SETTINGS_TEXT_SIZE + 1];

	(void)state;
	assert_int_equal(settings_check_text(nul, sizeof nul - 1, message), DW_EINVAL);
	assert_string_equal(message, "\"max=5...\" is not NAME=NUMBER");
	assert_int_equal(settings_version(nul, sizeof nul - 1), 0);
	memset(word, '0', sizeof word);
	memcpy(word, "max=", 4);
	assert_int_equal(settings_check_text(word, 100, message), DW_EINVAL);
	assert_int_equal(settings_check_text(word, SETTINGS_TEXT_SIZE, message), DW_EINVAL);
	assert_string_equal(message, "they have 1024 bytes: at most 1023");
}

/* A newer durawheel may add words, and change two settings at one time. */
static void sound_text_is_taken(void **state)
{
	static const char *const sound[] = {"",
					    "queue=1 max=5000 ver=1795478400000000",
					    "hide=-1 queue=1",
					    "max=5 ver=7",
					    "future2=99999999999 ver=7",
					    "queue=1 maximum=99999999999 ver=7",
					    "  retries=4294967295  "};
	char message[DW_MESSAGE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof sound / sizeof *sound; i++)
		assert_int_equal(check(sound[i], message), DW_OK);
}

static void damaged_text_has_no_version(void **state)
{
	static const struct {
		const char *text;
		uint64_t version;
	} texts[] = {
	    {"queue=1 ver=17", 17},  {"ver=17 max=5x", 0},        {"queue=1", 0},
	    {"ver=-5", 0},           {"ver=9007199254740993", 0}, {"ver=99999999999999999999", 0},
	    {"retries=300 ver=9", 9}};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(settings_version(texts[i].text, strlen(texts[i].text)),
				 texts[i].version);
}

static void damaged_words_are_not_read(void **state)
{
	static const char text[] = "queue=1 max=50x retries=3";
	dw_topic_settings settings = {.size = sizeof settings};

	(void)state;
	settings_read(&settings, text, strlen(text));
	assert_int_equal(settings.queue, 1);
	assert_int_equal(settings.max, 0);
	assert_int_equal(settings.retries_max, 3);
}

static void greatest_and_smallest_settings_are_taken(void **state)
{
	static const dw_topic_settings good[] = {
	    {.retries_max = 255, .backoff_first_us = DW_DAYS(1), .backoff_max_us = DW_DAYS(30)},
	    {.backoff_factor = 10, .jitter_percent = 100, .limit_us = DW_DAYS(1)},
	    {.keep_us = DW_KEEP_MAX, .paused = DW_PAUSE_DELIVERY | DW_PAUSE_INTAKE},
	    {.retries_max = DW_NO_RETRIES, .jitter_percent = DW_NO_JITTER},
	    {.queue = 1, .max = DW_QUEUE_MAX, .hide_us = DW_HOURS(12)},
	    {.queue = 1, .max = 1, .overflow = DW_REFUSE, .hide_us = DW_SECONDS(1)},
	    {.queue = 1, .expire_us = INT64_MAX, .hide_us = DW_AT_MOST_ONCE},
	};
	char message[DW_MESSAGE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		dw_topic_settings settings = good[i];

		settings.size = sizeof settings;
		assert_int_equal(settings_check(&settings, message), DW_OK);
	}
}

/* Several owners each have a part of a topic's timers. */
static void numbers_of_several_owners_are_added(void **state)
{
	static const char one[] = "pending=3 due=1 oldest=500 started=10 late50=7 waits=4 first=50"
				  " first_ver=9 last=70 last_ver=5";
	static const char other[] =
	    "pending=4 oldest=400 done=2 late50=9 waits=2 last=60 last_ver=8 timed=1"
	    " first=49 first_ver=12";
	dw_topic_info info = {.waiting = 5};

	(void)state;
	numbers_add(&info, one, strlen(one));
	assert_int_equal(info.oldest, 500);
	numbers_add(&info, other, strlen(other));
	numbers_add(&info, "", 0);
	assert_int_equal(info.pending, 7);
	assert_int_equal(info.due, 1);
	assert_int_equal(info.oldest, 400);
	assert_int_equal(info.started, 10);
	assert_int_equal(info.done, 2);
	assert_int_equal(info.late_p50_us, 9);
	assert_int_equal(info.timed, 1);
	assert_int_equal(info.waits, DW_WAITS_HANDLER);
	assert_int_equal(info.unstarted_due, 49);
	assert_int_equal(info.unstarted_generation, 12);
	assert_int_equal(info.started_due, 70);
	assert_int_equal(info.started_generation, 5);
	assert_int_equal(info.waiting, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_of_several_owners_are_added),
	    cmocka_unit_test(damaged_text_is_refused_in_words),
	    cmocka_unit_test(text_with_a_nul_or_a_long_word_is_damaged),
	    cmocka_unit_test(sound_text_is_taken),
	    cmocka_unit_test(damaged_text_has_no_version),
	    cmocka_unit_test(damaged_words_are_not_read),
	    cmocka_unit_test(greatest_and_smallest_settings_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
