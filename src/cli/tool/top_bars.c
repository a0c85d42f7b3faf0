#include <stdio.h>

#include "cli/out/buckets.h"
#include "cli/out/coming.h"
#include "cli/out/plot.h"
#include "cli/tool/top_line.h"

/* A terminal with fewer than ROOM_MIN rows shows bars only if all topics still fit beside them.
 * OTHER_ROWS is the number of the other lines. */
enum { ROOM_MIN = 30, OTHER_ROWS = 12 };

const char *top_count(json_int_t count, char *ret_text, size_t size)
{
	if (count < 1000000)
		(void)snprintf(ret_text, size, "%lld", (long long)(count < 0 ? 0 : count));
	else if (count < 1000000000)
		(void)snprintf(ret_text, size, "%.*fM", count < 10000000 ? 2 : 1,
			       (double)count / 1e6);
	else
		(void)snprintf(ret_text, size, "%.2fG", (double)count / 1e9);
	return ret_text;
}

static const json_t *report_of(const struct top_view *view)
{
	const json_t *report = json_object_get(view->store, "owner_report");

	return json_is_object(report) ? report : NULL;
}

/* has_past returns true if the picture shows the last hour. If `top` prints only one picture, it
 * has no counts of the past. */
static bool has_past(const struct top_view *view)
{
	return view->rows > 0 && report_of(view) && view->history.at != 0;
}

size_t top_bars_rows(const struct top_view *view)
{
	size_t rows =
	    (view->coming ? 2u : 0u) + (report_of(view) ? 1u : 0u) + (has_past(view) ? 2u : 0u);
	size_t others = json_array_size(view->topics) + OTHER_ROWS;

	return view->rows == 0 || view->rows >= ROOM_MIN || others + rows <= view->rows ? rows : 0;
}

/* A row of bars, between a name and a text. */
struct bars {
	enum top_colour colour;
	const char *name, *row, *words;
};

static void put_row(FILE *to, const struct top_view *view, const struct bars *bars)
{
	char line[2 * PLOT_ROW_SIZE + 128];

	(void)snprintf(line, sizeof line, "%-10s%s %s", bars->name, bars->row,
		       bars->words); /* fits */
	top_line(to, view, bars->colour, line);
}

static void put_coming(FILE *to, const struct top_view *view)
{
	json_int_t minutes[COMING_MINUTES], hours[COMING_HOURS];
	json_int_t hour = coming_counts(view->coming, "minutes", minutes, COMING_MINUTES);
	json_int_t day = coming_counts(view->coming, "hours", hours, COMING_HOURS);
	char row[PLOT_ROW_SIZE], count[24], words[64];

	(void)snprintf(words, sizeof words, "%s%s", top_count(hour, count, sizeof count),
		       coming_is_whole(view->coming, DW_HOURS(1)) ? "" : "+");
	(void)plot_row(minutes, COMING_MINUTES, 1, view->has_blocks, row);
	put_row(to, view, &(struct bars){TOP_BARS, "next hour", row, words});
	(void)snprintf(words, sizeof words, "%s%s", top_count(day, count, sizeof count),
		       coming_is_whole(view->coming, DW_DAYS(1)) ? "" : "+");
	(void)plot_row(hours, COMING_HOURS, 2, view->has_blocks, row);
	put_row(to, view, &(struct bars){TOP_BARS, "next day", row, words});
}

static void put_times(FILE *to, const struct top_view *view)
{
	json_int_t late[BUCKETS], took[BUCKETS];
	char row[PLOT_ROW_SIZE], other[PLOT_ROW_SIZE], words[PLOT_ROW_SIZE + 64];

	(void)buckets_of(report_of(view), "lateness_buckets", late);
	(void)buckets_of(report_of(view), "handler_buckets", took);
	(void)snprintf(words, sizeof words, "  ran %s  50us to above 1m",
		       plot_row(took, BUCKETS, 1, view->has_blocks, other));
	(void)plot_row(late, BUCKETS, 1, view->has_blocks, row);
	put_row(to, view, &(struct bars){TOP_BARS, "late", row, words});
}

static void put_past(FILE *to, const struct top_view *view, const char *name,
		     enum history_kind kind)
{
	json_int_t counts[HISTORY_MINUTES];
	json_int_t sum = history_of(&view->history, kind, view->now, counts);
	char row[PLOT_ROW_SIZE], count[24];

	for (size_t i = 0; i < HISTORY_MINUTES; i++) /* unknown minutes count as 0 */
		counts[i] = counts[i] > 0 ? counts[i] : 0;
	(void)plot_row(counts, HISTORY_MINUTES, 1, view->has_blocks, row);
	(void)top_count(sum, count, sizeof count);
	put_row(to, view,
		&(struct bars){kind == HISTORY_FAILED && sum > 0 ? TOP_WARN : TOP_BARS, name, row,
			       count});
}

void top_bars(FILE *to, const struct top_view *view)
{
	if (top_bars_rows(view) == 0)
		return;
	if (view->coming)
		put_coming(to, view);
	if (report_of(view))
		put_times(to, view);
	if (!has_past(view))
		return;
	put_past(to, view, "started", HISTORY_STARTED);
	put_past(to, view, "failed", HISTORY_FAILED);
}
