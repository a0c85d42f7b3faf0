#include "cli/out/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/session.h"

bool rule_is_given(const struct options *options)
{
	return options->value[OPT_EVERY] || options->value[OPT_CRON];
}

enum option_id rule_option_given(const struct options *options)
{
	enum option_id id = 0;

	while (id < OPTION_COUNT &&
	       !(options->value[id] && id != OPT_ZONE && options_key_of(id) == KEY_OF_RULE))
		id++;
	return id;
}

/* split_dates splits the dates of --except. The pointers in `except` point into the copy. */
static int split_dates(struct rule_words *words, const char *dates)
{
	char *at = words->dates = strdup(dates);

	if (!at)
		return complain(EXIT_FAILED, "out of memory");
	while (at) {
		if (words->rule.except_count == DW_EXCEPT_MAX)
			return complain(EXIT_USAGE, "--except: write at most %d dates",
					DW_EXCEPT_MAX);
		words->except[words->rule.except_count++] = at;
		at = strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	words->rule.except = words->except;
	return EXIT_DONE;
}

static int read_missed(const struct options *options, dw_missed *missed)
{
	unsigned number = *missed;
	int code = options_word(options, OPT_MISSED, &number);

	*missed = number;
	return code;
}

static int read_span(const struct options *options, enum option_id id, dw_usec *ret_span)
{
	return options->value[id] ? options_duration(options, id, ret_span) : EXIT_DONE;
}

/* read_missed_after reads --missed-after. In a rule 0 means the default of 60 s, so the option
 * refuses 0. */
static int read_missed_after(const struct options *options, dw_rule *rule)
{
	int code = read_span(options, OPT_MISSED_AFTER, &rule->missed_after_us);

	if (code == EXIT_DONE && options->value[OPT_MISSED_AFTER] && rule->missed_after_us == 0)
		code = complain(EXIT_USAGE, "--missed-after 0: write at least 1us");
	return code;
}

static int read_moment(const struct options *options, enum option_id id, dw_usec *ret_moment)
{
	return options->value[id] ? moment_of_option(options, id, ret_moment) : EXIT_DONE;
}

static int read_times(const struct options *options, dw_rule *rule)
{
	size_t count = 0;
	int code = read_moment(options, OPT_FROM, &rule->start);

	if (code == EXIT_DONE)
		code = read_moment(options, OPT_UNTIL, &rule->end);
	if (code == EXIT_DONE && options->value[OPT_TIMES])
		code = options_count(options, OPT_TIMES, &count);
	rule->count = count;
	return code;
}

/* ---- What is wrong with it ----------------------------------------------------------------- */

const char *rule_field(enum option_id id)
{
	switch (id) {
	case OPT_FROM:
		return "start";
	case OPT_UNTIL:
		return "end";
	case OPT_TIMES:
		return "count";
	default:
		return options_name(id);
	}
}

enum { NAME_SIZE = 32 };

/* name_of writes the name that users write for a field of a rule: an option, or a key in a line of
 * import. It returns "" if the word is not a field. */
static const char *name_of(const char *word, size_t length, enum rule_source source,
			   char ret_name[NAME_SIZE])
{
	ret_name[0] = '\0';
	for (enum option_id id = 0; id < OPTION_COUNT; id++) {
		if (options_key_of(id) != KEY_OF_RULE || strlen(rule_field(id)) != length ||
		    memcmp(rule_field(id), word, length) != 0)
			continue;
		/* All names fit. */
		if (source == RULE_OF_OPTIONS)
			(void)snprintf(ret_name, NAME_SIZE, "--%s", options_name(id));
		else
			(void)snprintf(ret_name, NAME_SIZE, "\"%s\"", options_key(id));
	}
	return ret_name;
}

void rule_fault(const char *message, enum rule_source source, char ret_fault[RULE_FAULT_SIZE])
{
	char names[2][NAME_SIZE];
	const char *space = strrchr(message, ' ');
	const char *last = space ? space + 1 : message + strlen(message);
	const char *name = name_of(last, strlen(last), source, names[0]);
	size_t first_size = strcspn(message, " :");
	const char *first = name_of(message, first_size, source, names[1]);
	const char *middle = *first ? message + first_size : message;

	(void)snprintf(ret_fault, RULE_FAULT_SIZE, "%s%.*s%s", first, (int)(last - middle), middle,
		       *name ? name : last); /* the text always fits */
}

/* check_rule refuses a rule that no command can use. Its messages name the options. Returns
 * EXIT_DONE, or complains. */
static int check_rule(const dw_rule *rule, const struct options *options, const char *command)
{
	char message[DW_MESSAGE_SIZE] = "out of memory", fault[RULE_FAULT_SIZE];
	dw_usec now = session_now(), next;
	int found;

	/* In a rule 0 means that no time was given. */
	if (options->value[OPT_FROM] && rule->start <= 0)
		return complain(EXIT_USAGE,
				"%s: --from \"%.64s\" is not after 1970: write a later time",
				command, options->value[OPT_FROM]);
	if (options->value[OPT_UNTIL] && rule->end <= (rule->start > 0 ? 0 : now))
		return complain(EXIT_USAGE, "%s: --until \"%.64s\" has passed: write a later time",
				command, options->value[OPT_UNTIL]);
	found = dw_rule_next(rule, now, &next, 1, message);
	if (found >= 0)
		return EXIT_DONE;
	rule_fault(message, RULE_OF_OPTIONS, fault);
	return complain(found == DW_EINVAL ? EXIT_USAGE : EXIT_FAILED, "%s: %s", command, fault);
}

enum rule_never rule_never(const dw_rule *rule, dw_usec after)
{
	dw_rule rest = *rule;
	dw_usec next;

	if (dw_rule_next(&rest, after, &next, 1, NULL) != 0)
		return RULE_COMES;
	rest.count = 0;
	if (dw_rule_next(&rest, after, &next, 1, NULL) != 0)
		return RULE_NEVER_TIMES;
	rest.end = 0;
	return dw_rule_next(&rest, after, &next, 1, NULL) != 0 ? RULE_NEVER_UNTIL : RULE_NEVER;
}

int rule_refuse_never(const struct options *options, const dw_rule *rule, dw_usec after,
		      const char *command)
{
	const char *until = options->value[OPT_UNTIL], *cron = options->value[OPT_CRON];
	enum rule_never never = rule_never(rule, after);

	if (never == RULE_COMES)
		return EXIT_DONE;
	if (never == RULE_NEVER_UNTIL)
		return complain(EXIT_USAGE,
				"%s: it never comes: --until \"%.64s\" is before its first "
				"occurrence",
				command, until);
	if (never == RULE_NEVER_TIMES)
		return complain(EXIT_USAGE, "%s: it never comes: all of its --times have passed",
				command);
	return complain(EXIT_USAGE, "%s: it never comes: --%s \"%.64s\" has no occurrence", command,
			cron ? "cron" : "every", cron ? cron : options->value[OPT_EVERY]);
}

/* ---- The rule ------------------------------------------------------------------------------ */

int rule_of_options(const struct options *options, const char *command,
		    struct rule_words *ret_words)
{
	dw_rule *rule = &ret_words->rule;
	int code;

	if (!options->value[OPT_CRON] == !options->value[OPT_EVERY])
		return complain(EXIT_USAGE, "%s: exactly one of --cron and --every is required",
				command);
	rule->size = sizeof *rule;
	rule->cron = options->value[OPT_CRON];
	rule->zone = options->value[OPT_ZONE];
	code = read_span(options, OPT_EVERY, &rule->every);
	if (code == EXIT_DONE && options->value[OPT_EVERY] && rule->every == 0)
		code = complain(EXIT_USAGE, "%s: --every is out of range: write 1ms to 3660d",
				command);
	if (code == EXIT_DONE)
		code = read_times(options, rule);
	if (code == EXIT_DONE && options->value[OPT_EXCEPT])
		code = split_dates(ret_words, options->value[OPT_EXCEPT]);
	if (code == EXIT_DONE)
		code = read_span(options, OPT_JITTER, &rule->jitter_us);
	if (code == EXIT_DONE)
		code = read_missed(options, &rule->missed);
	if (code == EXIT_DONE)
		code = read_missed_after(options, rule);
	if (code == EXIT_DONE)
		code = read_span(options, OPT_MISSED_AGE, &rule->missed_age_us);
	return code == EXIT_DONE ? check_rule(rule, options, command) : code;
}

int rule_of_info(const dw_info *info, const char *command, dw_rule **ret_rule)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";
	int status = dw_rule_parse(info->rule, ret_rule, message);

	if (status != DW_OK)
		return complain(exit_of(status), "%s: %.300s: %s", command, info->id, message);
	/* Rules with a period or a count begin when the timer is put. */
	if ((*ret_rule)->start == 0 && (*ret_rule)->every > 0)
		(*ret_rule)->start = info->occurrence;
	(*ret_rule)->count = 0;
	(*ret_rule)->end = info->rule_end == DW_NEVER ? 0 : info->rule_end;
	return EXIT_DONE;
}

void rule_words_free(struct rule_words *words)
{
	free(words->dates);
}
