/* durawheel when: prints the next occurrences of a rule, in UTC and in local time. The rule is on
 * the command line, or it belongs to a stored timer. In the first case the command opens no
 * store. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/out/clock.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/rule.h"
#include "cli/out/text.h"
#include "cli/session.h"

enum { PAGE = 64, COUNT_DEFAULT = 5 };

struct when {
	const dw_rule *rule;
	const char *id; /* the id of a stored timer, or NULL */
	dw_usec after;
	dw_usec pending, due; /* the pending occurrence of a stored timer, and its deadline */
	int code;
	size_t left; /* the number of occurrences still to print */
	/* The zone's rules have changed, so that the pending occurrence does not exist any more. */
	bool is_gone;
	bool json;
	struct line line;
};

/* note_deadline adds the deadline to the note. The deadline differs from the occurrence because of
 * jitter, a retry or a move. */
static void note_deadline(char note[CLOCK_NOTE_SIZE], dw_usec due)
{
	char time[DW_TIME_SIZE];
	size_t used = strlen(note);

	dw_format_time(due, time);
	(void)snprintf(note + used, CLOCK_NOTE_SIZE - used, "%sis due at %s", used > 0 ? "; " : "",
		       time); /* the note fits */
}

static int print_occurrence(struct when *when, dw_usec time)
{
	char message[DW_MESSAGE_SIZE], utc[DW_TIME_SIZE], clock[DW_TIME_SIZE],
	    note[CLOCK_NOTE_SIZE];
	dw_local local = {.size = sizeof local};
	int status = dw_rule_local(when->rule, time, &local, message);

	if (status != DW_OK)
		return complain(exit_of(status), "when: %s", message);
	clock_local(time, &local, clock);
	clock_note(time, &local, note);
	if (time == when->pending && when->is_gone)
		(void)snprintf(note, sizeof note, "%s", "the rule no longer has it");
	if (time == when->pending && when->due != time)
		note_deadline(note, when->due);
	if (when->json) {
		if (!line_of(&when->line, json_pack("{s:I,s:s,s:s}", "occurrence", (json_int_t)time,
						    "local", clock, "note", note)))
			return complain(EXIT_FAILED, "out of memory");
		(void)fwrite(when->line.bytes, 1, when->line.size, stdout);
		return EXIT_DONE; /* session_flush() reports failed writes, here and below */
	}
	(void)clock_utc(time, utc);
	(void)printf(*note ? "%sZ  %s  %s\n" : "%sZ  %s\n", utc, clock, note);
	return EXIT_DONE;
}

/* refuse complains about the answer `status` of dw_rule_next(). If the rule is that of the command
 * line, the message names its options. */
static int refuse(const struct when *when, int status, const char *message)
{
	char fault[RULE_FAULT_SIZE];

	if (!when->id)
		rule_fault(message, RULE_OF_OPTIONS, fault);
	return complain(status == DW_EINVAL ? EXIT_USAGE : EXIT_FAILED, "when: %s",
			when->id ? message : fault);
}

/* print_page prints the next occurrences. It sets `left` to 0 if the rule has ended. Returns
 * EXIT_DONE, or complains. */
static int print_page(struct when *when)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	dw_usec times[PAGE];
	size_t count = when->left < PAGE ? when->left : PAGE;
	int found = dw_rule_next(when->rule, when->after, times, count, message);
	int code = EXIT_DONE;

	if (found < 0)
		return refuse(when, found, message);
	for (int i = 0; i < found && code == EXIT_DONE; i++)
		code = print_occurrence(when, times[i]);
	when->left = (size_t)found < count ? 0 : when->left - count;
	if (found > 0)
		when->after = times[found - 1];
	return code;
}

static int print_all(struct when *when)
{
	int code = EXIT_DONE;

	while (code == EXIT_DONE && when->left > 0)
		code = print_page(when);
	return code;
}

/* ---- A rule of the command line ------------------------------------------------------------ */

/* when_of_options prints the occurrences of the rule on the command line. An occurrence at the time
 * of --from counts. Returns EXIT_DONE, or complains. */
static int when_of_options(const struct options *options, struct when *when)
{
	struct rule_words words = {0};
	dw_rule *rule = &words.rule;
	int code = rule_of_options(options, "when", &words);

	if (rule->count > 0 && rule->count < when->left)
		when->left = rule->count;
	when->after = rule->start > 0 ? rule->start - 1 : session_now();
	if (code == EXIT_DONE)
		code = rule_refuse_never(options, rule, when->after, "when");
	if (rule->start == 0 && rule->every > 0)
		/* Every page counts its periods from this time. */
		rule->start = when->after + rule->every;
	when->rule = rule;
	if (code == EXIT_DONE)
		code = print_all(when);
	rule_words_free(&words);
	return code;
}

/* ---- The rule of a stored timer ------------------------------------------------------------ */

/* print_pending prints the pending occurrence. It does so even if the rule has no such occurrence
 * any more, because the zone's rules have changed. Returns EXIT_DONE, or complains. */
static int print_pending(struct when *when)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	dw_usec next = DW_NEVER;
	int found = dw_rule_next(when->rule, when->pending - 1, &next, 1, message);

	if (found < 0)
		return refuse(when, found, message);
	when->is_gone = next != when->pending;
	when->after = when->pending;
	when->left--;
	return print_occurrence(when, when->pending);
}

static int print_stored(struct when *when, const dw_info *info)
{
	char word[TEXT_SHELL_SIZE];
	dw_rule *rule;
	int code;

	if (!info->rule)
		return complain(EXIT_FAILED, "when: %.300s has no rule; see durawheel show %s",
				when->id, text_shell_word(when->id, word));
	code = rule_of_info(info, "when", &rule);
	if (code != EXIT_DONE)
		return code;
	when->rule = rule;
	when->pending = info->occurrence;
	when->due = info->due;
	code = print_pending(when);
	if (code == EXIT_DONE)
		code = print_all(when);
	dw_rule_free(rule);
	return code;
}

static void when_answered(dw *d, int status, const dw_info *timers, size_t count,
			  const dw_cursor *next, void *user)
{
	struct when *when = user;

	(void)d;
	(void)next;
	if (status == DW_OK && count == 0)
		status = DW_ENOENT;
	when->code = status == DW_OK ? print_stored(when, timers)
				     : complain(exit_of(status), "when: %.300s: %s", when->id,
						dw_strerror(status));
}

static int when_of_id(const struct options *options, struct when *when)
{
	dw *d;
	int code;

	if (rule_option_given(options) != OPTION_COUNT || options->value[OPT_ZONE])
		return complain(EXIT_USAGE,
				"when: %.300s has its own rule: write an id, "
				"or the options of a rule",
				when->id);
	code = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	if (code != EXIT_DONE)
		return code;
	when->code = EXIT_STORE;
	code = dw_get(d, when->id, when_answered, when);
	if (code != DW_OK)
		when->code = complain(exit_of(code), "id \"%.300s\": %s", when->id, why(d, code));
	else
		(void)session_sync(d); /* on failure when->code stays EXIT_STORE */
	return session_close(d, when->code);
}

int command_when(const struct options *options)
{
	struct when when = {.json = options->value[OPT_JSON] != NULL, .left = COUNT_DEFAULT};
	int code = EXIT_DONE;

	if (options->word_count > 1)
		when.id = options->words[1];
	if (options->value[OPT_COUNT])
		code = options_count(options, OPT_COUNT, &when.left);
	if (code == EXIT_DONE && !when.id && !options->value[OPT_CRON] &&
	    !options->value[OPT_EVERY])
		code = complain(EXIT_USAGE, "when: write an id, --cron or --every");
	if (code == EXIT_DONE)
		code = when.id ? when_of_id(options, &when) : when_of_options(options, &when);
	line_free(&when.line);
	return code == EXIT_DONE ? session_flush() : code;
}
