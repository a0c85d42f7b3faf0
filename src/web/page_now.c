/* Writes the views Now and Topics. */
#include <string.h>

#include "web/page.h"
#include "cli/out/members.h"
#include "durawheel/topic.h"

/* ---- Cards ----------------------------------------------------------------------------------- */

/* begin_card begins a card with one number. `key` names the number for programs that read the
 * page. */
static void begin_card(struct html *html, const char *name, const char *key, json_int_t value,
		       const char *kind)
{
	html_format(html, "<div class=\"card\"><dt>%s</dt>", name);
	html_format(html, "<dd class=\"%s\" data-key=\"%s\" data-value=\"%lld\">", kind, key,
		    (long long)value);
}

static void put_count(struct html *html, const char *name, const char *key, json_int_t count,
		      const char *kind)
{
	begin_card(html, name, key, count, count > 0 ? kind : "");
	html_count(html, count > 0 ? (uint64_t)count : 0);
	html_put(html, "</dd></div>\n");
}

/* ---- Now ------------------------------------------------------------------------------------- */

/* is_counted returns true if an owner has counted the timers of the topic. */
static bool is_counted(const json_t *topic)
{
	return json_object_get(topic, "pending") != NULL;
}

static json_int_t sum_of(const json_t *topics, const char *key)
{
	json_int_t sum = 0;
	const json_t *topic;
	size_t i;

	json_array_foreach(topics, i, topic)
	{
		sum += page_integer(topic, key);
	}
	return sum;
}

static void put_next(struct html *html, const struct web_page *page)
{
	json_int_t next = page_integer(page->store, "next_due");

	html_put(html, "<div class=\"card\"><dt>Next due</dt><dd>");
	if (next > page->now)
		html_span(html, next - page->now);
	else
		html_put(html, next > 0 ? "now" : "never");
	html_put(html, "</dd></div>\n");
}

/* put_sum shows the sum of all topics. Without an owner it shows "-", because nobody counts. */
static void put_sum(struct html *html, const struct web_page *page, const char *name,
		    const char *key)
{
	bool has_owner = page_string(page->store, "owner")[0] != '\0';

	if (has_owner) {
		put_count(html, name, key, sum_of(page->part, key),
			  strcmp(key, "due") == 0 ? "warn" : "");
		return;
	}
	html_format(html, "<div class=\"card\"><dt>%s</dt><dd>-</dd></div>\n", name);
}

/* pending_of returns the number of timers that are not due yet. The store counts due timers as
 * pending until they are claimed. The owner counts them as due, like the next card, so the sum of
 * its topics is better. If there are more topics than the answer contains, only the store knows the
 * sum. */
static json_int_t pending_of(const struct web_page *page)
{
	const json_t *topics = page->part;
	size_t count = json_array_size(topics);
	bool has_owner = page_string(page->store, "owner")[0] != '\0';

	if (has_owner && count < DW_TOPICS_MAX && is_counted(json_array_get(topics, 0)))
		return sum_of(topics, "pending");
	return page_integer(page->store, "pending");
}

static void put_timers(struct html *html, const struct web_page *page)
{
	const json_t *store = page->store;
	const json_t *topics = page->part;

	html_put(html, "<h2 class=\"hid\">Timers</h2>\n<dl class=\"cards\">\n");
	put_count(html, "Pending", "pending", pending_of(page), "");
	put_next(html, page);
	put_sum(html, page, "Due, waiting", "due");
	put_sum(html, page, "Running", "running");
	put_count(html, "Messages in queues", "waiting", sum_of(topics, "waiting"), "");
	put_count(html, "Dead letters", "dead", page_integer(store, "dead"), "bad");
	html_put(html, "</dl>\n");
}

static void put_last_error(struct html *html, const struct web_page *page, const json_t *report)
{
	const char *text = page_string(report, "last_error_text");

	html_put(html, "<div><dt>Last error</dt><dd>");
	if (page_integer(report, "last_error") == 0) {
		html_put(html, "none");
	} else {
		html_text(html,
			  *text ? text : dw_strerror((int)page_integer(report, "last_error")));
		html_put(html, ", ");
		html_time(html, page_integer(report, "last_error_at"), page->now);
	}
	html_put(html, "</dd></div>\n");
}

static void put_fact(struct html *html, const char *name, const json_t *report, const char *key)
{
	html_format(html, "<div><dt>%s</dt><dd data-key=\"%s\" data-value=\"%lld\">", name, key,
		    (long long)page_integer(report, key));
	html_count(html, (uint64_t)page_integer(report, key));
	html_put(html, "</dd></div>\n");
}

static void put_owner(struct html *html, const struct web_page *page, const json_t *report)
{
	html_put(html, "<section class=\"rest\"><h2>Since the owner began</h2>\n"
		       "<dl class=\"facts\">\n");
	put_fact(html, "Started", report, "fired");
	put_fact(html, "Done", report, "settled");
	put_fact(html, "Retried", report, "retried");
	put_fact(html, "Later than allowed", report, "late");
	put_fact(html, "After a crash, again", report, "duplicates");
	put_fact(html, "Failures of the store", report, "store_failures");
	html_put(html, "<div><dt>Store answers within</dt><dd>");
	html_span(html, page_integer(report, "store_p99_us"));
	html_put(html, " (p99)</dd></div>\n");
	put_last_error(html, page, report);
	html_put(html, "</dl></section>\n");
}

static void put_node(struct html *html, const json_t *node)
{
	char shards[MEMBERS_SHARDS_SIZE];
	bool is_used = json_is_true(json_object_get(node, "connected"));
	bool is_late = strcmp(page_string(node, "level"), "stored") == 0;

	members_shards(json_object_get(node, "shards"), shards);
	html_put(html, "<tr><th scope=\"row\" class=\"name\">");
	html_name(html, page_string(node, "node"));
	html_put(html, "</th><td>");
	html_put(html, *shards ? shards : "none"); /* digits and commas */
	html_put(html, "</td><td>");
	html_put(html, is_used ? "in use" : "<span class=\"tag warn\">not in use</span> for ");
	if (!is_used)
		html_span(html, page_integer(node, "away_us"));
	if (is_late)
		html_put(html, ", <span class=\"tag warn\">its replicas are late</span>");
	if (*page_string(node, "why")) {
		html_put(html, ": ");
		html_text(html, page_string(node, "why"));
	}
	html_put(html, "</td></tr>\n");
}

/* put_nodes shows the servers of a store that may have several servers. */
static void put_nodes(struct html *html, const struct web_page *page)
{
	const json_t *nodes = json_object_get(page->store, "nodes");
	const json_t *node;
	size_t i;

	if (json_array_size(nodes) == 0)
		return;
	html_put(html, "<h2>Servers</h2>\n<div class=\"scroll\" role=\"region\" "
		       "aria-label=\"Servers\" tabindex=\"0\"><table class=\"nodes\">\n"
		       "<thead><tr><th scope=\"col\">Server</th><th scope=\"col\">Shards</th>"
		       "<th scope=\"col\">State</th></tr></thead>\n<tbody>\n");
	json_array_foreach(nodes, i, node)
	{
		put_node(html, node);
	}
	html_put(html, PAGE_TABLE_END);
}

void page_show_now(struct html *html, const struct web_page *page)
{
	const json_t *report = json_object_get(page->store, "owner_report");

	if (!page->store)
		return;
	put_timers(html, page);
	put_nodes(html, page);
	html_put(html, "<div class=\"boards\">\n");
	page_show_pictures(html, page);
	if (json_is_object(report))
		put_owner(html, page, report);
	html_put(html, "</div>\n");
}

/* ---- Topics ---------------------------------------------------------------------------------- */

static void put_cell(struct html *html, const json_t *topic, const char *key, const char *kind)
{
	json_int_t count = page_integer(topic, key);

	if (strcmp(key, "waiting") != 0 && !is_counted(topic)) {
		html_put(html, "<td class=\"n dim\">-</td>");
		return;
	}
	html_format(html, "<td class=\"n %s\" data-key=\"%s\" data-value=\"%lld\">",
		    count > 0 ? kind : "dim", key, (long long)count);
	html_count(html, count > 0 ? (uint64_t)count : 0);
	html_put(html, "</td>");
}

static void put_span_cell(struct html *html, const json_t *topic, const char *key)
{
	html_put(html, "<td class=\"n\">");
	html_span(html, page_integer(topic, key));
	html_put(html, "</td>");
}

/* put_oldest shows the age of the oldest due timer, or of the oldest message in the queue. */
static void put_oldest(struct html *html, const json_t *topic, dw_usec now)
{
	json_int_t due = page_integer(topic, "oldest");
	json_int_t message = page_integer(topic, "oldest_message");
	json_int_t oldest = due > 0 && (message == 0 || due < message) ? due : message;

	html_put(html, "<td class=\"n\">");
	html_span(html, oldest > 0 ? now - oldest : 0);
	html_put(html, "</td>");
}

static void put_topic_row(struct html *html, const json_t *topic, dw_usec now)
{
	const char *name = page_string(topic, "topic");
	const char *paused = page_string(topic, "paused");
	const char *waits = page_string(topic, "waits");

	html_put(html, "<tr><th scope=\"row\" class=\"name\"><a href=\"/timers?topic=");
	html_url(html, name);
	html_zone(html, "&amp;");
	html_put(html, "\"><bdi>");
	html_name(html, name);
	html_put(html, "</bdi></a>");
	if (json_is_true(json_object_get(topic, "queue")))
		html_put(html, " <span class=\"tag\">queue</span>");
	if (strcmp(paused, "no") != 0 || strcmp(waits, "paused") == 0)
		html_put(html, " <span class=\"tag warn\">paused</span>");
	if (*waits && strcmp(waits, "paused") != 0)
		html_format(html, " <span class=\"tag %s\">waits: %s</span>",
			    strcmp(waits, "batch") == 0 ? "" : "warn", waits);
	html_put(html, "</th>");
	put_cell(html, topic, "pending", "");
	put_cell(html, topic, "due", "warn");
	put_cell(html, topic, "running", "");
	put_cell(html, topic, "waiting", "");
	put_oldest(html, topic, now);
	put_cell(html, topic, "started", "");
	put_cell(html, topic, "done", "");
	put_cell(html, topic, "retried", "");
	put_cell(html, topic, "dead", "bad");
	put_span_cell(html, topic, "late_p50_us");
	put_span_cell(html, topic, "late_p99_us");
	put_span_cell(html, topic, "took_p99_us");
	html_put(html, "</tr>\n");
}

void page_show_topics(struct html *html, const struct web_page *page)
{
	if (!page->part) {
		page_refused(html, page);
		return;
	}
	if (json_array_size(page->part) == 0) {
		html_put(html, "<p class=\"none\">No topic has settings, and no owner tells of "
			       "timers.</p>\n");
		return;
	}
	html_put(
	    html,
	    "<div class=\"scroll\" role=\"region\" aria-label=\"Topics\" tabindex=\"0\">"
	    "<table class=\"topics\">\n<caption><span>The owner tells its numbers every 2 s, or "
	    "every 10 s while it is idle. Counts are since it began.</span></caption>\n"
	    "<thead><tr><th scope=\"col\">Topic</th><th scope=\"col\" class=\"n\">Pending</th>"
	    "<th scope=\"col\" class=\"n\">Due</th><th scope=\"col\" class=\"n\">Running</th>"
	    "<th scope=\"col\" class=\"n\">Queued</th><th scope=\"col\" class=\"n\">Oldest</th>"
	    "<th scope=\"col\" class=\"n\">Started</th><th scope=\"col\" class=\"n\">Done</th>"
	    "<th scope=\"col\" class=\"n\">Retried</th><th scope=\"col\" class=\"n\">Dead</th>"
	    "<th scope=\"col\" class=\"n\">Late p50</th>"
	    "<th scope=\"col\" class=\"n\">Late p99</th>"
	    "<th scope=\"col\" class=\"n\">Handler p99</th></tr></thead>\n<tbody>\n");
	page_rows(html, page, page->part, put_topic_row, PAGE_TABLE_END);
}
