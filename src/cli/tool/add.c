/* durawheel add: adds one timer, and prints its id once the store has confirmed it. */
#include "cli/commands.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/out/data.h"
#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/out/rule.h"
#include "cli/out/text.h"
#include "cli/session.h"
#include "durawheel/ended.h"

static int read_late_after(const struct options *options, dw_usec *ret_late_after)
{
	int code;

	if (!options->value[OPT_LATE_AFTER])
		return EXIT_DONE;
	code = options_duration(options, OPT_LATE_AFTER, ret_late_after);
	if (code == EXIT_DONE && *ret_late_after == 0)
		return complain(EXIT_USAGE,
				"--late-after 0 would never deliver: write at least 1us");
	return code;
}

static int read_keep(const struct options *options, dw_usec *ret_keep)
{
	int code;

	if (!options->value[OPT_KEEP])
		return EXIT_DONE;
	code = options_duration(options, OPT_KEEP, ret_keep);
	if (code == EXIT_DONE && (*ret_keep == 0 || *ret_keep > DW_KEEP_MAX))
		return complain(EXIT_USAGE, "--keep \"%.40s\": write at most 90d, and at least 1us",
				options->value[OPT_KEEP]);
	return code;
}

/* check_mode refuses options that contradict each other. Returns EXIT_DONE, or complains. */
static int check_mode(const dw_timer *timer)
{
	const unsigned modes = DW_DUE_EARLIEST | DW_DUE_LATEST | DW_DATA_FIRST;

	if (timer->flags & DW_NEW && timer->flags & DW_ONCE)
		return complain(EXIT_USAGE, "add: --once refuses all that --new does: write one of "
					    "them");
	if (timer->flags & DW_NEW && timer->flags & modes)
		return complain(EXIT_USAGE, "add: --new stands alone: there is nothing to keep");
	if (timer->flags & DW_ONCE && timer->flags & modes)
		return complain(EXIT_USAGE, "add: --once replaces no timer: it has no "
					    "--due-earliest, --due-latest and --data-first");
	if (timer->flags & DW_DUE_EARLIEST && timer->flags & DW_DUE_LATEST)
		return complain(EXIT_USAGE, "add: write --due-earliest or --due-latest, not both");
	if (timer->flags & modes && timer->rule)
		return complain(EXIT_USAGE, "add: a rule has no --due-earliest, --due-latest and "
					    "--data-first");
	return EXIT_DONE;
}

/* read_mode reads the options that change an existing timer with the same id. Returns EXIT_DONE, or
 * complains. */
static int read_mode(const struct options *options, dw_timer *timer)
{
	int code;

	timer->flags = (options->value[OPT_NEW] ? DW_NEW : 0) |
		       (options->value[OPT_ONCE] ? DW_ONCE : 0) |
		       (options->value[OPT_DUE_EARLIEST] ? DW_DUE_EARLIEST : 0) |
		       (options->value[OPT_DUE_LATEST] ? DW_DUE_LATEST : 0) |
		       (options->value[OPT_DATA_FIRST] ? DW_DATA_FIRST : 0);
	code = check_mode(timer);
	if (code != EXIT_DONE || !options->value[OPT_WAIT_MAX])
		return code;
	if (!options->value[OPT_DUE_LATEST])
		return complain(EXIT_USAGE, "add: --wait-max is for --due-latest");
	code = options_duration(options, OPT_WAIT_MAX, &timer->wait_max_us);
	if (code == EXIT_DONE && timer->wait_max_us == 0)
		code = complain(EXIT_USAGE, "--wait-max 0: write at least 1us");
	return code;
}

struct adding {
	const struct options *options;
	bool once;
	int code;
};

static void add_answered(dw *d, const dw_result *result, void *user)
{
	struct adding *adding = user;
	char word[TEXT_SHELL_SIZE], words[SESSION_WHY_SIZE];

	(void)d;
	if (result->status == DW_EEXIST && adding->once)
		adding->code = complain(exit_of(result->status),
					"%s: the id has a timer already, or its end is kept: see "
					"durawheel show %s",
					result->id, text_shell_word(result->id, word));
	else if (result->status != DW_OK)
		adding->code = complain(exit_of(result->status), "%s: %s", result->id,
					session_why(adding->options, result->status, words));
	else if (puts(result->id) >= 0)
		adding->code = EXIT_DONE; /* session_flush() reports a failed write */
	session_tell_journaled(result);
}

static int store(const struct options *options, const dw_timer *timer)
{
	struct adding adding = {
	    .options = options, .once = timer->flags & DW_ONCE, .code = EXIT_STORE};
	dw *d;
	int status = session_open(options, (dw_options){.role = DW_CLIENT}, &d);

	if (status != EXIT_DONE)
		return status;
	status = dw_put(d, timer, add_answered, &adding);
	if (status != DW_OK)
		adding.code = complain(exit_of(status), "%s", why(d, status));
	else
		(void)session_sync(d); /* on failure the code stays EXIT_STORE */
	return session_close(d, adding.code);
}

/* read_rule refuses a rule without an occurrence. The library refuses it too, but its message would
 * not name the options. Returns EXIT_DONE, or complains. */
static int read_rule(const struct options *options, struct rule_words *words)
{
	int code = rule_of_options(options, "add", words);

	return code == EXIT_DONE ? rule_refuse_never(options, &words->rule, session_now(), "add")
				 : code;
}

/* read_when reads whether the timer fires once or by a rule. Returns EXIT_DONE, or complains. */
static int read_when(const struct options *options, struct rule_words *words, dw_timer *timer)
{
	enum option_id part = rule_option_given(options);

	if (rule_is_given(options)) {
		timer->rule = &words->rule;
		if (options->value[OPT_IN] || options->value[OPT_AT])
			return complain(EXIT_USAGE,
					"add: a rule has no --in and --at: use --from TIME");
		if (options->value[OPT_LATE_AFTER])
			return complain(EXIT_USAGE, "add: a rule has no --late-after: use --missed "
						    "and --missed-age");
		return read_rule(options, words);
	}
	if (part != OPTION_COUNT)
		return complain(EXIT_USAGE, "add: --%s is for --every and --cron",
				options_name(part));
	if (!options->value[OPT_IN] && !options->value[OPT_AT])
		return complain(EXIT_USAGE,
				"add: when? write one of --in DURATION and --at TIME, or, for a "
				"recurring timer, --every DURATION or --cron EXPRESSION");
	return due_of_options(options, "add", &timer->due);
}

int command_add(const struct options *options)
{
	struct rule_words words = {0};
	dw_timer timer = {
	    .size = sizeof timer,
	    .id = options->value[OPT_ID],
	    .topic = options->value[OPT_TOPIC],
	};
	void *file = NULL;
	int code = EXIT_DONE;

	if (options->topic_count != 1)
		code = complain(EXIT_USAGE, "add: exactly one --topic is required");
	if (code == EXIT_DONE)
		code = read_when(options, &words, &timer);
	if (code == EXIT_DONE)
		code = read_mode(options, &timer);
	if (code == EXIT_DONE)
		code = read_late_after(options, &timer.late_after_us);
	if (code == EXIT_DONE)
		code = read_keep(options, &timer.keep_us);
	if (code == EXIT_DONE)
		code = data_of_options(options, "add", &timer, &file);
	if (code == EXIT_DONE)
		code = store(options, &timer);
	rule_words_free(&words);
	free(file);
	return code;
}
