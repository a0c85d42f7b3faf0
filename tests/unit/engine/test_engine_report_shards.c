/* What the owner's report says of shards that the server refuses. */
#include "support/cmocka.h"

#include <stdio.h>
#include <string.h>

#include "engine/call/numbers.h"
#include "engine/report_shards.h"
#include "support/leased.h"

static void assert_reports(const struct harness *h, const char *words)
{
	char report[REPORT_SIZE];

	engine_report(h->engine, report);
	if (!strstr(report, words))
		fail_msg("%s is not in %s", words, report);
}

static void report_names_the_shards_that_are_refused(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);
	char words[256];

	(void)state;
	assert_reports(h, "\"shards\":4,\"shards_owned\":4,\"shards_refused\":0,\"refused\":[]}");
	leased_refuse(&leased, 1);
	harness_turn(h);
	(void)snprintf(words, sizeof words,
		       "\"shards_owned\":3,\"shards_refused\":1,\"refused\":[{\"shard\":1,"
		       "\"since\":%lld,\"why\":\"" LEASED_REFUSAL "\"}]}",
		       (long long)h->wall);
	assert_reports(h, words);
	leased_refuse(&leased, 3);
	leased_tell_shard(&leased, 0, DW_SHARD_FOREIGN);
	harness_turn(h);
	assert_reports(h, "\"shards_owned\":1,\"shards_refused\":2,");
	assert_reports(h, LEASED_REFUSAL "\"},{\"shard\":3,");
	leased_tell_shard(&leased, 0, DW_SHARD_OWNED);
	leased_tell_shard(&leased, 1, DW_SHARD_OWNED);
	leased_tell_shard(&leased, 3, DW_SHARD_OWNED);
	harness_pass(h, DW_SECONDS(1));
	assert_reports(h, "\"shards_owned\":4,\"shards_refused\":0,\"refused\":[]}");
	leased_end(&leased);
}

static void tell_refusal(struct leased *leased, unsigned shard, const char *words)
{
	dw_shard_news news = {.number = shard, .state = DW_SHARD_REFUSED, .status = DW_ESTORE};

	(void)snprintf(news.words, sizeof news.words, "%s", words); /* a long text is cut */
	leased->news[leased->news_count++] = news;
}

/* The words are the server's. Whatever they are, the report is JSON, and it has room. */
static void words_of_a_refusal_stay_inside_of_the_report(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);
	char words[DW_MESSAGE_SIZE];

	(void)state;
	tell_refusal(&leased, 0, "say \"fired\":7\n\\ \xff\x01");
	for (unsigned i = 1; i < LEASED_SHARDS; i++) {
		memset(words, '"', sizeof words - 1);
		words[sizeof words - 1] = '\0';
		tell_refusal(&leased, i, words);
	}
	harness_turn(h);
	assert_reports(h, "\"why\":\"say \\\"fired\\\":7 \\\\ ?\"}");
	assert_reports(h, "{\"shard\":3,");
	assert_reports(h, "\\\"\"}]}");
	leased_end(&leased);
}

/* Of many refused shards only those are named for which there is room. */
static void report_without_room_names_fewer_shards(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);
	char report[REPORT_SIZE], words[DW_MESSAGE_SIZE];
	size_t size;

	(void)state;
	memset(words, '"', sizeof words - 1);
	words[sizeof words - 1] = '\0';
	for (unsigned i = 0; i < LEASED_SHARDS; i++)
		tell_refusal(&leased, i, words);
	harness_turn(h);
	size = report_shards(h->engine, report, REPORT_SIZE - 700);
	assert_true(size + 1 < REPORT_SIZE); /* room for the end */
	assert_int_equal(report[size], '\0');
	assert_non_null(strstr(report + REPORT_SIZE - 700, "\"shards_refused\":4,"));
	assert_string_equal(report + size - 4, "\"\"}]");
	assert_null(strstr(report + REPORT_SIZE - 700, "{\"shard\":1,"));
	leased_end(&leased);
}

/* Who reads the report hears of the refusal within 2 s, even if nothing else changes. */
static void refusal_is_reported_soon(void **state)
{
	struct leased leased;
	struct harness *h = leased_begin_divided(&leased);
	int before;

	(void)state;
	harness_pass(h, DW_SECONDS(30));
	harness_pass(h, DW_SECONDS(3)); /* the last report, of an idle owner, is 3 s old */
	before = leased.asked[DW_OP_REPORT];
	leased_refuse(&leased, 1);
	harness_pass(h, DW_SECONDS(3));
	assert_int_equal(leased.asked[DW_OP_REPORT], before + 1);
	leased_end(&leased);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(report_names_the_shards_that_are_refused),
	    cmocka_unit_test(words_of_a_refusal_stay_inside_of_the_report),
	    cmocka_unit_test(report_without_room_names_fewer_shards),
	    cmocka_unit_test(refusal_is_reported_soon),
	};

	return cmocka_run_group_tests_name("engine_report_shards", tests, NULL, NULL);
}
