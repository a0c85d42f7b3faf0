/* durawheel topic list and topic show: print topics with their settings and numbers. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/objects.h"
#include "cli/session.h"
#include "cli/out/table.h"
#include "cli/out/text.h"
#include "cli/tool/topic_count.h"
#include "durawheel/why.h"

struct topic_look {
	bool json;
	bool shows; /* print a single topic, in rows */
	const char *name;
	struct line line;
	struct topic_tallies tallies; /* the counts for a store without an owner */
	size_t told;                  /* the number of printed tallies */
	int code;
};

enum { COUNT_SIZE = 24 };

/* count_text_of returns the count as text, or "-" if nobody has counted the timers. */
static const char *count_text_of(const dw_topic_info *info, uint64_t count, char text[COUNT_SIZE])
{
	(void)snprintf(text, COUNT_SIZE, "%" PRIu64, count); /* the text always fits */
	return info->is_counted ? text : "-";
}

static void print_line(const dw_topic_info *info)
{
	char name[TEXT_STEP_SIZE * DW_TOPIC_MAX];
	char pending[COUNT_SIZE], due[COUNT_SIZE], running[COUNT_SIZE];
	const char *kind = info->settings.queue ? "queue" : info->is_set ? "set" : "-";

	name[text_escape(info->name, strlen(info->name), name, sizeof name)] = '\0';
	(void)printf(
	    "%-24s %-6s %-9s %9s %7s %7s %9" PRIu64 " %7" PRIu64 " %8" PRIu64 "\n", name, kind,
	    pause_name(info->settings.paused), count_text_of(info, info->pending, pending),
	    count_text_of(info, info->due, due), count_text_of(info, info->running, running),
	    /* session_close() reports failed writes. */
	    info->waiting, info->taken, info->dropped + info->expired);
}

static void row_of_span(const char *name, dw_usec span)
{
	if (span > 0)
		table_row_span(name, span);
}

static void print_queue(const dw_topic_info *info)
{
	const dw_topic_settings *settings = &info->settings;
	const char *overflow = settings->overflow == DW_REFUSE ? "refuse" : "drop-oldest";

	table_row_count("max", settings->max ? settings->max : 100000);
	table_row_text("overflow", overflow, strlen(overflow));
	row_of_span("expire", settings->expire_us);
	if (settings->hide_us == DW_AT_MOST_ONCE)
		table_row_text("hide", "never", sizeof "never" - 1);
	else
		table_row_span("hide", settings->hide_us ? settings->hide_us : DW_SECONDS(30));
	table_row_count("waiting", info->waiting);
	table_row_count("taken", info->taken);
	table_row_count("later", info->later);
	table_row_count("dropped", info->dropped);
	table_row_count("expired", info->expired);
	if (info->oldest_message)
		table_row_time("oldest message", info->oldest_message, NULL);
}

static void print_timers(const dw_topic_info *info)
{
	table_row_count("pending", info->pending);
	table_row_count("due", info->due);
	if (info->waits)
		table_row_text("due waits", dw_describe_waits((dw_waits)info->waits)->cause,
			       strlen(dw_describe_waits((dw_waits)info->waits)->cause));
	table_row_count("running", info->running);
	table_row_count("done", info->done);
	table_row_count("retried", info->retried);
	table_row_count("dead", info->dead);
	row_of_span("lateness p50", info->late_p50_us);
	row_of_span("lateness p99", info->late_p99_us);
	row_of_span("lateness max", info->late_max_us);
	row_of_span("handler p50", info->took_p50_us);
	row_of_span("handler p99", info->took_p99_us);
	row_of_span("handler max", info->took_max_us);
	if (info->oldest)
		table_row_time("oldest due", info->oldest, NULL);
}

/* print_rows prints one topic. Without an owner the numbers of timers are missing, because the
 * owner counts them. */
static void print_rows(const dw_topic_info *info)
{
	const dw_topic_settings *settings = &info->settings;
	const char *paused = pause_name(settings->paused);

	table_row_text("topic", info->name, strlen(info->name));
	table_row_text("paused", paused, strlen(paused));
	table_row_count("retries max", settings->retries_max == DW_NO_RETRIES ? 0
				       : settings->retries_max ? settings->retries_max
							       : DW_RETRIES_MAX);
	row_of_span("backoff", settings->backoff_first_us);
	row_of_span("backoff max", settings->backoff_max_us);
	row_of_span("time limit", settings->limit_us);
	row_of_span("keep", settings->keep_us);
	if (info->is_counted)
		print_timers(info);
	if (settings->queue || info->waiting + info->taken + info->later > 0)
		print_queue(info);
}

/* object_of returns the JSON object of a topic. If this command has counted the timers itself, it
 * leaves out the numbers that only an owner knows. */
static json_t *object_of(const struct topic_look *look, const dw_topic_info *info)
{
	static const char *const keys[] = {"done", "retried", "dead", "oldest"};
	json_t *object = object_of_topic(info);

	for (size_t i = 0; look->tallies.is_whole && i < sizeof keys / sizeof *keys; i++)
		(void)json_object_del(object, keys[i]); /* it fails if the object is NULL */
	return object;
}

static void print_topic(struct topic_look *look, const dw_topic_info *info)
{
	if (look->shows && !look->json)
		print_rows(info);
	else if (!look->json)
		print_line(info);
	else if (line_of(&look->line, object_of(look, info)))
		(void)fwrite(look->line.bytes, 1, look->line.size,
			     stdout); /* session_close() reports a failed write */
	else
		look->code = complain(EXIT_FAILED, "out of memory");
}

/* take_tally copies the next tally into `info` if it belongs to this topic. Otherwise the topic has
 * no timers. The tallies are sorted like the topics. */
static void take_tally(struct topic_look *look, dw_topic_info *info)
{
	const struct topic_tallies *tallies = &look->tallies;
	const struct topic_tally *tally = tallies->items + look->told;

	info->is_counted = info->is_counted || tallies->is_whole;
	if (look->told == tallies->count || strcmp(tally->name, info->name) != 0)
		return;
	look->told++;
	info->pending = tally->pending;
	info->due = tally->due;
	info->running = tally->running;
}

/* print_tallies prints topics that have timers but no settings. It stops before the topic `name`,
 * unless that is NULL. */
static void print_tallies(struct topic_look *look, const char *name)
{
	while (look->told < look->tallies.count) {
		dw_topic_info info = {.name = look->tallies.items[look->told].name};

		if (name && strcmp(info.name, name) >= 0)
			return;
		take_tally(look, &info);
		print_topic(look, &info);
	}
}

static void topics_told(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct topic_look *look = user;

	(void)d;
	look->code = EXIT_DONE;
	if (status != DW_OK)
		look->code = complain(exit_of(status), "%s", dw_strerror(status));
	else if (look->shows && count == 0)
		look->code = complain(
		    EXIT_ABSENT, "%s has no settings, and no owner knows timers of it", look->name);
	if (!look->json && !look->shows && status == DW_OK)
		(void)puts("TOPIC                    KIND   PAUSED      PENDING     DUE RUNNING"
			   /* session_close() reports a failed write. */
			   "   WAITING   TAKEN     LOST");
	for (size_t i = 0; i < count; i++) {
		dw_topic_info info = topics[i];

		print_tallies(look, info.name);
		take_tally(look, &info);
		print_topic(look, &info);
	}
	print_tallies(look, NULL);
}

static int list_topics(const struct options *options, const char *name)
{
	struct topic_look look = {.json = options->value[OPT_JSON] != NULL,
				  .shows = name != NULL,
				  .name = name,
				  .code = EXIT_STORE};
	dw *d;
	int code = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	int status;

	if (code != EXIT_DONE)
		return code;
	if (!look.shows)
		code = topic_count(d, &look.tallies);
	if (code == EXIT_DONE) {
		status = dw_topic_list(d, name, topics_told, &look);
		if (status == DW_OK)
			(void)session_sync(d); /* on failure the code stays EXIT_STORE */
		code =
		    status == DW_OK ? look.code : complain(exit_of(status), "%s", why(d, status));
	}
	topic_count_free(&look.tallies);
	line_free(&look.line);
	return session_close(d, code);
}

int command_topic_list(const struct options *options)
{
	return list_topics(options, NULL);
}

int command_topic_show(const struct options *options)
{
	return list_topics(options, options->words[1]);
}
