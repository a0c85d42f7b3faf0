/* The reports of several peers become one. */
#include "support/cmocka.h"

#include <string.h>

#include "store/reports.h"

static const uint64_t no_shards[REPORTS_WORDS];

static void expect(const struct report_sum *sum, const char *words)
{
	char text[REPORTS_SIZE];

	reports_write(sum, 16, text);
	if (!strstr(text, words))
		fail_msg("%s is not in %s", words, text);
}

static void numbers_are_added_or_the_largest_is_taken(void **state)
{
	static const uint64_t low[REPORTS_WORDS] = {0xff}, high[REPORTS_WORDS] = {0x7f00};
	struct report_sum sum = {0};

	(void)state;
	reports_add(&sum,
		    "{\"timers\":5,\"fired\":10,\"store_p99_us\":7,\"recovering\":false,"
		    "\"lateness_p99_us\":20,\"lateness_buckets\":[1,2,3],\"waits\":[0,4]}",
		    low);
	reports_add(&sum,
		    "{\"timers\":6,\"fired\":20,\"store_p99_us\":9,\"recovering\":true,"
		    "\"lateness_p99_us\":10,\"lateness_buckets\":[10,20,30],\"waits\":[1,0]}",
		    high);
	expect(&sum, "{\"timers\":11,");
	expect(&sum, ",\"fired\":30,");
	expect(&sum, ",\"store_p99_us\":9,");
	expect(&sum, ",\"recovering\":true,");
	expect(&sum, ",\"lateness_p99_us\":20,");
	expect(&sum, ",\"lateness_buckets\":[11,22,33],");
	expect(&sum, ",\"waits\":[1,4]");
	expect(&sum, ",\"peers\":2,\"owners\":2,\"shards\":16,\"shards_owned\":15,"
		     "\"shards_refused\":0,\"shards_free\":1,\"refused\":[]}");
}

static void only_counters_of_a_peer_that_has_left_count(void **state)
{
	struct report_sum sum = {0};

	(void)state;
	reports_add_left(&sum, "{\"timers\":5,\"fired\":10,\"rest\":[1,2],\"waits\":[3]}");
	reports_add(&sum, "", no_shards);
	expect(&sum, "{\"timers\":0,");
	expect(&sum, ",\"fired\":10,");
	expect(&sum, ",\"rest\":[1,2],\"waits\":[],\"peers\":1,\"owners\":0,");
}

static void the_last_error_is_shown(void **state)
{
	struct report_sum sum = {0};

	(void)state;
	reports_add(&sum, "{\"last_error\":5,\"last_error_text\":\"old\",\"last_error_at\":100}",
		    no_shards);
	reports_add(&sum,
		    "{\"last_error\":6,\"last_error_text\":\"a \\\"b\\\"\",\"last_error_at\":200}",
		    no_shards);
	reports_add(&sum, "{\"last_error\":0,\"last_error_text\":\"\",\"last_error_at\":0}",
		    no_shards);
	expect(&sum,
	       ",\"last_error\":6,\"last_error_text\":\"a \\\"b\\\"\",\"last_error_at\":200,");
}

/* Two peers may be refused one shard. A shard that is refused is not owned. */
static void shards_that_are_refused_are_counted_once(void **state)
{
	static const uint64_t most[REPORTS_WORDS] = {0xfffe};
	struct report_sum sum = {0};

	(void)state;
	reports_add(&sum,
		    "{\"shards_refused\":2,\"refused\":[{\"shard\":0,\"since\":5,\"why\":\"no "
		    "\\\"right\\\"\"},{\"shard\":3,\"since\":6,\"why\":\"\"}]}",
		    most);
	reports_add(&sum,
		    "{\"shards_refused\":1,\"refused\":[{\"shard\":0,\"since\":7,\"why\":\"x\"}]}",
		    no_shards);
	expect(&sum, ",\"shards_owned\":14,\"shards_refused\":2,\"shards_free\":0,"
		     "\"refused\":[{\"shard\":0,\"since\":5,\"why\":\"no \\\"right\\\"\"},"
		     "{\"shard\":3,\"since\":6,\"why\":\"\"}]}");
}

/* What is refused to one peer, and used by another one, is not refused. */
static void shards_that_another_peer_uses_are_not_refused(void **state)
{
	static const uint64_t few[REPORTS_WORDS] = {0x00ff}, others[REPORTS_WORDS] = {0xff00};
	struct report_sum sum = {0};

	(void)state;
	reports_add(&sum,
		    "{\"shards_refused\":2,\"refused\":[{\"shard\":12,\"since\":5,\"why\":\"no\"},"
		    "{\"shard\":3,\"since\":6,\"why\":\"\"}]}",
		    few);
	reports_add(&sum, "{\"shards_refused\":0,\"refused\":[]}", others);
	expect(&sum, ",\"shards_owned\":15,\"shards_refused\":1,\"shards_free\":0,"
		     "\"refused\":[{\"shard\":3,\"since\":6,\"why\":\"\"}]}");
}

static void words_are_read_as_they_were(void **state)
{
	char words[8];

	(void)state;
	reports_words("{\"busy\":3,\"topics\":\"a \\\"b\\\\\",\"x\":1}", "topics", words, 8);
	assert_string_equal(words, "a \"b\\");
	reports_words("{\"topics\":\"0123456789\"}", "topics", words, 8);
	assert_string_equal(words, "0123456");
	reports_words("{}", "topics", words, 8);
	assert_string_equal(words, "");
	assert_int_equal(reports_number("{\"share\":12,\"x\":true}", "share"), 12);
	assert_int_equal(reports_number("{\"share\":12,\"x\":true}", "x"), 1);
	assert_int_equal(reports_number("", "x"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_are_added_or_the_largest_is_taken),
	    cmocka_unit_test(only_counters_of_a_peer_that_has_left_count),
	    cmocka_unit_test(the_last_error_is_shown),
	    cmocka_unit_test(shards_that_are_refused_are_counted_once),
	    cmocka_unit_test(shards_that_another_peer_uses_are_not_refused),
	    cmocka_unit_test(words_are_read_as_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
