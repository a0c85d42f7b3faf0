/* Writes the rows of lists, and the views Timers and Dead letters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/text.h"
#include "web/page.h"

enum { DATA_SHOWN = 4096 }; /* in bytes; with escapes the text may be six times as long */

static void put_name_cell(struct html *html, const char *tag, const char *text)
{
	html_format(html, "<%s class=\"name\"%s><bdi>", tag,
		    strcmp(tag, "th") == 0 ? " scope=\"row\"" : "");
	html_name(html, text);
	html_format(html, "</bdi></%s>", tag);
}

static void put_number_cell(struct html *html, const json_t *object, const char *key)
{
	html_put(html, "<td class=\"n\">");
	html_count(html, (uint64_t)page_integer(object, key));
	html_put(html, "</td>");
}

static void put_time_cell(struct html *html, const json_t *object, const char *key, dw_usec now)
{
	html_put(html, "<td>");
	html_time(html, page_integer(object, key), now);
	html_put(html, "</td>");
}

/* put_argument adds an argument to a URL. A '&' follows it. */
static void put_argument(struct html *html, const char *name, const char *value)
{
	if (!*value)
		return;
	html_format(html, "%s=", name);
	html_url(html, value);
	html_put(html, "&amp;");
}

static void put_link(struct html *html, const struct web_page *page, const char *after, size_t skip)
{
	html_format(html, "<p class=\"more\"><a rel=\"next\" href=\"%s?", page_path(page->view));
	put_argument(html, "topic", page->topic);
	put_argument(html, "prefix", page->prefix);
	put_argument(html, "due-from", page->due_from);
	put_argument(html, "due-before", page->due_before);
	put_argument(html, "after", after);
	put_argument(html, "zone", page->zone ? page->zone_argument : "");
	html_format(html, "skip=%zu\">Next</a></p>\n", skip);
}

/* put_rest links to the rows from `next` on. If all rows are shown, it links to the next part of
 * the list. */
static void put_rest(struct html *html, const struct web_page *page, size_t next, bool is_full)
{
	const json_t *behind = json_object_get(page->part, "next");
	char after[64] = "";

	if (page->after.started)
		(void)snprintf(after, sizeof after, "%lld.%llu", (long long)page->after.due,
			       /* The text always fits. */
			       (unsigned long long)page->after.generation);
	if (is_full)
		put_link(html, page, after, next);
	else if (json_is_string(behind))
		put_link(html, page, json_string_value(behind), 0);
	else if (json_is_integer(behind))
		put_link(html, page, "", (size_t)json_integer_value(behind));
}

void page_rows(struct html *html, const struct web_page *page, const json_t *rows,
	       page_row_fn *show, const char *end)
{
	/* For schedules the store's answer begins after the rows that are left out. */
	size_t left_out = page->view == PAGE_SCHEDULES ? page->skip : 0;
	size_t first = page->skip - left_out;
	size_t count = json_array_size(rows);
	size_t i;

	for (i = first; i < count; i++) {
		size_t size = html->size;

		show(html, json_array_get(rows, i), page->now);
		if (i == first || html->size + page_foot_size() <= PAGE_SIZE_MAX)
			continue;
		html_cut(html, size);
		break;
	}
	html_put(html, end);
	put_rest(html, page, left_out + i, i < count);
}

/* put_hint writes a command for the id of the object, as a shell takes it. */
static void put_hint(struct html *html, const char *words, const char *command,
		     const json_t *object)
{
	char word[TEXT_SHELL_SIZE];

	html_put(html, "<p class=\"dim\">");
	html_put(html, words);
	html_format(html, " <code>durawheel %s ", command);
	html_name(html, text_shell_word(page_string(object, "id"), word));
	html_put(html, "</code></p>\n");
}

/* put_beginning writes the text and ends the element <pre>. If the text is long, it writes only the
 * beginning, and cuts no character. */
static void put_beginning(struct html *html, const json_t *object, const char *text)
{
	size_t shown = strlen(text);
	char *part;

	if (shown > DATA_SHOWN)
		for (shown = DATA_SHOWN; shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80;)
			shown--;
	part = strndup(text, shown);
	html_text(html, part ? part : "");
	free(part);
	html_put(html, "</pre>");
	if (text[shown])
		put_hint(html, "This is the beginning. All of it:", "show", object);
}

/* put_data shows the data. The store's answer has it only with --show-data. */
static void put_data(struct html *html, const json_t *object)
{
	const char *text = page_string(object, "data");
	const char *encoded = page_string(object, "data_base64");

	if (!json_object_get(object, "data") && !*encoded)
		return;
	html_format(html, "<div><dt>%s</dt><dd><pre dir=\"auto\">",
		    *encoded ? "Data, as base64" : "Data");
	put_beginning(html, object, *encoded ? encoded : text);
	html_put(html, "</dd></div>\n");
}

/* ---- Timers ---------------------------------------------------------------------------------- */

static void put_search(struct html *html, const struct web_page *page)
{
	html_format(html, "<form action=\"%s\" method=\"get\" role=\"search\" data-keep>\n",
		    page_path(page->view));
	page_input(html, "id",
		   page->view == PAGE_DEAD ? "The letter with the id" : "The timer with the id",
		   page->id);
	page_hidden(html, "zone", page->zone ? page->zone_argument : "");
	if (page->view == PAGE_TIMERS)
		page_input(html, "prefix", "Or ids that begin with", page->prefix);
	page_input(html, "topic", "Of the topic", page->topic);
	if (page->view == PAGE_TIMERS) {
		page_input(html, "due-from", "Due from (now, 9am, 5min)", page->due_from);
		page_input(html, "due-before", "And before", page->due_before);
	}
	html_put(html, "<button type=\"submit\">Search</button></form>\n");
}

static void put_text_fact(struct html *html, const char *name, const char *text)
{
	html_format(html, "<div><dt>%s</dt><dd><bdi>", name);
	html_name(html, text);
	html_put(html, "</bdi></dd></div>\n");
}

static void put_number_fact(struct html *html, const char *name, json_int_t number)
{
	html_format(html, "<div><dt>%s</dt><dd>", name);
	html_count(html, (uint64_t)number);
	html_put(html, "</dd></div>\n");
}

static void put_time_fact(struct html *html, const char *name, dw_usec time, dw_usec now)
{
	html_format(html, "<div><dt>%s</dt><dd>", name);
	html_time(html, time, now);
	html_put(html, "</dd></div>\n");
}

/* put_lateness shows how late the timer started. It shows nothing if the timer never started or its
 * start is unknown. */
static void put_lateness(struct html *html, const json_t *end)
{
	json_int_t due = page_integer(end, "due"), started = page_integer(end, "started");

	if (started <= 0)
		return;
	html_put(html, "<div><dt>Late</dt><dd>");
	html_span(html, started > due ? started - due : 0);
	html_put(html, "</dd></div>\n");
}

static void put_result(struct html *html, const json_t *end)
{
	const char *encoded = page_string(end, "result_base64");

	if (!json_object_get(end, "result") && !*encoded)
		return;
	html_format(html, "<div><dt>%s</dt><dd><pre dir=\"auto\">",
		    *encoded ? "Result, as base64" : "Result");
	put_beginning(html, end, *encoded ? encoded : page_string(end, "result"));
	html_put(html, "</dd></div>\n");
}

/* put_waiting shows what the timer waits for, and what to do. */
static void put_waiting(struct html *html, const struct web_page *page, const json_t *waiting)
{
	const char *detail = page_string(waiting, "detail");
	json_int_t until = page_integer(waiting, "until");

	if (!waiting)
		return;
	html_format(html, "<div><dt>Waits for</dt><dd data-key=\"waits\" data-value=\"%s\"><bdi>",
		    page_string(waiting, "waits")); /* it is one of our own words */
	html_text(html, page_string(waiting, "cause"));
	html_put(html, *detail ? ": " : "");
	html_text(html, detail);
	html_put(html, "</bdi></dd></div>\n");
	if (until > 0)
		put_time_fact(html, "Until", until, page->now);
	if (*page_string(waiting, "owner"))
		put_text_fact(html, "Owner", page_string(waiting, "owner"));
	html_put(html, "<div><dt>What to do</dt><dd>");
	html_text(html, page_string(waiting, "advice"));
	html_put(html, " <code>");
	html_name(html, page_string(waiting, "command"));
	html_put(html, "</code></dd></div>\n");
}

/* put_end shows how a timer ended, in the words of `durawheel show`. */
static void put_end(struct html *html, const struct web_page *page, const json_t *end)
{
	json_int_t attempt = page_integer(end, "attempt");

	html_put(html, "<dl class=\"facts\">\n");
	put_text_fact(html, "Id", page_string(end, "id"));
	put_text_fact(html, "Topic", page_string(end, "topic"));
	put_text_fact(html, "State", page_string(end, "end"));
	put_waiting(html, page, json_object_get(end, "waiting"));
	put_time_fact(html, "Ended", page_integer(end, "at"), page->now);
	if (*page_string(end, "by"))
		put_text_fact(html, "By", page_string(end, "by"));
	if (*page_string(end, "reason"))
		put_text_fact(html, "Reason", page_string(end, "reason"));
	put_time_fact(html, "Was due", page_integer(end, "due"), page->now);
	put_lateness(html, end);
	if (attempt > 0)
		put_number_fact(html, "Attempts", attempt);
	else
		put_text_fact(html, "Attempts", "never started");
	put_number_fact(html, "Retries", page_integer(end, "retries"));
	if (page_integer(end, "until") > 0)
		put_time_fact(html, "Kept until", page_integer(end, "until"), page->now);
	if (*page_string(end, "why"))
		put_text_fact(html, "Why it failed", page_string(end, "why"));
	put_result(html, end);
	html_put(html, "</dl>\n");
	if (page_integer(end, "until") == 0 || json_object_get(end, "letter"))
		put_hint(html, "It is a dead letter. To make a timer of it again:", "dead requeue",
			 end);
}

static void put_timer(struct html *html, const struct web_page *page)
{
	const json_t *timer = page->part;
	const char *why = page_string(timer, "why");
	const char *late_after = page_string(timer, "late_after");
	const json_t *ended = json_object_get(timer, "ended");

	html_put(html, "<dl class=\"facts\">\n");
	put_text_fact(html, "Id", page_string(timer, "id"));
	put_text_fact(html, "Topic", page_string(timer, "topic"));
	put_time_fact(html, "Due", page_integer(timer, "due"), page->now);
	if (*page_string(timer, "rule"))
		put_text_fact(html, "Rule", page_string(timer, "rule"));
	put_text_fact(html, "State", page_string(timer, "state"));
	put_waiting(html, page, json_object_get(timer, "waiting"));
	put_number_fact(html, "Attempts", page_integer(timer, "attempt"));
	put_number_fact(html, "Retries", page_integer(timer, "retries"));
	if (*late_after)
		put_text_fact(html, "Too late after", late_after);
	if (*why)
		put_text_fact(html, "Why it failed", why);
	put_number_fact(html, "Bytes of data", page_integer(timer, "size"));
	put_data(html, timer);
	html_put(html, "</dl>\n");
	if (!ended)
		return;
	html_put(html, "<h2>The end of an earlier timer of this id</h2>\n");
	put_end(html, page, ended);
}

static void put_id(struct html *html, const json_t *object)
{
	const char *id = page_string(object, "id");

	html_put(html, "<tr><th scope=\"row\" class=\"name\"><a href=\"/timers?id=");
	html_url(html, id);
	html_zone(html, "&amp;");
	html_put(html, "\"><bdi>");
	html_name(html, id);
	html_put(html, "</bdi></a>");
}

static void put_timer_row(struct html *html, const json_t *timer, dw_usec now)
{
	put_id(html, timer);
	if (*page_string(timer, "rule"))
		html_put(html, " <span class=\"tag\">recurring</span>");
	html_put(html, "</th>");
	put_time_cell(html, timer, "due", now);
	put_name_cell(html, "td", page_string(timer, "topic"));
	/* It is one of our own words. */
	html_format(html, "<td>%s</td>", page_string(timer, "state"));
	put_number_cell(html, timer, "attempt");
	put_number_cell(html, timer, "retries");
	put_number_cell(html, timer, "size");
	html_put(html, "</tr>\n");
}

/* If the list has not looked at all timers or letters, put_looks writes how far it has come, and
 * returns true. */
static bool put_looks(struct html *html, const struct web_page *page, bool is_timers)
{
	if (!json_is_integer(json_object_get(page->part, "looked_to")))
		return false;
	html_put(html, "<p class=\"none\">Looked at ");
	html_count(html, (uint64_t)page_integer(page->part, "looked"));
	html_put(html, is_timers ? " timers, as far as " : " dead letters");
	if (is_timers)
		html_time(html, page_integer(page->part, "looked_to"), page->now);
	html_put(html, ". Next goes on from there.</p>\n");
	return true;
}

/* If some shards cannot be read, put_lacks writes that their rows are missing, and returns true. */
static bool put_lacks(struct html *html, const struct web_page *page)
{
	bool lacks = json_is_true(json_object_get(page->part, "lacks"));

	if (lacks)
		html_put(html,
			 "<p class=\"none\">Some shards cannot be read now: what they have is "
			 "missing here.</p>\n");
	return lacks;
}

static void put_timer_list(struct html *html, const struct web_page *page)
{
	const json_t *timers = json_object_get(page->part, "timers");

	(void)put_looks(html, page, true);
	(void)put_lacks(html, page); /* the other timers follow */
	if (json_array_size(timers) == 0) {
		html_put(html, "<p class=\"none\">No timers.</p>\n");
		put_rest(html, page, 0, false);
		return;
	}
	html_put(html, "<div class=\"scroll\" role=\"region\" aria-label=\"Timers\" tabindex=\"0\">"
		       "<table class=\"timers\">\n<caption><span>In the order of their deadlines, "
		       "in UTC</span></caption>\n"
		       "<thead><tr><th scope=\"col\">Id</th><th scope=\"col\">Due</th>"
		       "<th scope=\"col\">Topic</th><th scope=\"col\">State</th>"
		       "<th scope=\"col\" class=\"n\">Attempts</th>"
		       "<th scope=\"col\" class=\"n\">Retries</th>"
		       "<th scope=\"col\" class=\"n\">Bytes</th></tr></thead>\n<tbody>\n");
	page_rows(html, page, timers, put_timer_row, PAGE_TABLE_END);
}

/* put_id_link links from a timer to the dead letters of its id, or back. */
static void put_id_link(struct html *html, const char *path, const char *id, const char *words)
{
	html_format(html, "<p class=\"more\"><a href=\"%s?id=", path);
	html_url(html, id);
	html_zone(html, "&amp;");
	html_format(html, "\">%s</a></p>\n", words);
}

void page_show_timers(struct html *html, const struct web_page *page)
{
	put_search(html, page);
	if (json_object_get(page->part, "end")) {
		put_end(html, page, page->part);
	} else if (page->part && *page->id) {
		put_timer(html, page);
	} else if (page->part) {
		put_timer_list(html, page);
	} else if (page->part_status == DW_ENOENT) {
		html_put(html, "<p class=\"none\">There is no timer, and no dead letter, <bdi>");
		html_name(html, page->id);
		html_put(html,
			 "</bdi>: it never was, or its end is not kept. <code>durawheel topic "
			 "set TOPIC --keep 7d</code> keeps the ends of timers. A message of a "
			 "queue is not found by its id.</p>\n");
	} else {
		page_refused(html, page);
	}
	if (page->part && *page->id)
		put_id_link(html, "/dead", page->id, "The dead letter of this id, if there is one");
}

/* ---- Dead letters ---------------------------------------------------------------------------- */

static void put_letter_row(struct html *html, const json_t *letter, dw_usec now)
{
	const char *why = page_string(letter, "why");

	put_id(html, letter);
	html_put(html, "</th>");
	put_time_cell(html, letter, "at", now);
	put_name_cell(html, "td", page_string(letter, "topic"));
	html_put(html, "<td class=\"name\">");
	html_put(html, page_string(letter, "reason")); /* it is one of our own words */
	if (*why) {
		html_put(html, ": <bdi>");
		html_name(html, why);
		html_put(html, "</bdi>");
	}
	html_put(html, "</td>");
	put_time_cell(html, letter, "due", now);
	put_number_cell(html, letter, "attempt");
	put_number_cell(html, letter, "size");
	html_put(html, "</tr>\n");
}

void page_show_dead(struct html *html, const struct web_page *page)
{
	const json_t *letters = json_object_get(page->part, "letters");
	char word[TEXT_SHELL_SIZE];
	bool lacks;

	put_search(html, page);
	if (page->part_status == DW_ENOENT) {
		html_put(html, "<p class=\"none\">There is no dead letter <bdi>");
		html_name(html, page->id);
		html_put(html, "</bdi>.</p>\n");
		put_id_link(html, "/timers", page->id, "The timer of this id, if there is one");
		return;
	}
	if (!page->part) {
		page_refused(html, page);
		return;
	}
	lacks = put_looks(html, page, false);
	lacks |= put_lacks(html, page);
	if (json_array_size(letters) == 0) {
		if (!lacks)
			html_put(html, "<p class=\"none\">No dead letters: everything could be "
				       "delivered.</p>\n");
		put_rest(html, page, 0, false);
		return;
	}
	html_put(html, "<div class=\"scroll\" role=\"region\" aria-label=\"Dead letters\" "
		       "tabindex=\"0\"><table class=\"dead\">\n<caption><span>The oldest first. "
		       "To deliver the first one again: <code>durawheel dead requeue <bdi>");
	html_name(html,
		  text_shell_word(page_string(json_array_get(letters, page->skip), "id"), word));
	html_put(html, "</bdi></code></span></caption>\n"
		       "<thead><tr><th scope=\"col\">Id</th><th scope=\"col\">Set aside</th>"
		       "<th scope=\"col\">Topic</th><th scope=\"col\">Reason</th>"
		       "<th scope=\"col\">Was due</th><th scope=\"col\" class=\"n\">Attempts</th>"
		       "<th scope=\"col\" class=\"n\">Bytes</th></tr></thead>\n<tbody>\n");
	page_rows(html, page, letters, put_letter_row, PAGE_TABLE_END);
}
