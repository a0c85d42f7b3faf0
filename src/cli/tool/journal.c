/* durawheel journal: works on the file in which a program keeps its operations while Redis is
 * unreachable. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "durawheel/journal.h"
#include "cli/session.h"
#include "cli/out/table.h"

#define REPLAY_PATIENCE DW_SECONDS(30)

int command_journal(const struct options *options)
{
	if (options->word_count > 1)
		return complain(EXIT_USAGE, "no command journal %.64s; it is list, replay or drop",
				presentable(options->words[1]));
	return complain(EXIT_USAGE, "journal: write durawheel journal list, replay or drop");
}

/* ---- List ---------------------------------------------------------------------------------- */

struct journal_list {
	const struct local_zone *zone; /* the zone of printed times; NULL: UTC */
	bool json;
	struct line line;
	bool failed; /* the command is out of memory */
	bool headed;
};

static json_t *time_or_null(dw_usec time)
{
	return time > 0 ? json_integer(time) : json_null();
}

static void print_row_json(struct journal_list *list, const dw_journal_row *row)
{
	json_t *object =
	    json_pack("{s:o, s:s, s:o, s:o, s:I, s:o}", "id", line_name(row->id), "what", row->what,
		      "namespace", line_name(row->name), "topic", line_name(row->topic), "at",
		      (json_int_t)row->at, "due", time_or_null(row->due));

	if (!line_of(&list->line, object)) {
		list->failed = true;
		return;
	}
	/* session_flush() reports a failed write. */
	(void)fwrite(list->line.bytes, 1, list->line.size, stdout);
}

static void print_row(const dw_journal_row *row, void *user)
{
	struct journal_list *list = user;
	char at[LOCAL_TEXT_SIZE], due[LOCAL_TEXT_SIZE] = "-";
	int width = list->zone ? 32 : 27;

	if (list->json) {
		print_row_json(list, row);
		return;
	}
	if (!list->headed)
		(void)printf("%-*s %-7s %-*s %-20s %s\n", width, "AT", "WHAT", width, "DUE",
			     "NAMESPACE",
			     "ID"); /* session_flush() reports failed writes, here and below */
	list->headed = true;
	local_show(list->zone, row->at, at);
	if (row->due > 0)
		local_show(list->zone, row->due, due);
	(void)printf("%-*s %-7s %-*s %-20s %s%s%s%s\n", width, at, row->what, width, due, row->name,
		     row->id, *row->topic ? " (" : "", row->topic, *row->topic ? ")" : "");
}

static int fail(const char *path, int status, const char *message)
{
	if (message[0])
		return complain(status == DW_EINVAL || status == DW_ENOENT ? EXIT_STORE
									   : exit_of(status),
				"%s", message);
	return complain(exit_of(status), "%.300s: %s", path, dw_strerror(status));
}

int command_journal_list(const struct options *options)
{
	struct journal_list list = {.json = options->value[OPT_JSON] != NULL};
	const char *path = options->words[1];
	char message[DW_MESSAGE_SIZE] = "";
	uint64_t damaged = 0;
	struct local_zone zone;
	int status, flushed, code = shown_zone(options, &zone, &list.zone);

	if (code != EXIT_DONE)
		return code;
	status = dw_journal_list(path, print_row, &list, &damaged, message);
	flushed = session_flush();

	line_free(&list.line);
	if (status != DW_OK)
		return fail(path, status, message);
	if (list.failed)
		return complain(EXIT_FAILED, "out of memory");
	if (damaged > 0)
		return complain(EXIT_FAILED, "%.300s: %" PRIu64 " damaged rows are not listed",
				path, damaged);
	return flushed;
}

/* ---- Drop ---------------------------------------------------------------------------------- */

static int drop_some(const struct options *options, const char *path)
{
	int code = EXIT_DONE;

	for (size_t i = 2; i < options->word_count; i++) {
		char message[DW_MESSAGE_SIZE] = "";
		const char *id = options->words[i];
		int status = dw_journal_drop(path, id, NULL, message);

		if (status == DW_ENOENT && !message[0])
			code = complain(EXIT_ABSENT, "%.300s: the journal has no such timer", id);
		else if (status != DW_OK)
			return fail(path, status, message);
	}
	return code;
}

int command_journal_drop(const struct options *options)
{
	const char *path = options->words[1];
	char message[DW_MESSAGE_SIZE] = "";
	uint64_t count = 0;
	int status;

	if (options->word_count > 2)
		return drop_some(options, path);
	if (!options->value[OPT_YES])
		return complain(EXIT_USAGE,
				"journal drop: Redis never gets what is in the journal; "
				"name ids, or write --yes for all");
	status = dw_journal_drop(path, NULL, &count, message);
	if (status != DW_OK)
		return fail(path, status, message);
	/* session_flush() reports a failed write. */
	(void)printf("dropped %" PRIu64 " timers\n", count);
	return session_flush();
}

/* ---- Replay -------------------------------------------------------------------------------- */

struct journal_replay {
	uint64_t given; /* the number of timers that were passed to Redis */
	uint64_t odd;   /* the number of timers that had changed in Redis meanwhile */
};

static void replay_event(dw *d, const dw_event *event, void *user)
{
	struct journal_replay *replay = user;

	(void)d;
	if (event->kind == DW_EVENT_REPLAYED && !event->id) {
		replay->given += event->count;
	} else if (event->kind == DW_EVENT_REPLAYED) {
		replay->odd++;
		(void)complain(EXIT_DONE, "%s", event->message);
	} else if (event->kind == DW_EVENT_OUTAGE || event->kind == DW_EVENT_CORRUPT) {
		(void)complain(EXIT_DONE, "%s", event->message);
	}
}

static uint64_t rows_of(dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	return dw_get_stats(d, &stats) == DW_OK && stats.journal.state != DW_JOURNAL_READY
		   ? stats.journal.rows + 1
		   : 0;
}

/* replay_until waits until the journal is empty or the time `end` has passed. Returns an exit
 * code. */
static int replay_until(dw *d, const struct journal_replay *replay, dw_usec end)
{
	uint64_t rows = rows_of(d);

	while (rows > 0 && session_steady() < end) {
		int status = session_turn(d, 50);

		if (status != DW_OK && status != DW_ETIMEOUT)
			return complain(exit_of(status), "%s", why(d, status));
		rows = rows_of(d);
	}
	(void)session_turn(d, 0); /* handles the last event */
	/* session_flush() reports a failed write. */
	(void)printf("replayed %" PRIu64 " timers\n", replay->given);
	if (rows > 0)
		return complain(EXIT_STORE, "%" PRIu64 " timers are left in the journal", rows - 1);
	return replay->odd > 0 ? EXIT_FAILED : EXIT_DONE;
}

static void skip_row(const dw_journal_row *row, void *user)
{
	(void)row;
	(void)user;
}

/* find checks that the journal exists, because opening a mistyped name would create a new file.
 * Returns EXIT_DONE, or complains. */
static int find(const char *path)
{
	char message[DW_MESSAGE_SIZE] = "";
	int status = dw_journal_list(path, skip_row, NULL, NULL, message);

	return status == DW_OK ? EXIT_DONE : fail(path, status, message);
}

/* adopt makes the journal forget for which server its rows are, so that this command can replay
 * them to its own server. Returns EXIT_DONE, or complains. */
static int adopt(const char *path)
{
	char message[DW_MESSAGE_SIZE] = "";
	int status = dw_journal_drop(path, "", NULL, message);

	return status == DW_OK || (status == DW_ENOENT && !message[0])
		   ? EXIT_DONE
		   : fail(path, status, message);
}

int command_journal_replay(const struct options *options)
{
	struct journal_replay replay = {0};
	dw_usec patience = REPLAY_PATIENCE;
	int code = EXIT_DONE;
	dw *d;

	if (options->value[OPT_TIMEOUT])
		code = options_duration(options, OPT_TIMEOUT, &patience);
	if (code == EXIT_DONE)
		code = find(options->words[1]);
	if (code == EXIT_DONE && options->value[OPT_YES])
		code = adopt(options->words[1]);
	if (code == EXIT_DONE)
		code = session_look(options,
				    (dw_options){.role = DW_CLIENT,
						 .journal = options->words[1],
						 .on_event = replay_event,
						 .on_event_user = &replay},
				    &d);
	if (code != EXIT_DONE)
		return code;
	return session_close(d, replay_until(d, &replay, session_steady() + patience));
}
