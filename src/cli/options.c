#include "cli/options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/out/durations.h"

enum {
	/* For a long option getopt_long() returns this number plus the option_id. */
	LONG_OPTION = 256,
	SHARDS_MAX = 256
};

#define GETOPT(id, name, key, value, kind)                                                         \
	{name, sizeof(value) > 1 ? required_argument : no_argument, NULL, LONG_OPTION + OPT_##id},
static const struct option table[] = {OPTION_TABLE(GETOPT){NULL, 0, NULL, 0}};

#define KEY(id, name, key, value, kind) {key, value, kind},
static const struct {
	const char *key, *value;
	enum key_of kind;
} keys[] = {OPTION_TABLE(KEY)};

/* is_whole returns true if word is --name or --name=value. Abbreviations do not count. */
static bool is_whole(const char *word, const char *name)
{
	size_t length = strlen(name);

	return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
	       (word[2 + length] == '\0' || word[2 + length] == '=');
}

static int refuse(struct options *options, int answer, int option, const char *word)
{
	if (option < LONG_OPTION || !is_whole(word, table[option - LONG_OPTION].name)) {
		options->unknown = word;
		return EXIT_DONE;
	}
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

/* keep_next stores the next word, or the next option with its value. It sets *ret_more to false
 * after the last word. Returns EXIT_DONE, or complains. */
static int keep_next(struct options *options, int argc, char **argv, bool *ret_more)
{
	const char *word = optind < argc ? argv[optind] : "";
	/* '-' makes getopt_long() return words in order, even with POSIXLY_CORRECT. ':' silences
	 * its error messages. */
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
		return refuse(options, answer, optopt, word);
	if (!is_whole(word, table[answer - LONG_OPTION].name))
		return refuse(options, answer, answer, word);
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
	while (more && code == EXIT_DONE && !ret_options->unknown)
		code = keep_next(ret_options, argc, argv, &more);
	if (code != EXIT_DONE)
		return code;
	/* Behind an unknown option, words serve only to find the command for the message. */
	for (; optind < argc; optind++)
		if (!ret_options->unknown || argv[optind][0] != '-')
			ret_options->words[ret_options->word_count++] = argv[optind];
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

const char *options_key(enum option_id id)
{
	return keys[id].key;
}

enum key_of options_key_of(enum option_id id)
{
	return keys[id].kind;
}

bool options_takes_value(enum option_id id)
{
	return table[id].has_arg == required_argument;
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
	while (*options != OPTION_COUNT)
		if (*options++ == id)
			return true;
	return false;
}

bool options_allows(const struct command *command, enum option_id id)
{
	static const enum option_id every[] = {EVERY_COMMAND OPTION_COUNT};

	return is_among(every, id) || is_among(command->options, id);
}

int options_check(const struct options *options, const struct command *command)
{
	size_t words = options->word_count - 1;

	for (enum option_id id = OPT_STORE; id < OPTION_COUNT; id++)
		if (options->value[id] && !options_allows(command, id))
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
			duration_fault(options->value[id], status));
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
	if (*text >= '0' && *text <= '9')
		return complain(EXIT_USAGE, "--%s \"%.300s\" is too large", table[id].name,
				options->value[id]);
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

/* say_words writes the words of a|b|c as "a, b or c". */
static void say_words(const char *words, char *ret_text, size_t room)
{
	size_t used = 0;

	for (const char *end; words; words = *end ? end + 1 : NULL) {
		const char *before = used == 0 ? "" : strchr(words, '|') ? ", " : " or ";

		end = words + strcspn(words, "|");
		used +=
		    (size_t)snprintf(ret_text + used, room - used, "%s%.*s", before,
				     (int)(end - words), words); /* the texts are ours: it fits */
	}
}

int options_word(const struct options *options, enum option_id id, unsigned *number)
{
	const char *text = options->value[id];
	const char *at = text ? keys[id].value : NULL;
	char known[64];

	for (unsigned place = 0; at; place++) {
		size_t length = strcspn(at, "|");

		if (strlen(text) == length && memcmp(text, at, length) == 0) {
			*number = place;
			return EXIT_DONE;
		}
		at = at[length] ? at + length + 1 : NULL;
	}
	if (!text)
		return EXIT_DONE;
	say_words(keys[id].value, known, sizeof known);
	return complain(EXIT_USAGE, "--%s \"%.64s\": write %s", options_name(id), text, known);
}

int options_log(const struct options *options, enum log_form *ret_form)
{
	unsigned number = log_form_of_stderr() - LOG_TEXT;
	int code = options_word(options, OPT_LOG, &number);

	*ret_form = LOG_TEXT + number;
	return code;
}
