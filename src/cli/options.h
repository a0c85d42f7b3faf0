/* The options and words of the command line. options.txt lists the options.
 *
 * All commands share the options. An option may therefore stand before or after the name of the
 * command, and it means the same for every command. options_check() later refuses options that the
 * command does not take.
 *
 * getopt_long() does the parsing. Abbreviated names are refused, because an option of a later
 * version could change their meaning. */
#ifndef DW_CLI_OPTIONS_H
#define DW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/run/log.h"
#include "cli/option_table.h"
#include "durawheel/durawheel.h"

#define OPTION_ID(id, name, key, value, kind) OPT_##id,
enum option_id { OPTION_TABLE(OPTION_ID) OPTION_COUNT };
#undef OPTION_ID

/* An option may also be a key in another text: in the section [run] or in the section of a topic in
 * the file of `run --config`, or in a line of `import`. KEY_OF_RULE is a key of import that belongs
 * to a rule. */
enum key_of { KEY_OF_NO, KEY_OF_RUN, KEY_OF_TOPIC, KEY_OF_IMPORT, KEY_OF_RULE };

struct options {
	/* The values of the options. A missing option has NULL. A flag has "". */
	const char *value[OPTION_COUNT];
	const char **topics; /* every --topic; value[OPT_TOPIC] has the last one */
	size_t topic_count;
	const char **hosts; /* every --allow-host; value[OPT_ALLOW_HOST] has the last one */
	size_t host_count;
	const char **words; /* the name of the command, then its arguments */
	size_t word_count;
	const char *unknown; /* the first word that starts like an option and is unknown; or NULL */
};

struct command {
	const char *name;
	const char *summary;  /* one line that begins with a verb */
	const char *synopsis; /* how the arguments are written after the name */
	const char *help;     /* the text of --help, in whole lines */
	const char *example;
	const enum option_id *options; /* the command's own options; OPTION_COUNT ends the list */
	size_t words_min;              /* the least number of arguments after the name */
	size_t words_max;
	int (*run)(const struct options *); /* runs the command; NULL for command_help() */
};

/* options_parse reads the command line. Returns EXIT_DONE, or complains. It does not complain about
 * an unknown option, because the right message depends on the command. Call options_free() in both
 * cases. */
int options_parse(int argc, char **argv, struct options *ret_options);
void options_free(struct options *);

/* options_name returns the name of an option without its dashes. options_key returns the name as a
 * key, with '_' for '-'. */
const char *options_name(enum option_id);
const char *options_key(enum option_id);
enum key_of options_key_of(enum option_id);
bool options_takes_value(enum option_id);

/* options_allows returns true if the command takes the option. Some options, such as --store, are
 * allowed for every command. */
bool options_allows(const struct command *, enum option_id);

/* options_check refuses options and words that the command does not take. Returns EXIT_DONE, or
 * complains. */
int options_check(const struct options *, const struct command *);

/* options_check_name checks a namespace, because it becomes part of Redis keys. `what` names its
 * origin for the message. Returns EXIT_DONE, or complains. */
int options_check_name(const char *what, const char *name);

/* options_shards returns the value of --shards, or 0 if it is not given. Returns EXIT_DONE, or
 * complains. */
int options_shards(const struct options *, unsigned *ret_shards);

/* options_duration reads a duration, and options_count a whole number of at least 1. The option
 * must have been given. They return EXIT_DONE, or complain. */
int options_duration(const struct options *, enum option_id, dw_usec *ret_duration);
int options_count(const struct options *, enum option_id, size_t *ret_count);

/* options_word sets *number to which of its words a|b|c in options.txt the option has, from 0 on,
 * and leaves it if the option is not given. Returns EXIT_DONE, or complains with the words. */
int options_word(const struct options *, enum option_id, unsigned *number);

/* options_log returns the format that --log names, or the format that fits stderr. Returns
 * EXIT_DONE, or complains. */
int options_log(const struct options *, enum log_form *ret_form);

#endif
