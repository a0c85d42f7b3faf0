/* Writes the pictures of the view Now: what comes due, the times of handlers, and what has happened
 * in the last hour. */
#include <string.h>

#include "cli/out/buckets.h"
#include "cli/out/coming.h"
#include "web/page.h"
#include "web/picture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Labels ---------------------------------------------------------------------------------- */

/* put_hour writes the hour and the minute of a time in the page's zone, like 10:05. */
static void put_hour(struct html *html, dw_usec time)
{
	char text[LOCAL_TEXT_SIZE];

	local_show(html->zone, time, text);
	html_format(html, "%.5s", text + 11);
}

static void label_minute(struct html *html, const struct picture *picture, size_t i)
{
	put_hour(html, picture->from + DW_MINUTES((dw_usec)i));
}

static void label_hour(struct html *html, const struct picture *picture, size_t i)
{
	put_hour(html, picture->from + DW_HOURS((dw_usec)i));
}

static void label_bucket(struct html *html, const struct picture *picture, size_t i)
{
	char words[BUCKET_WORDS_SIZE];

	(void)picture;
	bucket_words(i, words);
	html_put(html, words);
}

/* ---- What comes due -------------------------------------------------------------------------- */

/* put_total writes a sum. "20,000+" means that there may be more. */
static void put_total(struct html *html, const char *key, json_int_t total, bool is_whole)
{
	html_format(html, "<strong data-key=\"%s\" data-value=\"%lld\">", key, (long long)total);
	html_count(html, (uint64_t)total);
	html_put(html, is_whole ? "</strong>" : "+</strong>");
}

static void put_coming_hour(struct html *html, const struct web_page *page)
{
	static const char *const axis[] = {"now", "15 min", "30 min", "45 min", "1 h"};
	json_int_t minutes[COMING_MINUTES];
	json_int_t sum = coming_counts(page->coming, "minutes", minutes, COMING_MINUTES);
	const struct picture picture = {.key = "next_minutes",
					.title = "In the next hour",
					.where = "Due from",
					.has_times = true,
					.what = "Timers",
					.kind = "due",
					.none = "Nothing comes due",
					.values = minutes,
					.count = COMING_MINUTES,
					.axis = axis,
					.axis_count = COUNT(axis),
					.label = label_minute,
					.from = page_integer(page->coming, "from")};

	picture_begin(html, &picture);
	html_put(html, "<p>");
	put_total(html, "next_hour", sum, coming_is_whole(page->coming, DW_HOURS(1)));
	html_put(html, " timers, ");
	put_total(html, "next_minute", minutes[0], coming_is_whole(page->coming, DW_MINUTES(1)));
	html_put(html, " in the next minute</p>");
	picture_end(html, &picture);
}

static void put_coming_day(struct html *html, const struct web_page *page)
{
	static const char *const axis[] = {"now", "6 h", "12 h", "18 h", "24 h"};
	json_int_t hours[COMING_HOURS];
	json_int_t sum = coming_counts(page->coming, "hours", hours, COMING_HOURS);
	const struct picture picture = {.key = "next_hours",
					.title = "In the next day",
					.where = "Due from",
					.has_times = true,
					.what = "Timers",
					.kind = "due",
					.none = "Nothing comes due",
					.values = hours,
					.count = COMING_HOURS,
					.axis = axis,
					.axis_count = COUNT(axis),
					.label = label_hour,
					.from = page_integer(page->coming, "from")};
	bool is_whole = coming_is_whole(page->coming, DW_DAYS(1));

	picture_begin(html, &picture);
	html_put(html, "<p>");
	put_total(html, "next_day", sum, is_whole);
	html_put(html, " timers");
	if (!is_whole) {
		html_put(html, ", counted as far as ");
		html_clock(html, page_integer(page->coming, "whole_to"));
	}
	html_put(html, "</p>");
	picture_end(html, &picture);
}

/* ---- The times of handlers ------------------------------------------------------------------- */

struct times {
	const char *key, *title, *buckets, *p50, *p99, *max;
};

static void put_span(struct html *html, const char *name, const json_t *report, const char *key)
{
	json_int_t span = page_integer(report, key);

	html_format(html, "%s <strong data-key=\"%s\" data-value=\"%lld\">", name, key,
		    (long long)span);
	html_span(html, span);
	html_put(html, "</strong>");
}

static void put_times(struct html *html, const json_t *report, const struct times *times)
{
	static const char *const axis[] = {"500us", "10ms", "250ms", "5s", "longer"};
	json_int_t counts[BUCKETS];
	const struct picture picture = {.key = times->key,
					.title = times->title,
					.where = "Time",
					.what = "Handlers",
					.kind = "times",
					.none = "No handler has started",
					.values = counts,
					.count = BUCKETS,
					.axis = axis,
					.axis_count = COUNT(axis),
					.label = label_bucket};

	(void)buckets_of(report, times->buckets, counts);
	picture_begin(html, &picture);
	html_put(html, "<p>");
	put_span(html, "p50", report, times->p50);
	put_span(html, ", p99", report, times->p99);
	put_span(html, ", longest", report, times->max);
	html_put(html, "</p>");
	picture_end(html, &picture);
}

/* ---- The last hour --------------------------------------------------------------------------- */

struct past {
	const char *key, *title, *kind, *none;
	enum history_kind of;
	enum rate rates[2]; /* the second rate may be the same as the first */
	const char *names[2];
};

static void put_rate(struct html *html, const struct web_page *page, enum rate rate,
		     const char *name)
{
	double value;

	html_put(html, ", ");
	if (rates_of(page->rates, rate, &value))
		html_format(html, value < 10 ? "%.1f/s" : "%.0f/s", value);
	else
		html_put(html, "-");
	html_put(html, name);
}

/* If not all minutes are known, put_since writes since when they are known. */
static void put_since(struct html *html, const json_int_t *counts, dw_usec from)
{
	dw_usec i = 0;

	while (i < HISTORY_MINUTES && counts[i] == HISTORY_UNKNOWN)
		i++;
	if (i == 0 || i == HISTORY_MINUTES)
		return;
	html_put(html, " since ");
	put_hour(html, from + DW_MINUTES(i));
}

static void put_past(struct html *html, const struct web_page *page, const struct past *past)
{
	static const char *const axis[] = {"1 h ago", "30 min ago", "now"};
	json_int_t counts[HISTORY_MINUTES];
	json_int_t sum = history_of(page->history, past->of, page->now, counts);
	const struct picture picture = {.key = past->key,
					.title = past->title,
					.where = "Minute",
					.has_times = true,
					.what = "Number",
					.kind = past->kind,
					.none = past->none,
					.values = counts,
					.count = HISTORY_MINUTES,
					.axis = axis,
					.axis_count = COUNT(axis),
					.label = label_minute,
					.from = page->now - page->now % DW_MINUTES(1) -
						DW_MINUTES(HISTORY_MINUTES - 1)};

	picture_begin(html, &picture);
	html_put(html, "<p>");
	put_total(html, past->key, sum, true);
	put_since(html, counts, picture.from);
	put_rate(html, page, past->rates[0], past->names[0]);
	if (past->rates[1] != past->rates[0])
		put_rate(html, page, past->rates[1], past->names[1]);
	html_put(html, "</p>");
	picture_end(html, &picture);
}

/* ---- All ------------------------------------------------------------------------------------- */

static void begin_board(struct html *html, const char *size, const char *title)
{
	html_format(html, "<section class=\"%s\"><h2>%s</h2>\n<div class=\"pictures\">\n", size,
		    title);
}

static void end_board(struct html *html)
{
	html_put(html, "</div></section>\n");
}

void page_show_pictures(struct html *html, const struct web_page *page)
{
	static const struct times late = {"late",
					  "How late they start",
					  "lateness_buckets",
					  "lateness_p50_us",
					  "lateness_p99_us",
					  "lateness_max_us"};
	static const struct times took = {"took",           "How long they run", "handler_buckets",
					  "handler_p50_us", "handler_p99_us",    "handler_max_us"};
	static const struct past pasts[] = {
	    {"started",
	     "Started",
	     "due",
	     "No handler has started",
	     HISTORY_STARTED,
	     {RATE_STARTED, RATE_STARTED},
	     {" in the last minute", ""}},
	    {"ended",
	     "Done",
	     "done",
	     "Nothing was done",
	     HISTORY_DONE,
	     {RATE_DONE, RATE_DONE},
	     {" in the last minute", ""}},
	    {"failed",
	     "Failed",
	     "failed",
	     "Nothing has failed",
	     HISTORY_FAILED,
	     {RATE_RETRIED, RATE_DEAD},
	     {" retried", " dead"}},
	};
	const json_t *report = json_object_get(page->store, "owner_report");

	if (page->coming) {
		begin_board(html, "half", "Coming due");
		put_coming_hour(html, page);
		put_coming_day(html, page);
		end_board(html);
	}
	if (!json_is_object(report))
		return;
	begin_board(html, "half", "Handlers since the owner began");
	put_times(html, report, &late);
	put_times(html, report, &took);
	end_board(html);
	begin_board(html, "most", "In the last hour");
	for (size_t i = 0; i < COUNT(pasts); i++)
		put_past(html, page, &pasts[i]);
	end_board(html);
}
