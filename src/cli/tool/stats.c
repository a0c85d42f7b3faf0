/* durawheel stats: prints the number of timers, the state of the owner, and which peers share the
 * store. */
#include "cli/commands.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/buckets.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/members.h"
#include "cli/out/nodes.h"
#include "cli/out/objects.h"
#include "cli/out/plot.h"
#include "cli/out/refused.h"
#include "cli/session.h"
#include "cli/out/table.h"
#include "cli/out/terminal.h"
#include "durawheel/metrics.h"

struct stats {
	bool json, plots;
	json_t *members; /* the result of members_object(); NULL if no processes share the store */
	int code;
};

/* An owner writes its status every 2 s at work and every 10 s when idle. After this time without a
 * status, the command says that the owner is silent. */
#define SILENT_AFTER DW_SECONDS(30)

static void print_word(const char *name, const char *word)
{
	table_row_text(name, word, strlen(word));
}

/* is_for_people returns false for counters that only programs use. It also leaves out the last
 * error, shards and lists, which are printed elsewhere or not at all. */
static bool is_for_people(const char *key, const json_t *value)
{
	return strncmp(key, "last_error", strlen("last_error")) != 0 && !json_is_array(value) &&
	       !strstr(key, "_sum_") && strncmp(key, "shards", strlen("shards")) != 0 &&
	       strcmp(key, "unowned") != 0 && strcmp(key, "peer") != 0 &&
	       strcmp(key, "nodes") != 0 && strcmp(key, "nodes_away") != 0;
}

/* rounded rounds up to two significant digits. A percentile is only the upper bound of a bucket, so
 * more digits would mislead. */
static dw_usec rounded(dw_usec span)
{
	dw_usec step = 1;

	while (span / step >= 100)
		step *= 10;
	return span > INT64_MAX - step ? span : (span + step - 1) / step * step;
}

/* print_counter prints a counter with a readable name: "store_p99_us" becomes "store p99" with a
 * duration. */
static void print_counter(const char *key, const json_t *value)
{
	json_int_t count = json_integer_value(value);
	size_t length = strlen(key);
	bool is_span = length > 3 && strcmp(key + length - 3, "_us") == 0;
	char name[32];

	(void)snprintf(name, sizeof name, "  %.*s", (int)(length - (is_span ? 3 : 0)), key);
	for (char *at = name; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	if (json_is_boolean(value))
		print_word(name, json_is_true(value) ? "yes" : "no");
	else if (is_span && (strstr(key, "_p50_") || strstr(key, "_p99_")))
		table_row_span(name, count < 0 ? 0 : rounded(count));
	else if (is_span)
		table_row_span(name, count < 0 ? 0 : count);
	else
		table_row_count(name, count < 0 ? 0 : (uint64_t)count);
}

static void print_last_error(const json_t *report)
{
	json_int_t status = json_integer_value(json_object_get(report, "last_error"));
	json_int_t at = json_integer_value(json_object_get(report, "last_error_at"));
	const char *text = json_string_value(json_object_get(report, "last_error_text"));

	if (status == 0) {
		print_word("  last error", "none");
		return;
	}
	print_word("  last error", text && *text ? text : dw_strerror((int)status));
	if (at > 0)
		table_row_time("  it was", at, NULL);
}

/* print_refused prints which shards the owner cannot use, since when, and why. */
static void print_refused(const json_t *report)
{
	char line[REFUSED_LINE_SIZE], name[32];
	const json_t *shard;
	size_t i;

	refused_line(report, line);
	if (*line)
		print_word("refused", line);
	json_array_foreach(refused_shards(report), i, shard)
	{
		const char *text = json_string_value(json_object_get(shard, "why"));

		(void)snprintf(name, sizeof name, "  shard %lld",
			       json_integer_value(json_object_get(shard, "shard")));
		table_row_time(name, json_integer_value(json_object_get(shard, "since")), NULL);
		print_word("", text ? text : "");
	}
}

/* print_report prints the counters of the owner. */
static void print_report(const char *text)
{
	json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const char *key;
	json_t *value;

	print_refused(report);
	if (json_is_object(report)) {
		(void)puts("since then"); /* session_flush() reports failed writes */
		json_object_foreach(report, key, value)
		{
			if (is_for_people(key, value))
				print_counter(key, value);
		}
		print_last_error(report);
	} else if (*text) {
		print_word("report", text);
	}
	json_decref(report);
}

static void print_owner(const dw_store_status *status)
{
	if (!*status->owner) {
		print_word("owner", "none: nothing fires until one runs");
		return;
	}
	print_word("owner", status->owner);
	if (session_now() - status->owner_seen > SILENT_AFTER)
		print_word("", "silent for so long: it hangs, or its machine does");
	table_row_time("seen", status->owner_seen, NULL);
	table_row_time("began", status->owner_since, NULL);
	print_report(status->owner_report);
}

static void print_standby(const dw_store_status *status)
{
	if (*status->standby)
		print_word("standby", status->standby);
}

/* print_members prints a row for each peer, and which shards nobody has. */
static void print_members(const json_t *object)
{
	const json_t *unowned = json_object_get(object, "unowned"), *member;
	char who[MEMBERS_WHO_SIZE], numbers[MEMBERS_SHARDS_SIZE];
	char state[MEMBERS_STATE_SIZE], line[sizeof who + sizeof numbers + sizeof state + 64];
	size_t i;

	json_array_foreach(json_object_get(object, "members"), i, member)
	{
		const json_t *shards = json_object_get(member, "shards");

		members_who(member, who);
		members_shards(shards, numbers);
		members_state(member, json_integer_value(json_object_get(object, "shard_count")),
			      state);
		(void)snprintf(line, sizeof line, "%s, shards %s%s%s", who,
			       *numbers ? numbers : "none", *state ? "; " : "",
			       state); /* the text always fits */
		print_word("member", line);
	}
	if (json_array_size(unowned) == 0)
		return;
	members_shards(unowned, numbers);
	(void)snprintf(line, sizeof line, "shards %s: their timers wait", numbers);
	print_word("without an owner", line);
}

static void print(const dw *d, const dw_store_status *status, const json_t *members)
{
	table_row_count("pending", status->pending);
	table_row_count("claimed", status->claimed);
	table_row_count("dead", status->dead);
	if (status->dead > 0)
		print_word("", "could not be delivered: durawheel dead list");
	table_row_time("next due", status->next_due, NULL);
	table_row_count("inbox", status->inbox);
	nodes_print(d);
	print_standby(status);
	if (*status->owner || !members)
		print_owner(status);
	print_members(members);
}

static int print_json(const dw *d, const dw_store_status *status, json_t *members)
{
	struct line line = {0};
	json_t *object = object_of_status(status);
	int code = EXIT_DONE;

	if (object && members && json_object_update(object, members) != 0) {
		json_decref(object);
		object = NULL;
	}
	nodes_add(object, d);
	if (line_of(&line, object))
		/* session_flush() reports a failed write. */
		(void)fwrite(line.bytes, 1, line.size, stdout);
	else
		code = complain(EXIT_FAILED, "out of memory");
	line_free(&line);
	return code;
}

/* ---- Pictures ------------------------------------------------------------------------------ */

enum { WORDS = 18, COUNT = 12 }; /* the columns before the bars */

/* print_buckets prints a row for each bucket from the first to the last one with a handler. */
static void print_buckets(const json_int_t counts[BUCKETS], json_int_t most)
{
	char words[BUCKET_WORDS_SIZE], bar[PLOT_BAR_SIZE];
	size_t first = 0, end = BUCKETS, rows, columns;

	terminal_size(&rows, &columns);
	columns = columns > WORDS + COUNT + 12 ? columns - WORDS - COUNT - 6 : 6;
	while (counts[first] == 0)
		first++;
	while (counts[end - 1] == 0)
		end--;
	for (size_t i = first; i < end; i++) {
		bucket_words(i, words);
		/* session_flush() reports failed writes. */
		(void)printf("  %-*s %*lld  %s\n", WORDS, words, COUNT, (long long)counts[i],
			     plot_bar(counts[i], most, columns, plot_has_blocks(), bar));
	}
}

static void print_histogram(const char *title, const json_t *report, const char *key)
{
	json_int_t counts[BUCKETS], most = 0;
	json_int_t sum = buckets_of(report, key, counts);

	(void)printf("%s, of %lld\n", title, (long long)sum); /* session_flush() reports failures */
	for (size_t i = 0; i < BUCKETS; i++)
		most = counts[i] > most ? counts[i] : most;
	if (sum > 0)
		print_buckets(counts, most);
}

/* print_plots prints the histograms of the owner. If the store has peers, the histograms are the
 * sums of all peers. */
static int print_plots(const dw_store_status *status)
{
	json_t *report = json_loads(status->owner_report, JSON_REJECT_DUPLICATES, NULL);

	if (!*status->owner || !json_is_object(report)) {
		json_decref(report);
		return complain(EXIT_ABSENT, "there is no owner that has told its times");
	}
	print_histogram("how late handlers started", report, "lateness_buckets");
	print_histogram("how long handlers ran", report, "handler_buckets");
	json_decref(report);
	return EXIT_DONE;
}

static void stats_answered(dw *d, int status, const dw_store_status *store, void *user)
{
	struct stats *stats = user;
	char message[DW_MESSAGE_SIZE];

	if (status != DW_OK) {
		stats->code = complain(exit_of(status), "%s", dw_strerror(status));
		return;
	}
	stats->code = EXIT_DONE;
	members_note_owner(stats->members, store->owner);
	if (stats->plots)
		stats->code = print_plots(store);
	else if (stats->json)
		stats->code = print_json(d, store, stats->members);
	else
		print(d, store, stats->members);
	if (json_array_size(json_object_get(stats->members, "unowned")) > 0)
		stats->code = EXIT_FAILED;
	/* The counts leave out a shard that the server refuses. */
	if (dw_health(d, message) == DW_ESTORE)
		stats->code = complain(EXIT_STORE, "%s", message);
}

/* note_members keeps the list of the peers. Without the list the command shows everything else. */
static void note_members(dw *d, int status, const dw_member_list *list, void *user)
{
	struct stats *stats = user;

	(void)d;
	if (status == DW_OK && list->count > 0)
		stats->members = members_object(list);
}

int command_stats(const struct options *options)
{
	struct stats stats = {.json = options->value[OPT_JSON] != NULL,
			      .plots = options->value[OPT_PLOT] != NULL,
			      .code = EXIT_STORE};
	dw *d;
	int status;

	if (stats.json && stats.plots)
		return complain(EXIT_USAGE, "--plot is for people, --json for programs: use one");
	status = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	if (status != EXIT_DONE)
		return status;
	if (dw_members(d, note_members, &stats) == DW_OK) /* only Redis has peers */
		(void)session_sync(d);
	status = dw_get_status(d, stats_answered, &stats);
	if (status != DW_OK)
		stats.code = complain(exit_of(status), "%s", why(d, status));
	else
		(void)session_sync(d); /* on failure stats.code stays EXIT_STORE */
	json_decref(stats.members);
	return session_close(d, stats.code);
}
