/* durawheel topic set, pause, resume and drop: change the settings of topics. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/session.h"
#include "durawheel/select.h"
#include "durawheel/topic.h"

struct topic_command {
	int code;
};

int command_topic(const struct options *options)
{
	(void)options;
	return complain(EXIT_USAGE, "topic: write set, list, show, pause, resume or drop");
}

/* ---- Settings ------------------------------------------------------------------------------ */

/* number_of reads a whole number from 0 to `most`. Returns EXIT_DONE, or complains. */
static int number_of(const struct options *options, enum option_id id, uint32_t most,
		     uint32_t *ret_number)
{
	const char *text = options->value[id];
	char *rest;
	unsigned long number;

	if (!text)
		return EXIT_DONE;
	number = strtoul(text, &rest, 10);
	if (*text < '0' || *text > '9' || *rest || number > most)
		return complain(EXIT_USAGE, "--%s \"%.40s\": write a number from 0 to %" PRIu32,
				options_name(id), text, most);
	*ret_number = (uint32_t)number;
	return EXIT_DONE;
}

static int span_of(const struct options *options, enum option_id id, dw_usec *ret_span)
{
	return options->value[id] ? options_duration(options, id, ret_span) : EXIT_DONE;
}

/* read_times reads the settings that any topic may have. In the settings 0 means the default, so an
 * option's 0 becomes a special value. Returns EXIT_DONE, or complains. */
static int read_times(const struct options *options, dw_topic_settings *settings)
{
	uint32_t retries = DW_RETRIES_MAX, jitter = 20;
	int code = number_of(options, OPT_RETRIES, 255, &retries);

	if (code == EXIT_DONE)
		code = number_of(options, OPT_JITTER, 100, &jitter);
	if (code == EXIT_DONE)
		code = number_of(options, OPT_FACTOR, 10, &settings->backoff_factor);
	if (code == EXIT_DONE)
		code = span_of(options, OPT_BACKOFF, &settings->backoff_first_us);
	if (code == EXIT_DONE)
		code = span_of(options, OPT_BACKOFF_MAX, &settings->backoff_max_us);
	if (code == EXIT_DONE)
		code = span_of(options, OPT_TIME_LIMIT, &settings->limit_us);
	if (code == EXIT_DONE)
		code = span_of(options, OPT_KEEP, &settings->keep_us);
	if (options->value[OPT_RETRIES])
		settings->retries_max = retries ? retries : DW_NO_RETRIES;
	if (options->value[OPT_JITTER])
		settings->jitter_percent = jitter ? jitter : DW_NO_JITTER;
	return code;
}

static int read_overflow(const struct options *options, dw_overflow *overflow)
{
	unsigned number = *overflow;
	int code = options_word(options, OPT_OVERFLOW, &number);

	*overflow = number;
	return code;
}

static int read_queue(const struct options *options, dw_topic_settings *settings)
{
	const char *hide = options->value[OPT_HIDE];
	int code = number_of(options, OPT_MAX, DW_QUEUE_MAX, &settings->max);

	if (options->value[OPT_QUEUE])
		settings->queue = 1;
	if (code == EXIT_DONE)
		code = read_overflow(options, &settings->overflow);
	if (code == EXIT_DONE)
		code = span_of(options, OPT_EXPIRE, &settings->expire_us);
	if (code == EXIT_DONE && hide && strcmp(hide, "never") == 0)
		settings->hide_us = DW_AT_MOST_ONCE;
	else if (code == EXIT_DONE)
		code = span_of(options, OPT_HIDE, &settings->hide_us);
	return code;
}

/* ---- Changes ------------------------------------------------------------------------------- */

static void topic_changed(dw *d, const dw_result *result, void *user)
{
	struct topic_command *command = user;

	(void)d;
	command->code = EXIT_DONE;
	if (result->status == DW_EBUSY)
		command->code = complain(EXIT_FAILED, "%s: its queue has messages: take them first",
					 result->id);
	else if (result->status == DW_ENOENT)
		command->code = complain(EXIT_ABSENT, "%s has no settings", result->id);
	else if (result->status != DW_OK)
		command->code = complain(exit_of(result->status), "%s: %s", result->id,
					 dw_strerror(result->status));
}

/* end_change waits for the answer to a change and closes the handle. `status` is the return value
 * of the call that requested the change. Returns an exit code. */
static int end_change(dw *d, struct topic_command *command, int status)
{
	if (status != DW_OK)
		command->code = complain(exit_of(status), "%s", why(d, status));
	else
		(void)session_sync(d); /* on failure the code stays EXIT_STORE */
	return session_close(d, command->code);
}

/* The settings of the topic before and after `topic set`. */
struct topic_change {
	dw_topic_settings from, to;
	int status; /* the status with which the settings were read */
};

static void settings_told(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct topic_change *change = user;

	(void)d;
	change->status = status;
	if (status == DW_OK && count > 0 && topics->is_set)
		change->from = topics->settings;
	change->from.size = sizeof change->from;
}

/* leave_queue resets the settings that only a queue has. */
static void leave_queue(dw_topic_settings *settings)
{
	settings->queue = 0;
	settings->max = 0;
	settings->overflow = DW_DROP_OLDEST;
	settings->expire_us = 0;
	settings->hide_us = 0;
}

/* read_change changes the settings that the command line names, and keeps the others. Returns
 * EXIT_DONE, or complains. */
static int read_change(const struct options *options, dw_topic_settings *settings)
{
	int code = EXIT_DONE;

	if (options->value[OPT_NO_QUEUE] && options->value[OPT_QUEUE])
		return complain(EXIT_USAGE, "topic set: write --queue or --no-queue");
	if (options->value[OPT_NO_QUEUE])
		leave_queue(settings);
	code = read_times(options, settings);
	return code == EXIT_DONE ? read_queue(options, settings) : code;
}

/* check_range complains if the duration is outside the range. 0 and negative values have special
 * meanings and are allowed. Returns EXIT_DONE, or complains. */
static int check_range(enum option_id id, dw_usec span, dw_usec least, dw_usec most,
		       const char *range)
{
	if (span <= 0 || (span >= least && span <= most))
		return EXIT_DONE;
	return complain(EXIT_USAGE, "topic set: --%s is not %s", options_name(id), range);
}

/* check_change refuses settings that the library would refuse as well. Its own messages name the
 * options. Returns EXIT_DONE, or complains. */
static int check_change(const dw_topic_settings *to)
{
	int code = EXIT_DONE;

	if (!to->queue && (to->max || to->overflow || to->expire_us || to->hide_us))
		return complain(EXIT_USAGE,
				"topic set: --max, --overflow, --expire and --hide are of a "
				"queue, and the topic is none: it needs --queue");
	code = check_range(OPT_BACKOFF, to->backoff_first_us, 0, DW_DAYS(1), "0 to 1 day");
	if (code == EXIT_DONE)
		code = check_range(OPT_BACKOFF_MAX, to->backoff_max_us, 0, DW_DAYS(30),
				   "0 to 30 days");
	if (code == EXIT_DONE)
		code = check_range(OPT_TIME_LIMIT, to->limit_us, 0, DW_DAYS(1), "0 to 1 day");
	if (code == EXIT_DONE)
		code = check_range(OPT_KEEP, to->keep_us, 0, DW_DAYS(90), "0 to 90 days");
	if (code == EXIT_DONE)
		code = check_range(OPT_HIDE, to->hide_us, DW_SECONDS(1), DW_HOURS(12),
				   "1 s to 12 h, 0 or never");
	return code;
}

/* find_settings reads the present settings of the topic. Returns EXIT_DONE, or complains. */
static int find_settings(dw *d, const char *topic, struct topic_change *change)
{
	int status = dw_topic_list(d, topic, settings_told, change);
	int code;

	if (status != DW_OK)
		return complain(exit_of(status), "%s", why(d, status));
	code = session_sync(d);
	if (code == EXIT_DONE && change->status != DW_OK)
		code = complain(exit_of(change->status), "%s", dw_strerror(change->status));
	return code;
}

int command_topic_set(const struct options *options)
{
	struct topic_command command = {.code = EXIT_STORE};
	struct topic_change change = {.from = {.size = sizeof change.from}, .status = DW_ESTORE};
	const char *topic = options->words[1];
	dw *d;
	int code;

	change.to = change.from;
	code = read_change(options, &change.to); /* a wrong option must not open the store */
	if (code == EXIT_DONE)
		code = session_open(options, (dw_options){.role = DW_CLIENT}, &d);
	if (code != EXIT_DONE)
		return code;
	code = find_settings(d, topic, &change);
	if (code != EXIT_DONE)
		return session_close(d, code);
	change.to = change.from;
	(void)read_change(options, &change.to); /* these options were checked above */
	code = check_change(&change.to);
	if (code != EXIT_DONE)
		return session_close(d, code);
	return end_change(
	    d, &command,
	    dw_topic_change(d, topic, &change.from, &change.to, topic_changed, &command));
}

/* ---- Pausing ------------------------------------------------------------------------------- */

static void note_topic(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	(void)d;
	for (size_t i = 0; status == DW_OK && i < count; i++)
		*(bool *)user |=
		    topics[i].is_set ||
		    topics[i].pending + topics[i].due + topics[i].running + topics[i].done > 0;
}

/* The result of a search for a timer of the topic, and where the search continues. */
struct sight {
	bool seen;
	dw_cursor next;
};

static void note_timer(dw *d, int status, const dw_info *timers, size_t count,
		       const dw_cursor *next, void *user)
{
	struct sight *sight = user;

	(void)d;
	(void)timers;
	sight->seen = status != DW_OK || count > 0;
	if (status == DW_OK)
		sight->next = *next;
}

/* is_seen returns true if the topic has settings or timers, or if its owner has delivered some. It
 * also returns true if the store cannot tell. */
static bool is_seen(dw *d, const char *topic)
{
	const dw_select timers = {.size = sizeof timers, .topic = topic};
	struct sight sight = {0};
	int status = dw_topic_list(d, topic, note_topic, &sight.seen);

	while (status == DW_OK) {
		if (session_sync(d) != EXIT_DONE)
			return true;
		if (sight.seen || sight.next.ended)
			return sight.seen;
		status = dw_list(d, &timers, sight.next.started ? &sight.next : NULL, 1, note_timer,
				 &sight);
	}
	return true;
}

static void tell_pause(const char *topic, unsigned paused)
{
	static const char *const effects[] = {
	    [0] = "",
	    [DW_PAUSE_DELIVERY] = ": none of its timers starts",
	    [DW_PAUSE_INTAKE] = ": it takes nothing new",
	    [DW_PAUSE_DELIVERY | DW_PAUSE_INTAKE] =
		": none of its timers starts, and it takes nothing new"};

	(void)printf("%s %s%s\n", paused ? "paused" : "resumed", topic, effects[paused]);
}

static int pause_topic(const struct options *options, unsigned paused)
{
	struct topic_command command = {.code = EXIT_STORE};
	const char *topic = options->words[1];
	dw *d;
	int code = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	bool seen;

	if (code != EXIT_DONE)
		return code;
	seen = is_seen(d, topic);
	code = end_change(d, &command, dw_topic_pause(d, topic, paused, topic_changed, &command));
	if (code != EXIT_DONE)
		return code;
	tell_pause(topic, paused);
	if (!seen)
		warn("no timer and no setting of the topic %s is known: is it spelled right?",
		     topic);
	return EXIT_DONE;
}

int command_topic_pause(const struct options *options)
{
	if (options->value[OPT_INTAKE] && options->value[OPT_INTAKE_ONLY])
		return complain(EXIT_USAGE, "topic pause: write --intake or --intake-only");
	if (options->value[OPT_INTAKE_ONLY])
		return pause_topic(options, DW_PAUSE_INTAKE);
	return pause_topic(options, options->value[OPT_INTAKE] ? DW_PAUSE_DELIVERY | DW_PAUSE_INTAKE
							       : DW_PAUSE_DELIVERY);
}

int command_topic_resume(const struct options *options)
{
	return pause_topic(options, 0);
}

int command_topic_drop(const struct options *options)
{
	struct topic_command command = {.code = EXIT_STORE};
	dw *d;
	int code = session_look(options, (dw_options){.role = DW_CLIENT}, &d);

	if (code != EXIT_DONE)
		return code;
	return end_change(d, &command,
			  dw_topic_drop(d, options->words[1], topic_changed, &command));
}
