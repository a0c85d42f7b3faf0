/* durawheel when: prints when a rule comes next, in UTC and in local time. It opens no store. */
#include "cli/commands.h"

#include <stdio.h>

#include "cli/clock.h"
#include "cli/errors.h"
#include "cli/line.h"
#include "cli/rule.h"
#include "cli/session.h"

enum { PAGE = 64, COUNT_DEFAULT = 5 };

struct when {
	struct rule_words words;
	dw_usec after;
	size_t left; /* occurrences that are still to be printed */
	bool json;
	struct line line;
};

static int print_occurrence(struct when *when, dw_usec time)
{
	char message[DW_MESSAGE_SIZE], utc[DW_TIME_SIZE], clock[DW_TIME_SIZE],
	    note[CLOCK_NOTE_SIZE];
	dw_local local = {.size = sizeof local};
	int status = dw_rule_local(&when->words.rule, time, &local, message);

	if (status != DW_OK)
		return complain(exit_of(status), "when: %s", message);
	clock_local(time, &local, clock);
	clock_note(time, &local, note);
	if (when->json) {
		if (!line_of(&when->line, json_pack("{s:I,s:s,s:s}", "occurrence", (json_int_t)time,
						    "local", clock, "note", note)))
			return complain(EXIT_FAILED, "out of memory");
		(void)fwrite(when->line.bytes, 1, when->line.size, stdout);
		return EXIT_DONE; /* session_flush() checks, here and below */
	}
	(void)clock_utc(time, utc);
	(void)printf(*note ? "%sZ  %s  %s\n" : "%sZ  %s\n", utc, clock, note);
	return EXIT_DONE;
}

/* print_page prints the next occurrences, and sets left to 0 if the rule has ended. */
static int print_page(struct when *when)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	dw_usec times[PAGE];
	size_t count = when->left < PAGE ? when->left : PAGE;
	int found = dw_rule_next(&when->words.rule, when->after, times, count, message);
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

/* read_options: an occurrence at --from itself counts. */
static int read_options(const struct options *options, struct when *when)
{
	int code = rule_of_options(options, "when", &when->words);

	when->left = COUNT_DEFAULT;
	when->after = session_now();
	if (when->words.rule.start > 0)
		when->after = when->words.rule.start - 1;
	if (code == EXIT_DONE && options->value[OPT_COUNT_SHOWN])
		code = options_count(options, OPT_COUNT_SHOWN, &when->left);
	return code;
}

int command_when(const struct options *options)
{
	struct when when = {.json = options->value[OPT_JSON] != NULL};
	int code = read_options(options, &when);
	dw_rule *rule = &when.words.rule;

	if (code == EXIT_DONE && rule->start == 0 && rule->every > 0)
		rule->start = when.after + rule->every; /* each page counts from there */
	while (code == EXIT_DONE && when.left > 0)
		code = print_page(&when);
	line_free(&when.line);
	rule_words_free(&when.words);
	return code == EXIT_DONE ? session_flush() : code;
}
