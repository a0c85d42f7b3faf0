#include "cli/tool/top_picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/refused.h"
#include "cli/out/text.h"
#include "cli/tool/top_line.h"

#define SILENT_AFTER DW_SECONDS(30)
#define GROUPED_SIZE 32 /* the buffer for the largest number with its commas */
#define HEAD_ROWS 9     /* the rows beside topics, an error message, and refused shards */
#define WIDE 100        /* the number of columns that the whole table needs */

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *words(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static const char *span_text(json_int_t span, char *ret_text)
{
	if (span <= 0)
		(void)snprintf(ret_text, TEXT_SPAN_SIZE, "-");
	else
		text_span(span, 1, ret_text);
	return ret_text;
}

/* grouped_text writes a number with commas between groups of three digits, like 22,528. */
static void grouped_text(json_int_t count, char ret_text[GROUPED_SIZE])
{
	char digits[GROUPED_SIZE];
	size_t size, used = 0;

	(void)snprintf(digits, sizeof digits, "%lld", (long long)(count < 0 ? 0 : count));
	size = strlen(digits);
	for (size_t i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			ret_text[used++] = ',';
		ret_text[used++] = digits[i];
	}
	ret_text[used] = '\0';
}

/* ---- The head ------------------------------------------------------------------------------ */

static bool has_fault(const struct top_view *view)
{
	return view->away[0] || view->status != DW_OK;
}

/* put_fault prints why the store does not answer, if that is so. */
static void put_fault(FILE *to, const struct top_view *view)
{
	char line[DW_MESSAGE_SIZE];

	if (view->away[0])
		(void)snprintf(line, sizeof line, "%s", view->away);
	else
		(void)snprintf(line, sizeof line, "the store does not answer: %s",
			       dw_strerror(view->status));
	if (has_fault(view))
		top_line(to, view, TOP_BAD, line);
}

static bool has_refused(const struct top_view *view)
{
	return number(json_object_get(view->store, "owner_report"), "shards_refused") > 0;
}

/* put_refused prints which shards the owner cannot use, and why it cannot use the first of them. */
static void put_refused(FILE *to, const struct top_view *view)
{
	const json_t *report = json_object_get(view->store, "owner_report");
	const json_t *first = json_array_get(refused_shards(report), 0);
	char which[REFUSED_LINE_SIZE], ago[TEXT_SPAN_SIZE], line[1024];

	if (!has_refused(view))
		return;
	refused_line(report, which);
	text_distance(number(first, "since"), view->now, ago);
	(void)snprintf(line, sizeof line, "refused   %s, %s: %s", which, ago,
		       words(first, "why")); /* long words are cut */
	top_line(to, view, TOP_WARN, line);
}

/* owner_for writes how long the owner has owned the store. While the owner loads its timers, it
 * writes how many are loaded. The numbers of the topics then include only the loaded timers. */
static void owner_for(const struct top_view *view, char *ret_text, size_t size)
{
	const json_t *report = json_object_get(view->store, "owner_report");
	dw_usec age = view->now - number(view->store, "owner_since");
	char since[TEXT_SPAN_SIZE], loaded[GROUPED_SIZE], all[GROUPED_SIZE];

	text_span(age - age % DW_SECONDS(1), 2, since);
	grouped_text(number(report, "timers"), loaded);
	grouped_text(number(view->store, "pending") + number(view->store, "claimed"), all);
	if (json_is_true(json_object_get(report, "recovering")) && !has_refused(view))
		(void)snprintf(ret_text, size, "loading %s of %s", loaded, all);
	else
		(void)snprintf(ret_text, size, "for %s", since);
}

static void put_owner(FILE *to, const struct top_view *view)
{
	const char *owner = words(view->store, "owner"), *standby = words(view->store, "standby");
	const json_t *report = json_object_get(view->store, "owner_report");
	dw_usec seen = number(view->store, "owner_seen");
	enum top_colour colour = TOP_BAD;
	char how[96], line[512];

	owner_for(view, how, sizeof how);
	if (!view->store)
		(void)snprintf(line, sizeof line, "%s: no answer yet", view->name);
	else if (!*owner)
		(void)snprintf(line, sizeof line, "%s: NOBODY OWNS THE STORE, nothing fires",
			       view->name);
	else if (view->now - seen > SILENT_AFTER)
		(void)snprintf(line, sizeof line, "%s: the owner (%s) IS SILENT", view->name,
			       owner);
	else if (number(report, "unowned") > 0)
		(void)snprintf(line, sizeof line, "%s: NO PROCESS TAKES %lld SHARDS; owner %s",
			       view->name, (long long)number(report, "unowned"), owner);
	else
		(void)snprintf(line, sizeof line, "%s: owner %s, %s%s%s", view->name, owner, how,
			       *standby ? "; standby " : "", standby);
	if (*owner && view->now - seen <= SILENT_AFTER && number(report, "unowned") == 0)
		colour = TOP_GOOD;
	top_line(to, view, view->store ? colour : TOP_PLAIN, line);
	put_fault(to, view);
	put_refused(to, view);
}

static void put_timers(FILE *to, const struct top_view *view)
{
	dw_usec due = number(view->store, "next_due");
	char next[TEXT_SPAN_SIZE] = "never", line[256];

	if (due > 0 && due != DW_NEVER)
		text_distance(due, view->now, next);
	(void)snprintf(
	    line, sizeof line,
	    "timers    %lld pending, %lld claimed, next %s; %lld dead letter%s, inbox %lld",
	    (long long)number(view->store, "pending"), (long long)number(view->store, "claimed"),
	    next, (long long)number(view->store, "dead"),
	    number(view->store, "dead") == 1 ? "" : "s", (long long)number(view->store, "inbox"));
	top_line(to, view, TOP_PLAIN, line);
}

/* put_spans prints the quantiles of the lateness and of the run times of handlers. It prints two
 * lines, because one line would be too long for 80 columns. */
static void put_spans(FILE *to, const struct top_view *view)
{
	static const char *const keys[] = {"lateness_p50_us", "lateness_p99_us", "lateness_max_us",
					   "handler_p50_us",  "handler_p99_us",  "handler_max_us",
					   "store_p99_us"};
	const json_t *report = json_object_get(view->store, "owner_report");
	char span[7][TEXT_SPAN_SIZE], line[512];

	for (int i = 0; i < 7; i++)
		(void)span_text(number(report, keys[i]), span[i]);
	(void)snprintf(line, sizeof line, "lateness  p50 %s, p99 %s, max %s; store p99 %s", span[0],
		       span[1], span[2], span[6]);
	top_line(to, view, TOP_PLAIN, line);
	(void)snprintf(line, sizeof line, "handlers  p50 %s, p99 %s, max %s", span[3], span[4],
		       span[5]);
	top_line(to, view, TOP_PLAIN, line);
}

static void put_rates(FILE *to, const struct top_view *view)
{
	static const char *const names[RATES] = {"started", "done", "retried", "dead"};
	char line[256] = "rates    ";

	for (int i = 0; i < RATES; i++) {
		size_t used = strlen(line);
		double rate;

		if (rates_of(&view->rates, (enum rate)i, &rate))
			(void)snprintf(line + used, sizeof line - used, " %s %.*f/s", names[i],
				       rate < 10 ? 1 : 0, rate);
		else
			(void)snprintf(line + used, sizeof line - used, " %s -", names[i]);
	}
	top_line(to, view, TOP_PLAIN, line);
}

static void put_error(FILE *to, const struct top_view *view)
{
	const json_t *report = json_object_get(view->store, "owner_report");
	const char *text = words(report, "last_error_text");
	char ago[TEXT_SPAN_SIZE], line[512];

	text_distance(number(report, "last_error_at"), view->now, ago);
	if (number(report, "last_error") == 0)
		(void)snprintf(line, sizeof line, "errors    none");
	else
		(void)snprintf(line, sizeof line, "errors    %s: %s", ago,
			       *text ? text : dw_strerror((int)number(report, "last_error")));
	top_line(to, view, number(report, "last_error") == 0 ? TOP_PLAIN : TOP_WARN, line);
}

/* ---- Topics -------------------------------------------------------------------------------- */

static json_int_t weight(const json_t *topic, enum top_order order)
{
	switch (order) {
	case TOP_WAITING:
		return number(topic, "due") + number(topic, "running") + number(topic, "waiting");
	case TOP_PENDING:
		return number(topic, "pending");
	case TOP_DEAD:
		return number(topic, "dead");
	default:
		return 0;
	}
}

static enum top_order sorted_by;

static int by_weight(const void *a, const void *b)
{
	const json_t *one = *(json_t *const *)a, *other = *(json_t *const *)b;
	json_int_t x = weight(one, sorted_by), y = weight(other, sorted_by);

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(words(one, "topic"), words(other, "topic"));
}

static const char *oldest_text(const struct top_view *view, const json_t *topic, char *ret_text)
{
	json_int_t due = number(topic, "oldest"), message = number(topic, "oldest_message");
	json_int_t oldest = due > 0 && (message == 0 || due < message) ? due : message;

	return span_text(oldest > 0 ? view->now - oldest : 0, ret_text);
}

/* why_text returns why due timers do not start, or that the topic is paused, or "-". */
static const char *why_text(const json_t *topic)
{
	const char *paused = words(topic, "paused"), *waits = words(topic, "waits");

	if (*waits)
		return waits;
	if (!*paused || strcmp(paused, "no") == 0)
		return "-";
	return strcmp(paused, "intake") == 0 ? "intake" : "paused";
}

/* is_narrow returns true if the terminal is too narrow for all columns. Then too few characters
 * would be left for the names. */
static bool is_narrow(const struct top_view *view)
{
	return view->columns > 0 && view->columns < WIDE;
}

/* put_topic prints a row. The name comes last, because its width in the terminal is unknown. */
static void put_topic(FILE *to, const struct top_view *view, const json_t *topic)
{
	static const char *const keys[] = {"pending", "due",     "running", "waiting",
					   "done",    "retried", "dead"};
	char count[7][24], oldest[TEXT_SPAN_SIZE], late[TEXT_SPAN_SIZE], line[1024];
	char ends[64] = "";

	for (int i = 0; i < 7; i++) /* without an owner the numbers of timers are missing */
		if (json_object_get(topic, keys[i]))
			(void)top_count(number(topic, keys[i]), count[i], sizeof count[i]);
		else
			(void)snprintf(count[i], sizeof count[i], "-");
	if (!is_narrow(view))
		(void)snprintf(ends, sizeof ends, " %7s %6s", count[4], count[5]);
	(void)snprintf(line, sizeof line, "%7s %6s %5s %6s %6s %7s%s %5s %-7s  %s%s", count[0],
		       count[1], count[2], count[3], oldest_text(view, topic, oldest),
		       span_text(number(topic, "late_p99_us"), late), ends, count[6],
		       why_text(topic), words(topic, "topic"),
		       json_is_true(json_object_get(topic, "queue")) ? " (queue)" : "");
	top_line(to, view, TOP_PLAIN, line);
}

static void put_topics(FILE *to, struct top_view *view)
{
	static const char *const orders[] = {"what waits", "pending", "dead", "name"};
	size_t count = json_array_size(view->topics);
	size_t others =
	    (size_t)HEAD_ROWS + has_fault(view) + has_refused(view) + top_bars_rows(view);
	size_t room = view->rows == 0 ? count : view->rows > others ? view->rows - others : 1;
	json_t **sorted = calloc(count + 1, sizeof *sorted);
	char line[128];

	for (size_t i = 0; sorted && i < count; i++)
		sorted[i] = json_array_get(view->topics, i);
	sorted_by = view->order;
	if (sorted)
		qsort(sorted, count, sizeof *sorted, by_weight);
	if (view->first + room > count)
		view->first = count > room ? count - room : 0;
	(void)snprintf(line, sizeof line,
		       "PENDING    DUE   RUN QUEUED OLDEST LATEP99%s  DEAD WAITS    TOPIC",
		       is_narrow(view) ? "" : "    DONE  RETRY");
	top_line(to, view, TOP_DIM, line);
	for (size_t i = view->first; sorted && i < count && i < view->first + room; i++)
		put_topic(to, view, sorted[i]);
	free(sorted);
	if (view->rows == 0)
		return;
	for (size_t i = count - view->first; i < room; i++)
		top_line(to, view, TOP_PLAIN, "");
	(void)snprintf(line, sizeof line, "%zu topics by %s: q quits, s sorts, arrows scroll",
		       count, orders[view->order]);
	top_line(to, view, TOP_DIM, line);
}

/* cut_rows keeps only the first lines if the terminal is too small even for one topic. */
static void cut_rows(char *picture, size_t rows)
{
	char *end = picture;

	for (size_t i = 0; i < rows && *end; i++)
		end = strchr(end, '\n') + 1;
	if (rows > 0)
		*end = '\0';
}

char *top_picture(struct top_view *view)
{
	char *picture = NULL;
	size_t size;
	FILE *to = open_memstream(&picture, &size);
	bool failed;

	if (!to)
		return NULL;
	put_owner(to, view);
	put_timers(to, view);
	put_spans(to, view);
	put_rates(to, view);
	put_error(to, view);
	top_bars(to, view);
	top_line(to, view, TOP_PLAIN, "");
	put_topics(to, view);
	failed = ferror(to) != 0;
	if (fclose(to) != 0 || failed) {
		free(picture);
		return NULL;
	}
	cut_rows(picture, view->rows);
	return picture;
}
