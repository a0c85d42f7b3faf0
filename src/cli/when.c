/* durawheel when: prints when a rule comes next, in UTC and in local time. It opens no store. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/errors.h"
#include "cli/line.h"
#include "cli/session.h"

enum { PAGE = 64, COUNT_DEFAULT = 5, NOTE_SIZE = 80 };

struct when {
	dw_rule rule;
	dw_usec after;
	size_t left; /* occurrences that are still to be printed */
	bool json;
	struct line line;
	char *dates; /* --except, divided by NULs */
	const char *except[DW_EXCEPT_MAX];
};

/* format_clock writes the time as RFC 3339 without an offset, and without a fraction of zero.
 * Returns its length. */
static size_t format_clock(dw_usec time, char text[DW_TIME_SIZE])
{
	size_t length;

	dw_format_time(time, text);
	length = strlen(text) - 1;
	if (time % DW_SECONDS(1) == 0)
		length -= strlen(".000000");
	text[length] = '\0';
	return length;
}

/* format_local writes the time as its local clock shows it, with the offset. */
static void format_local(dw_usec time, const dw_local *local, char text[DW_TIME_SIZE])
{
	size_t length = format_clock(time + local->offset_us, text);
	long long offset = llabs((long long)(local->offset_us / DW_SECONDS(1)));

	/* The year has four digits, so the text fits. */
	(void)snprintf(text + length, DW_TIME_SIZE - length,
		       offset % 60 ? "%c%02lld:%02lld:%02lld" : "%c%02lld:%02lld",
		       local->offset_us < 0 ? '-' : '+', offset / 3600, offset / 60 % 60,
		       offset % 60);
}

/* format_note says why the occurrence is not where one expects it, or "". */
static void format_note(dw_usec time, const dw_local *local, char note[NOTE_SIZE])
{
	char missing[DW_TIME_SIZE];

	note[0] = '\0';
	if (local->shift_us > 0) {
		(void)format_clock(time + local->offset_us - local->shift_us, missing);
		(void)snprintf(note, NOTE_SIZE, "the clock goes forward: %.5s does not exist",
			       strchr(missing, 'T') + 1); /* the note fits */
	} else if (local->passing > 0) {
		(void)snprintf(note, NOTE_SIZE, "comes twice: the %s",
			       local->passing == 1 ? "first" : "second");
	}
}

static int print_occurrence(struct when *when, dw_usec time)
{
	char message[DW_MESSAGE_SIZE], utc[DW_TIME_SIZE], clock[DW_TIME_SIZE], note[NOTE_SIZE];
	dw_local local = {.size = sizeof local};
	int status = dw_rule_local(&when->rule, time, &local, message);

	if (status != DW_OK)
		return complain(exit_of(status), "when: %s", message);
	format_local(time, &local, clock);
	format_note(time, &local, note);
	if (when->json) {
		if (!line_of(&when->line, json_pack("{s:I,s:s,s:s}", "occurrence", (json_int_t)time,
						    "local", clock, "note", note)))
			return complain(EXIT_FAILED, "out of memory");
		(void)fwrite(when->line.bytes, 1, when->line.size, stdout);
		return EXIT_DONE; /* session_flush() checks, here and below */
	}
	(void)format_clock(time, utc);
	(void)printf(*note ? "%sZ  %s  %s\n" : "%sZ  %s\n", utc, clock, note);
	return EXIT_DONE;
}

/* print_page prints the next occurrences, and sets left to 0 if the rule has ended. */
static int print_page(struct when *when)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	dw_usec times[PAGE];
	size_t count = when->left < PAGE ? when->left : PAGE;
	int found = dw_rule_next(&when->rule, when->after, times, count, message);
	int code = EXIT_DONE;

	if (found < 0)
		return complain(found == DW_EINVAL ? EXIT_USAGE : EXIT_FAILED, "when: %s", message);
	for (int i = 0; i < found && code == EXIT_DONE; i++)
		code = print_occurrence(when, times[i]);
	when->left = (size_t)found < count ? 0 : when->left - count;
	if (found > 0)
		when->after = times[found - 1];
	return code;
}

/* split_dates points except at the dates of --except. */
static int split_dates(struct when *when, const char *dates)
{
	char *at = when->dates = strdup(dates);

	if (!at)
		return complain(EXIT_FAILED, "out of memory");
	while (at) {
		if (when->rule.except_count == DW_EXCEPT_MAX)
			return complain(EXIT_USAGE, "--except: write at most %d dates",
					DW_EXCEPT_MAX);
		when->except[when->rule.except_count++] = at;
		at = strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	when->rule.except = when->except;
	return EXIT_DONE;
}

/* read_times reads --from, --until and --count. An occurrence at --from itself counts. */
static int read_times(const struct options *options, struct when *when)
{
	int code = EXIT_DONE;

	when->left = COUNT_DEFAULT;
	when->after = session_now();
	if (options->value[OPT_FROM]) {
		code = options_time(options, OPT_FROM, &when->rule.start);
		when->after = when->rule.start - 1;
	}
	if (code == EXIT_DONE && options->value[OPT_UNTIL])
		code = options_time(options, OPT_UNTIL, &when->rule.end);
	if (code == EXIT_DONE && options->value[OPT_TIMES])
		code = options_count(options, OPT_TIMES, &when->left);
	return code;
}

static int read_rule(const struct options *options, struct when *when)
{
	int code = EXIT_DONE;

	if (!options->value[OPT_CRON] == !options->value[OPT_EVERY])
		return complain(EXIT_USAGE, "when: exactly one of --cron and --every is required");
	when->rule.size = sizeof when->rule;
	when->rule.cron = options->value[OPT_CRON];
	when->rule.zone = options->value[OPT_ZONE];
	if (options->value[OPT_EVERY])
		code = options_duration(options, OPT_EVERY, &when->rule.every);
	if (code == EXIT_DONE && options->value[OPT_EXCEPT])
		code = split_dates(when, options->value[OPT_EXCEPT]);
	return code == EXIT_DONE ? read_times(options, when) : code;
}

int command_when(const struct options *options)
{
	struct when when = {.json = options->value[OPT_JSON] != NULL};
	int code = read_rule(options, &when);

	if (code == EXIT_DONE && when.rule.start == 0 && when.rule.every > 0)
		when.rule.start = when.after + when.rule.every; /* each page counts from there */
	while (code == EXIT_DONE && when.left > 0)
		code = print_page(&when);
	line_free(&when.line);
	free(when.dates);
	return code == EXIT_DONE ? session_flush() : code;
}
