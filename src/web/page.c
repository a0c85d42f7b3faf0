#include "web/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/objects.h"
#include "cli/out/refused.h"
#include "cli/out/text.h"
#include "durawheel/why.h"

#define SILENT_AFTER DW_SECONDS(30)

static const struct {
	const char *name;
	void (*show)(struct html *, const struct web_page *);
} views[PAGE_VIEWS] = {
    [PAGE_NOW] = {"Now", page_show_now},
    [PAGE_TOPICS] = {"Topics", page_show_topics},
    [PAGE_TIMERS] = {"Timers", page_show_timers},
    [PAGE_DEAD] = {"Dead letters", page_show_dead},
    [PAGE_SCHEDULES] = {"Schedules", page_show_schedules},
};

/* ---- The frame ------------------------------------------------------------------------------- */

static void put_nav(struct html *html, const struct web_page *page)
{
	html_put(html, "<nav aria-label=\"Views\">");
	for (int i = 0; i < PAGE_VIEWS; i++) {
		html_format(html, "<a href=\"%s", page_path((enum page_view)i));
		html_zone(html, "?");
		html_format(html, "\"%s>%s</a>",
			    i == (int)page->view ? " aria-current=\"page\"" : "",
			    i == PAGE_DEAD ? "Dead" : views[i].name);
	}
	html_put(html, "</nav>\n");
}

static void put_head(struct html *html, const struct web_page *page)
{
	html_put(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<link rel=\"icon\" href=\"/icon.svg\">\n<title>");
	html_put(html, views[page->view].name);
	html_put(html, " - ");
	html_text(html, page->name);
	html_put(html, " - durawheel</title>\n<style>");
	html_put(html, asset_page_css);
	html_put(html, "</style>\n</head>\n<body>\n"
		       "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
		       "<header><div class=\"bar\">\n<span class=\"brand\">durawheel<bdi>");
	html_name(html, page->name);
	html_put(html, "</bdi></span>\n");
	put_nav(html, page);
	html_put(html, "<div class=\"live\"><span id=\"live\" role=\"status\">"
		       "<noscript>Without JavaScript: reload for news</noscript></span>"
		       "<button id=\"pause\" type=\"button\" hidden>Pause</button></div>\n"
		       "</div></header>\n<main id=\"main\" tabindex=\"-1\">\n<h1>");
	html_put(html, views[page->view].name);
	html_put(html, "</h1>\n");
}

/* ---- The banner: does anything fire? --------------------------------------------------------- */

struct banner {
	const char *kind, *words;
	char why[640]; /* further text after the words; "" if there is none */
};

/* waiting returns a warning if shards are refused, or if due timers do not start, except when they
 * wait for a batch. Reasons that need somebody's help come before those that pass by themselves. */
static struct banner waiting(const json_t *report, const char *refused)
{
	static const dw_waits reasons[] = {DW_WAITS_STORE, DW_WAITS_HANDLER, DW_WAITS_ZONE,
					   DW_WAITS_SIZE,  DW_WAITS_QUEUE,   DW_WAITS_WORKERS,
					   DW_WAITS_PAUSED};
	struct banner banner = {*refused ? "warn" : "ok", *refused ? "Firing, but " : "Firing", ""};
	const json_t *counts = json_object_get(report, "waits");
	size_t used = (size_t)snprintf(banner.why, sizeof banner.why, "%s", refused); /* fits */

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		json_int_t count = json_integer_value(json_array_get(counts, reasons[i]));

		if (count == 0)
			continue;
		banner.kind = "warn";
		used += (size_t)snprintf(banner.why + used, sizeof banner.why - used,
					 "%s %lld due wait: %s", used > 0 ? ";" : ", but",
					 /* The buffer is large enough. */
					 (long long)count, dw_describe_waits(reasons[i])->cause);
	}
	return banner;
}

static struct banner banner_of(const struct web_page *page)
{
	const json_t *report = json_object_get(page->store, "owner_report");
	char refused[REFUSED_LINE_SIZE];

	refused_line(report, refused);
	if (!page->store || page->old_since)
		return (struct banner){"bad", "The store does not answer", ""};
	if (*page->away)
		return (struct banner){"bad", "The store can be read, but fails every change", ""};
	if (!*page_string(page->store, "owner"))
		return (struct banner){"bad", "Nothing fires: no owner", ""};
	if (page->now - page_integer(page->store, "owner_seen") > SILENT_AFTER)
		return (struct banner){"bad", "The owner is silent: it hangs, or its machine does",
				       ""};
	if (page_integer(report, "unowned") > 0)
		return (struct banner){"bad", "No process takes some shards: their timers wait",
				       ""};
	if (!*refused && json_is_true(json_object_get(report, "recovering")))
		return (struct banner){"warn", "The owner loads its timers", ""};
	return waiting(report, refused);
}

/* put_refused writes since when each refused shard cannot be used, and why. */
static void put_refused(struct html *html, const struct web_page *page)
{
	const json_t *report = json_object_get(page->store, "owner_report"), *shard;
	size_t i;

	json_array_foreach(refused_shards(report), i, shard)
	{
		html_format(html, " Shard %lld, since ", page_integer(shard, "shard"));
		html_time(html, page_integer(shard, "since"), page->now);
		html_put(html, ": ");
		html_text(html, page_string(shard, "why"));
		html_put(html, ".");
	}
}

/* If the numbers below are old, put_old writes the time at which they were read. */
static void put_old(struct html *html, const struct web_page *page)
{
	if (!page->old_since)
		return;
	html_put(html, ". <strong data-key=\"old\">The numbers below are old: they are those of ");
	html_time(html, page->old_since, page->now);
	html_put(html, ".</strong>");
}

/* put_banner marks only the first words as a status for screen readers. The times after them change
 * with each refresh, and would be read out each time. */
static void put_banner(struct html *html, const struct web_page *page)
{
	struct banner banner = banner_of(page);
	const char *owner = page_string(page->store, "owner");
	const char *standby = page_string(page->store, "standby");
	char since[TEXT_SPAN_SIZE];

	html_format(html, "<p class=\"banner %s\" role=\"status\" data-key=\"banner\">",
		    banner.kind);
	html_put(html, banner.words);
	html_put(html, banner.why);
	html_put(html, "</p>\n<p class=\"under\">");
	if (page->store && !page->old_since && *page->away) {
		html_text(html, page->away);
		html_put(html, ". ");
	}
	if (!page->store || page->old_since) {
		html_text(html, *page->away ? page->away : dw_strerror(page->status));
		put_old(html, page);
	} else if (*owner) {
		html_put(html, "Owner <bdi data-key=\"owner\">");
		html_name(html, owner);
		html_put(html, "</bdi>, since ");
		html_clock(html, page_integer(page->store, "owner_since"));
		text_distance(page_integer(page->store, "owner_since"), page->now, since);
		html_format(html, ", %s", since);
		html_format(html, ". Its numbers are %lld s old.",
			    (page->now - page_integer(page->store, "owner_seen")) / DW_SECONDS(1));
		put_refused(html, page);
	} else {
		html_put(html, "Timers stay in the store until an owner runs: <code>durawheel "
			       "run</code>, or your program.");
	}
	if (page->store && *standby && !page->stands_by) {
		html_put(html, " Standby <bdi data-key=\"standby\">");
		html_name(html, standby);
		html_put(html, "</bdi>.");
	}
	if (page->store && page->stands_by)
		html_put(html, *owner ? " This process is a standby: it waits for the store, and "
					"takes over when this owner is gone."
				      : " This process is a standby, and asks for the store.");
	html_put(html, "</p>\n");
}

/* put_zone writes the form in which the user chooses the time zone of the page. */
static void put_zone(struct html *html, const struct web_page *page)
{
	html_format(html, "<form action=\"%s\" method=\"get\" data-keep>\n", page_path(page->view));
	page_input(html, "zone", "Times in (UTC, local, Europe/London)",
		   page->zone ? page->zone_argument : "UTC");
	page_hidden(html, "id", page->id);
	page_hidden(html, "prefix", page->prefix);
	page_hidden(html, "due-from", page->due_from);
	page_hidden(html, "due-before", page->due_before);
	page_hidden(html, "topic", page->topic);
	html_put(html, "<button type=\"submit\">Show</button></form>\n");
}

static void put_foot(struct html *html, const struct web_page *page)
{
	char now[DW_TIME_SIZE];

	dw_format_time(page->now, now);
	html_put(html, "</main>\n<footer>");
	put_zone(html, page);
	html_format(html, "<p>%.10s %.8s UTC, durawheel %s. This page only reads. ", now, now + 11,
		    dw_version());
	html_put(html, "<a href=\"/metrics\">Metrics</a>, <a href=\"/api/v1/status\">JSON</a></p>"
		       "</footer>\n<script>");
	html_put(html, asset_page_js);
	html_put(html, "</script>\n</body>\n</html>\n");
}

/* show_view writes the view. Old numbers are shown as they were then, and in grey. */
static void show_view(struct html *html, const struct web_page *page)
{
	struct web_page then = *page;

	if (!page->old_since) {
		views[page->view].show(html, page);
		return;
	}
	then.now = page->old_since;
	html_put(html, "<div class=\"old\">\n");
	views[page->view].show(html, &then);
	html_put(html, "</div>\n");
}

char *page_write(const struct web_page *page)
{
	struct html html = {.zone = page->zone, .zone_argument = page->zone_argument};

	put_head(&html, page);
	put_banner(&html, page);
	show_view(&html, page);
	put_foot(&html, page);
	if (!html.failed)
		return html.bytes;
	free(html.bytes);
	return NULL;
}
