/* The options and words of the command line. options.txt says which there are.
 *
 * All commands share the options. An option may therefore stand before or after the name of the
 * command, and means the same for each of them. A later check refuses options that the command does
 * not take. getopt_long() does the parsing. Abbreviated names are refused, because an option of a
 * later version could change their meaning. */
#ifndef DW_CLI_OPTIONS_H
#define DW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/run/log.h"
#include "cli/option_table.h"
#include "durawheel/durawheel.h"

#define OPTION_ID(id, name, key, takes_value, kind) OPT_##id,
enum option_id { OPTION_TABLE(OPTION_ID) OPTION_COUNT };
#undef OPTION_ID

/* Where an option is a key, too: in a section of the file of run --config, or in a line of import,
 * where some are parts of a rule. */
enum key_of { KEY_OF_NO, KEY_OF_RUN, KEY_OF_TOPIC, KEY_OF_IMPORT, KEY_OF_RULE };

struct options {
	/* The value of each option; NULL: not given; "" for a flag. */
	const char *value[OPTION_COUNT];
	const char **topics; /* every --topic; value[OPT_TOPIC] is the last one */
	size_t topic_count;
	const char **hosts; /* every --allow-host; value[OPT_ALLOW_HOST] is the last one */
	size_t host_count;
	const char **words; /* the name of the command and its arguments */
	size_t word_count;
	const char *unknown; /* the first word that looks like an option but is none; or NULL */
};

struct command {
	const char *name;
	const char *summary;  /* one line, a verb first */
	const char *synopsis; /* the arguments after the name */
	const char *help;     /* the text of --help, in whole lines */
	const char *example;
	const enum option_id *options; /* the command's own options, up to OPTION_COUNT */
	size_t words_min;              /* the least number of arguments after the name */
	size_t words_max;
	int (*run)(const struct options *); /* runs the command; NULL: command_help() */
	bool is_beside;                     /* the overview names it only beside another command */
};

/* options_parse returns EXIT_DONE, or complains. It does not complain of an unknown option: what is
 * meant depends on the command. Free with options_free() in any case. */
int options_parse(int argc, char **argv, struct options *ret_options);
void options_free(struct options *);

/* options_name returns the name of an option, without dashes; options_key has '_' for '-'. */
const char *options_name(enum option_id);
const char *options_key(enum option_id);
enum key_of options_key_of(enum option_id);
bool options_takes_value(enum option_id);

/* options_allows returns true if the option belongs to the command, or to every command. */
bool options_allows(const struct command *, enum option_id);

/* options_check refuses options and words that command does not take. Returns EXIT_DONE, or
 * complains. */
int options_check(const struct options *, const struct command *);

/* options_check_name checks a namespace, which becomes part of Redis keys. what says where it came
 * from. Returns EXIT_DONE, or complains. */
int options_check_name(const char *what, const char *name);

/* options_shards returns the value of --shards, or 0 if it is not given. Returns EXIT_DONE, or
 * complains. */
int options_shards(const struct options *, unsigned *ret_shards);

/* options_duration and options_time read the value of an option that was given. options_count reads
 * a whole number of at least 1. EXIT_DONE, or they complain. */
int options_duration(const struct options *, enum option_id, dw_usec *ret_duration);
int options_time(const struct options *, enum option_id, dw_usec *ret_time);
int options_count(const struct options *, enum option_id, size_t *ret_count);

/* options_log returns the form of --log, or that for stderr. Returns EXIT_DONE, or complains. */
int options_log(const struct options *, enum log_form *ret_form);

#endif
