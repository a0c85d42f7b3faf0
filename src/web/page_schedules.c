/* Writes the view Schedules: recurring timers and their next occurrences. */
#include <string.h>

#include "web/page.h"
#include "web/schedules.h"

/* put_occurrence shows a time with a space instead of the 'T': 2026-11-25 09:00:00+01:00. */
static void put_occurrence(struct html *html, const json_t *occurrence, bool is_utc)
{
	const char *local = page_string(occurrence, "local");
	const char *note = page_string(occurrence, "note");

	html_put(html, "<tr><td>");
	html_clock(html, page_integer(occurrence, "occurrence"));
	html_put(html, "</td>");
	if (!is_utc && strlen(local) > 11)
		html_format(html, "<td>%.10s %s", local, local + 11);
	if (*note)
		html_format(html, " <span class=\"dim\">%s</span>", note); /* it is our own text */
	html_put(html, is_utc ? "</tr>\n" : "</td></tr>\n");
}

static void put_occurrences(struct html *html, const json_t *schedule)
{
	const char *zone = page_string(schedule, "zone");
	bool is_utc = strcmp(zone, "UTC") == 0;
	const json_t *occurrence;
	size_t i;

	html_put(html, "<table class=\"times\" aria-label=\"The next times\"><thead><tr>"
		       "<th scope=\"col\">Next");
	/* In a zone each time has its offset. */
	html_put(html, html->zone ? "</th>" : ", in UTC</th>");
	if (!is_utc) {
		html_put(html, "<th scope=\"col\">In <bdi>");
		html_name(html, zone);
		html_put(html, "</bdi></th>");
	}
	html_put(html, "</tr></thead><tbody>\n");
	json_array_foreach(json_object_get(schedule, "occurrences"), i, occurrence)
	{
		put_occurrence(html, occurrence, is_utc);
	}
	html_put(html, "</tbody></table>");
}

/* put_times shows the next occurrences. If this machine cannot read the rule, it shows why. */
static void put_times(struct html *html, const json_t *schedule)
{
	const char *fault = page_string(schedule, "fault");

	if (!*fault) {
		put_occurrences(html, schedule);
		return;
	}
	html_put(html, "<p class=\"bad\">This machine cannot read the rule: <bdi>");
	html_name(html, fault);
	html_put(html, "</bdi></p>");
}

static void put_fact(struct html *html, const char *name, dw_usec time, dw_usec now)
{
	html_format(html, "<dt>%s</dt><dd>", name);
	html_time(html, time, now);
	html_put(html, "</dd>");
}

static void put_schedule(struct html *html, const json_t *schedule, dw_usec now)
{
	const char *id = page_string(schedule, "id");
	dw_usec last = page_integer(schedule, "last");

	html_put(html, "<li class=\"schedule\"><h2><a href=\"/timers?id=");
	html_url(html, id);
	html_zone(html, "&amp;");
	html_put(html, "\"><bdi>");
	html_name(html, id);
	html_put(html, "</bdi></a></h2><p><code><bdi>");
	html_name(html, page_string(schedule, "rule"));
	html_put(html, "</bdi></code></p><dl>");
	put_fact(html, "Due", page_integer(schedule, "due"), now);
	if (last > 0)
		put_fact(html, "Last", last, now);
	html_put(html, "<dt>Topic</dt><dd><bdi>");
	html_name(html, page_string(schedule, "topic"));
	html_put(html, "</bdi></dd></dl>");
	put_times(html, schedule);
	html_put(html, "</li>\n");
}

static bool is_whole(const struct web_page *page)
{
	return json_is_true(json_object_get(page->part, "whole"));
}

static void put_searched(struct html *html, const struct web_page *page)
{
	html_put(html, "The search goes on: ");
	html_count(html, (uint64_t)page_integer(page->part, "searched"));
	html_put(html, " timers so far.");
}

static void put_none(struct html *html, const struct web_page *page)
{
	html_put(html, "<p class=\"none\">");
	if (is_whole(page))
		html_put(html, "No recurring timers. <code>durawheel add --cron</code> or "
			       "<code>--every</code> makes one.");
	else
		put_searched(html, page);
	html_put(html, "</p>\n");
}

/* put_gaps says why the list may be incomplete. */
static void put_gaps(struct html *html, const struct web_page *page)
{
	if (is_whole(page))
		return;
	html_put(html, " ");
	if (json_is_true(json_object_get(page->part, "searching")))
		put_searched(html, page);
	else
		html_format(html, "Only the first %d are shown.", SCHEDULES_MAX);
}

void page_show_schedules(struct html *html, const struct web_page *page)
{
	const json_t *schedules = json_object_get(page->part, "schedules");

	if (!page->part) {
		page_refused(html, page);
		return;
	}
	if (json_array_size(schedules) == 0) {
		put_none(html, page);
		return;
	}
	html_put(html, "<p class=\"lead\">Recurring timers in the order of their deadlines.");
	put_gaps(html, page);
	html_put(html, "</p>\n<ul class=\"schedules\">\n");
	page_rows(html, page, schedules, put_schedule, "</ul>\n");
}
