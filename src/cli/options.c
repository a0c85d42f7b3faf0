#include "cli/options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/errors.h"
#include "cli/nearest.h"
#include "cli/times.h"

enum {
	LONG_OPTION = 256, /* getopt_long() returns this + option_id */
	SHARDS_MAX = 256
};

/* Sorted like enum option_id. */
static const struct option table[] = {
    {"store", required_argument, NULL, LONG_OPTION + OPT_STORE},
    {"name", required_argument, NULL, LONG_OPTION + OPT_NAME},
    {"shards", required_argument, NULL, LONG_OPTION + OPT_SHARDS},
    {"help", no_argument, NULL, LONG_OPTION + OPT_HELP},
    {"version", no_argument, NULL, LONG_OPTION + OPT_VERSION},
    {"json", no_argument, NULL, LONG_OPTION + OPT_JSON},
    {"topic", required_argument, NULL, LONG_OPTION + OPT_TOPIC},
    {"id", required_argument, NULL, LONG_OPTION + OPT_ID},
    {"in", required_argument, NULL, LONG_OPTION + OPT_IN},
    {"at", required_argument, NULL, LONG_OPTION + OPT_AT},
    {"data", required_argument, NULL, LONG_OPTION + OPT_DATA},
    {"data-file", required_argument, NULL, LONG_OPTION + OPT_DATA_FILE},
    {"late-after", required_argument, NULL, LONG_OPTION + OPT_LATE_AFTER},
    {"new", no_argument, NULL, LONG_OPTION + OPT_NEW},
    {"limit", required_argument, NULL, LONG_OPTION + OPT_LIMIT},
    {"until-idle", no_argument, NULL, LONG_OPTION + OPT_UNTIL_IDLE},
    {"standby", no_argument, NULL, LONG_OPTION + OPT_STANDBY},
    {"all", no_argument, NULL, LONG_OPTION + OPT_ALL},
    {"yes", no_argument, NULL, LONG_OPTION + OPT_YES},
    {"exec", required_argument, NULL, LONG_OPTION + OPT_EXEC},
    {"exec-output", required_argument, NULL, LONG_OPTION + OPT_EXEC_OUTPUT},
    {"jobs", required_argument, NULL, LONG_OPTION + OPT_JOBS},
    {"timeout", required_argument, NULL, LONG_OPTION + OPT_TIMEOUT},
    {"journal", required_argument, NULL, LONG_OPTION + OPT_JOURNAL},
    {"outage", required_argument, NULL, LONG_OPTION + OPT_OUTAGE},
    {"lease", required_argument, NULL, LONG_OPTION + OPT_LEASE},
    {"batch", required_argument, NULL, LONG_OPTION + OPT_BATCH},
    {"wait", required_argument, NULL, LONG_OPTION + OPT_WAIT},
    {"cron", required_argument, NULL, LONG_OPTION + OPT_CRON},
    {"every", required_argument, NULL, LONG_OPTION + OPT_EVERY},
    {"zone", required_argument, NULL, LONG_OPTION + OPT_ZONE},
    {"from", required_argument, NULL, LONG_OPTION + OPT_FROM},
    {"until", required_argument, NULL, LONG_OPTION + OPT_UNTIL},
    {"except", required_argument, NULL, LONG_OPTION + OPT_EXCEPT},
    {"count", required_argument, NULL, LONG_OPTION + OPT_COUNT_SHOWN},
    {"times", required_argument, NULL, LONG_OPTION + OPT_TIMES},
    {"missed", required_argument, NULL, LONG_OPTION + OPT_MISSED},
    {"missed-after", required_argument, NULL, LONG_OPTION + OPT_MISSED_AFTER},
    {"missed-age", required_argument, NULL, LONG_OPTION + OPT_MISSED_AGE},
    {"recurring", no_argument, NULL, LONG_OPTION + OPT_RECURRING},
    {"queue", no_argument, NULL, LONG_OPTION + OPT_QUEUE},
    {"no-queue", no_argument, NULL, LONG_OPTION + OPT_NO_QUEUE},
    {"max", required_argument, NULL, LONG_OPTION + OPT_MAX},
    {"overflow", required_argument, NULL, LONG_OPTION + OPT_OVERFLOW},
    {"expire", required_argument, NULL, LONG_OPTION + OPT_EXPIRE},
    {"hide", required_argument, NULL, LONG_OPTION + OPT_HIDE},
    {"retries", required_argument, NULL, LONG_OPTION + OPT_RETRIES},
    {"backoff", required_argument, NULL, LONG_OPTION + OPT_BACKOFF},
    {"backoff-max", required_argument, NULL, LONG_OPTION + OPT_BACKOFF_MAX},
    {"factor", required_argument, NULL, LONG_OPTION + OPT_FACTOR},
    {"jitter", required_argument, NULL, LONG_OPTION + OPT_JITTER},
    {"time-limit", required_argument, NULL, LONG_OPTION + OPT_TIME_LIMIT},
    {"intake", no_argument, NULL, LONG_OPTION + OPT_INTAKE},
    {"intake-only", no_argument, NULL, LONG_OPTION + OPT_INTAKE_ONLY},
    {"retry", required_argument, NULL, LONG_OPTION + OPT_RETRY},
    {"dead", no_argument, NULL, LONG_OPTION + OPT_DEAD},
    {"why", required_argument, NULL, LONG_OPTION + OPT_WHY},
    {"touch", no_argument, NULL, LONG_OPTION + OPT_TOUCH},
    {"http", required_argument, NULL, LONG_OPTION + OPT_HTTP},
    {"token-file", required_argument, NULL, LONG_OPTION + OPT_TOKEN_FILE},
    {"allow-host", required_argument, NULL, LONG_OPTION + OPT_ALLOW_HOST},
    {"show-data", no_argument, NULL, LONG_OPTION + OPT_SHOW_DATA},
    {"prefix", required_argument, NULL, LONG_OPTION + OPT_PREFIX},
    {"due-from", required_argument, NULL, LONG_OPTION + OPT_DUE_FROM},
    {"due-before", required_argument, NULL, LONG_OPTION + OPT_DUE_BEFORE},
    {"dry-run", no_argument, NULL, LONG_OPTION + OPT_DRY_RUN},
    {"due-earliest", no_argument, NULL, LONG_OPTION + OPT_DUE_EARLIEST},
    {"due-latest", no_argument, NULL, LONG_OPTION + OPT_DUE_LATEST},
    {"data-first", no_argument, NULL, LONG_OPTION + OPT_DATA_FIRST},
    {"wait-max", required_argument, NULL, LONG_OPTION + OPT_WAIT_MAX},
    {"once", no_argument, NULL, LONG_OPTION + OPT_ONCE},
    {"config", required_argument, NULL, LONG_OPTION + OPT_CONFIG},
    {"check", no_argument, NULL, LONG_OPTION + OPT_CHECK},
    {"stop-patience", required_argument, NULL, LONG_OPTION + OPT_STOP_PATIENCE},
    {"log", required_argument, NULL, LONG_OPTION + OPT_LOG},
    {"keep", required_argument, NULL, LONG_OPTION + OPT_KEEP},
    {NULL, 0, NULL, 0},
};
_Static_assert(sizeof table / sizeof table[0] == OPT_COUNT + 1, "one row an option");

/* is_whole: is word --name or --name=value, and not an abbreviation? */
static bool is_whole(const char *word, const char *name)
{
	size_t length = strlen(name);

	return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
	       (word[2 + length] == '\0' || word[2 + length] == '=');
}

static int refuse_unknown(const char *word)
{
	size_t length = strcspn(word, "=");
	size_t dashes = strspn(word, "-");
	int shown = (int)(length > 64 ? 64 : length);
	struct nearest nearest;

	nearest_begin(&nearest, word + dashes, length - dashes);
	for (size_t id = 0; id < OPT_COUNT; id++)
		nearest_try(&nearest, table[id].name);
	if (nearest.name)
		return complain(EXIT_USAGE, "unknown option %.*s; did you mean --%s?", shown, word,
				nearest.name);
	return complain(EXIT_USAGE, "unknown option %.*s; see durawheel --help%s", shown, word,
			dashes > 1 ? "" : " (an id or a file that starts with '-' goes behind --)");
}

static int refuse(int answer, int option, const char *word)
{
	if (option < LONG_OPTION || !is_whole(word, table[option - LONG_OPTION].name))
		return refuse_unknown(word);
	if (answer == ':')
		return complain(EXIT_USAGE, "%s wants a value", word);
	return complain(EXIT_USAGE, "--%s takes no value", table[option - LONG_OPTION].name);
}

static int keep(struct options *options, enum option_id id, const char *value)
{
	if (id == OPT_TOPIC)
		options->topics[options->topic_count++] = value;
	else if (id == OPT_ALLOW_HOST)
		options->hosts[options->host_count++] = value;
	else if (options->value[id])
		return complain(EXIT_USAGE, "--%s is given twice", table[id].name);
	options->value[id] = value ? value : "";
	return EXIT_DONE;
}

/* keep_next keeps one word, or an option with its value. *ret_more: false after the last word. */
static int keep_next(struct options *options, int argc, char **argv, bool *ret_more)
{
	const char *word = optind < argc ? argv[optind] : "";
	/* '-' makes getopt_long() return words in order, even with POSIXLY_CORRECT. ':' silences
	 * its messages. */
	int answer = getopt_long(argc, argv, "-:h", table, NULL);

	*ret_more = answer != -1;
	if (answer == -1)
		return EXIT_DONE;
	if (answer == 1) {
		options->words[options->word_count++] = optarg;
		return EXIT_DONE;
	}
	if (answer == 'h')
		return keep(options, OPT_HELP, NULL);
	if (answer == '?' || answer == ':')
		return refuse(answer, optopt, word);
	if (!is_whole(word, table[answer - LONG_OPTION].name))
		return refuse_unknown(word);
	return keep(options, (enum option_id)(answer - LONG_OPTION), optarg);
}

int options_parse(int argc, char **argv, struct options *ret_options)
{
	size_t count = (size_t)argc + 1;
	bool more = true;
	int code = EXIT_DONE;

	*ret_options = (struct options){
	    .topics = calloc(count, sizeof *ret_options->topics),
	    .hosts = calloc(count, sizeof *ret_options->hosts),
	    .words = calloc(count, sizeof *ret_options->words),
	};
	if (!ret_options->topics || !ret_options->hosts || !ret_options->words)
		return complain(EXIT_FAILED, "out of memory");
	while (more && code == EXIT_DONE)
		code = keep_next(ret_options, argc, argv, &more);
	if (code != EXIT_DONE)
		return code;
	while (optind < argc)
		ret_options->words[ret_options->word_count++] = argv[optind++];
	return EXIT_DONE;
}

void options_free(struct options *options)
{
	free(options->topics);
	free(options->hosts);
	free(options->words);
}

const char *options_name(enum option_id id)
{
	return table[id].name;
}

int options_check_name(const char *what, const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t length = strlen(name);

	if (length == 0 || length > DW_TOPIC_MAX || strspn(name, allowed) != length)
		return complain(EXIT_USAGE,
				"%s \"%.300s\": write 1 to %d letters, digits, '.', '_' or '-'",
				what, name, DW_TOPIC_MAX);
	return EXIT_DONE;
}

static bool is_among(const enum option_id *options, enum option_id id)
{
	while (options && *options != OPT_COUNT)
		if (*options++ == id)
			return true;
	return false;
}

static bool is_allowed(const struct command *command, enum option_id id)
{
	static const enum option_id global[] = {OPT_STORE, OPT_NAME,    OPT_SHARDS,
						OPT_HELP,  OPT_VERSION, OPT_COUNT};

	return is_among(global, id) || is_among(command->options, id);
}

int options_check(const struct options *options, const struct command *command)
{
	size_t words = options->word_count - 1;

	for (enum option_id id = OPT_STORE; id < OPT_COUNT; id++)
		if (options->value[id] && !is_allowed(command, id))
			return complain(EXIT_USAGE,
					"%s has no option --%s; see durawheel %s --help",
					command->name, table[id].name, command->name);
	if (words < command->words_min)
		return complain(EXIT_USAGE, "%s: write durawheel %s %s", command->name,
				command->name, command->synopsis);
	if (words > command->words_max)
		return complain(EXIT_USAGE,
				"%s: unexpected argument: %.64s; see durawheel %s "
				"--help",
				command->name, presentable(options->words[1 + command->words_max]),
				command->name);
	if (options->value[OPT_NAME] &&
	    options_check_name("--name", options->value[OPT_NAME]) != EXIT_DONE)
		return EXIT_USAGE;
	return options_shards(options, &(unsigned){0});
}

int options_duration(const struct options *options, enum option_id id, dw_usec *ret_duration)
{
	int status = duration_of(options->value[id], ret_duration);

	if (status == DW_OK)
		return EXIT_DONE;
	return complain(EXIT_USAGE, "--%s \"%.300s\" %s", table[id].name, options->value[id],
			duration_fault(status));
}

/* time_hint: what the option, or the one beside it, takes besides. */
static const char *time_hint(enum option_id id, const char *text)
{
	if (id == OPT_DUE_FROM || id == OPT_DUE_BEFORE)
		return ", or a duration from now, as 5min";
	return id == OPT_AT && time_is_duration(text) ? "; --in takes durations" : "";
}

int options_time(const struct options *options, enum option_id id, dw_usec *ret_time)
{
	const char *text = options->value[id];
	int status = time_of(text, ret_time);

	if (status == DW_OK)
		return EXIT_DONE;
	return complain(EXIT_USAGE, "--%s \"%.300s\" %s%s", table[id].name, text,
			time_fault(text, status), time_hint(id, text));
}

int options_count(const struct options *options, enum option_id id, size_t *ret_count)
{
	const char *text = options->value[id];
	size_t count = 0;

	for (; *text >= '0' && *text <= '9'; text++) {
		size_t digit = (size_t)(*text - '0');

		if (count > (SIZE_MAX - digit) / 10)
			break;
		count = count * 10 + digit;
	}
	if (*text || count == 0)
		return complain(EXIT_USAGE, "--%s \"%.300s\": write a whole number of at least 1",
				table[id].name, options->value[id]);
	*ret_count = count;
	return EXIT_DONE;
}

int options_shards(const struct options *options, unsigned *ret_shards)
{
	size_t count = 0;
	int code = EXIT_DONE;

	if (options->value[OPT_SHARDS])
		code = options_count(options, OPT_SHARDS, &count);
	if (code == EXIT_DONE && count > SHARDS_MAX)
		code = complain(EXIT_USAGE, "--shards %s: write at most %d",
				options->value[OPT_SHARDS], SHARDS_MAX);
	if (code == EXIT_DONE)
		*ret_shards = (unsigned)count;
	return code;
}

int options_log(const struct options *options, enum log_form *ret_form)
{
	const char *name = options->value[OPT_LOG];
	int form = log_form_of(name);

	if (form < 0)
		return complain(EXIT_USAGE, "--log \"%.300s\": write text, json or journal", name);
	*ret_form = (enum log_form)form;
	return EXIT_DONE;
}
