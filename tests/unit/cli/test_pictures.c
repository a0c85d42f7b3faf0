/* What the pictures of the command and of its page are made of: the bounds of the histograms, the
 * last hour, and the bars. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/buckets.h"
#include "cli/out/coming.h"
#include "cli/out/history.h"
#include "durawheel/metrics.h"
#include "support/cmocka.h"
#include "support/seen.h"
#include "web/picture.h"

#define NOON ((dw_usec)1795478400 * DW_SECONDS(1)) /* the beginning of a minute */

/* ---- Buckets --------------------------------------------------------------------------------- */

static dw_verdict done(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	(void)user;
	return DW_DONE;
}

/* The library tells the counts without their bounds, which only the metrics name. */
static void buckets_have_the_bounds_of_the_metrics(void **state)
{
	dw *d = open_store("memory:", DW_OWNER);
	static char text[1 << 19];
	const char *at = text;
	size_t bucket = 0;

	(void)state;
	assert_int_equal(dw_on(d, "t", done, NULL), DW_OK);
	assert_int_equal(dw_metrics(d, text, sizeof text, NULL), DW_OK);
	while ((at = strstr(at, "durawheel_lateness_seconds_bucket{le=\""))) {
		at += strlen("durawheel_lateness_seconds_bucket{le=\"");
		if (strncmp(at, "+Inf", 4) == 0)
			assert_int_equal(bucket_end(bucket), DW_NEVER);
		else
			assert_int_equal(bucket_end(bucket),
					 (dw_usec)(strtod(at, NULL) * 1e6 + 0.5));
		bucket++;
	}
	assert_int_equal(bucket, BUCKETS);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
}

static void bucket_is_told_in_words(void **state)
{
	static const char *const words[] = {"up to 50us", "50us to 100us"};
	char text[BUCKET_WORDS_SIZE];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bucket_words(i, text);
		assert_string_equal(text, words[i]);
	}
	bucket_words(BUCKETS - 1, text);
	assert_string_equal(text, "above 1m");
}

/* ---- The last hour --------------------------------------------------------------------------- */

static void note(struct history *history, dw_usec after, int fired, int settled, int failed)
{
	json_t *report = json_pack("{s:i, s:i, s:i, s:i}", "fired", fired, "settled", settled,
				   "retried", failed, "dead", 0);

	history_note(history, NOON + after, DW_DAYS(1) + after, report);
	json_decref(report);
}

static json_int_t started(const struct history *history, dw_usec after, json_int_t *minutes)
{
	return history_of(history, HISTORY_STARTED, NOON + after, minutes);
}

static void history_counts_the_growth_of_each_minute(void **state)
{
	json_int_t minutes[HISTORY_MINUTES];
	struct history history = {0};

	(void)state;
	assert_int_equal(started(&history, 0, minutes), 0);
	assert_int_equal(minutes[59], HISTORY_UNKNOWN);
	note(&history, 0, 1000, 900, 3); /* what was before is not known */
	note(&history, DW_SECONDS(15), 1005, 903, 4);
	note(&history, DW_SECONDS(59), 1006, 906, 4);
	note(&history, DW_SECONDS(74), 1016, 906, 5);
	note(&history, DW_SECONDS(150), 1017, 906, 5);
	assert_int_equal(started(&history, DW_SECONDS(150), minutes), 17);
	assert_int_equal(minutes[56], HISTORY_UNKNOWN);
	assert_int_equal(minutes[57], 6);
	assert_int_equal(minutes[58], 10);
	assert_int_equal(minutes[59], 1);
	assert_int_equal(history_of(&history, HISTORY_DONE, NOON, minutes), 6);
	assert_int_equal(history_of(&history, HISTORY_FAILED, NOON + DW_SECONDS(150), minutes), 2);
	/* An hour later only the minute of the last note is left, and then none. */
	assert_int_equal(started(&history, DW_MINUTES(61), minutes), 1);
	assert_int_equal(minutes[0], 1);
	assert_int_equal(started(&history, DW_MINUTES(62), minutes), 0);
}

static void history_begins_again_with_another_owner(void **state)
{
	json_int_t minutes[HISTORY_MINUTES];
	struct history history = {0};

	(void)state;
	note(&history, 0, 1000, 900, 0);
	note(&history, DW_SECONDS(10), 4, 3, 0); /* it has counted these since it began */
	assert_int_equal(started(&history, 0, minutes), 4);
	history_note(&history, NOON + DW_SECONDS(20), DW_DAYS(1) + DW_SECONDS(20), NULL);
	note(&history, DW_SECONDS(30), 6, 3, 0); /* there was no owner in between */
	assert_int_equal(started(&history, 0, minutes), 10);
}

static void history_has_gaps_where_nobody_could_ask(void **state)
{
	json_int_t minutes[HISTORY_MINUTES];
	struct history history = {0};

	(void)state;
	note(&history, 0, 10, 0, 0);
	note(&history, DW_SECONDS(10), 12, 0, 0);
	note(&history, DW_MINUTES(3), 500, 0, 0); /* nobody knows when these started */
	note(&history, DW_MINUTES(4), 501, 0, 0);
	assert_int_equal(started(&history, DW_MINUTES(4), minutes), 3);
	assert_int_equal(minutes[55], 2);
	assert_int_equal(minutes[56], HISTORY_UNKNOWN);
	assert_int_equal(minutes[57], HISTORY_UNKNOWN);
	assert_int_equal(minutes[58], 0);
	assert_int_equal(minutes[59], 1);
	/* The clock is set back, and then to a time before 1970. */
	history_note(&history, NOON - DW_HOURS(5), DW_DAYS(1) + DW_MINUTES(5), NULL);
	assert_int_equal(started(&history, -DW_HOURS(5), minutes), 0);
	assert_int_equal(minutes[58], HISTORY_UNKNOWN);
	assert_int_equal(minutes[59], 0);
	history_note(&history, 0, DW_DAYS(2), NULL);
	assert_int_equal(started(&history, -NOON, minutes), 0);
}

/* ---- What comes due -------------------------------------------------------------------------- */

static void coming_has_the_minutes_in_its_first_hour(void **state)
{
	uint64_t counts[COMING_MINUTES + COMING_HOURS - 1];
	dw_due_counts due = {.size = sizeof due,
			     .from = NOON,
			     .counts = counts,
			     .count = sizeof counts / sizeof *counts,
			     .whole_to = NOON + DW_HOURS(2)};
	json_int_t minutes[COMING_MINUTES], hours[COMING_HOURS];
	json_t *coming;

	(void)state;
	for (size_t i = 0; i < due.count; i++)
		counts[i] = i;
	coming = coming_object(&due);
	assert_int_equal(coming_counts(coming, "minutes", minutes, COMING_MINUTES), 1770);
	assert_int_equal(coming_counts(coming, "hours", hours, COMING_HOURS), 1770 + 23 * 71);
	assert_int_equal(minutes[59], 59);
	assert_int_equal(hours[0], 1770);
	assert_int_equal(hours[1], 60);
	assert_int_equal(hours[23], 82);
	assert_true(coming_is_whole(coming, DW_HOURS(2)));
	assert_false(coming_is_whole(coming, DW_DAYS(1)));
	json_decref(coming);
	assert_int_equal(coming_counts(NULL, "minutes", minutes, COMING_MINUTES), 0);
}

/* ---- Bars ------------------------------------------------------------------------------------ */

static void put_label(struct html *html, const struct picture *picture, size_t i)
{
	(void)picture;
	html_format(html, "L%zu", i);
}

static void bars_are_as_high_as_their_numbers(void **state)
{
	static const json_int_t values[] = {0, 1, 500, PICTURE_UNKNOWN, PICTURE_UNKNOWN, 1000000};
	static const char *const parts[] = {
	    "<rect x=1 y=975 height=25><title>L1: 1</title></rect>",
	    "<path class=\"gap\" d=\"M3 0H5V1000H3\">",
	    "<rect x=5 y=0 height=1000><title>L5: 1,000,000</title></rect>",
	    "<desc id=\"k_d\">At most 1,000,000: L5. Not known: 2 of 6.",
	    "L0<td>0<tr>",
	    "L4<td>not known<tr>",
	};
	struct picture picture = {.key = "k",
				  .title = "T",
				  .where = "Where",
				  .what = "What",
				  .kind = "due",
				  .none = "None",
				  .values = values,
				  .count = 6,
				  .label = put_label};
	struct html html = {0};

	(void)state;
	picture_begin(&html, &picture);
	picture_end(&html, &picture);
	assert_non_null(html.bytes);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(html.bytes, parts[i]))
			fail_msg("%s is not in %s", parts[i], html.bytes);
	assert_null(strstr(html.bytes, "x=0"));
	free(html.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buckets_have_the_bounds_of_the_metrics),
	    cmocka_unit_test(bucket_is_told_in_words),
	    cmocka_unit_test(history_counts_the_growth_of_each_minute),
	    cmocka_unit_test(history_begins_again_with_another_owner),
	    cmocka_unit_test(history_has_gaps_where_nobody_could_ask),
	    cmocka_unit_test(coming_has_the_minutes_in_its_first_hour),
	    cmocka_unit_test(bars_are_as_high_as_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
