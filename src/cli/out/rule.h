/* The rule of a recurring timer, from the options of add and when. */
#ifndef DW_CLI_RULE_H
#define DW_CLI_RULE_H

#include "cli/options.h"

struct rule_words {
	dw_rule rule;
	char *dates; /* --except, divided by NULs */
	const char *except[DW_EXCEPT_MAX];
};

/* rule_is_given returns true if --every or --cron is given. */
bool rule_is_given(const struct options *);

/* rule_option_given returns an option of a rule that is given, or OPTION_COUNT. */
enum option_id rule_option_given(const struct options *);

/* rule_of_info reads the rule of a stored timer: its occurrences are those after info->occurrence.
 * Free it with dw_rule_free(). Returns EXIT_DONE, or complains. */
int rule_of_info(const dw_info *, const char *command, dw_rule **ret_rule);

/* rule_of_options reads the rule and checks it; command is for messages. Returns EXIT_DONE, or
 * complains. Call rule_words_free() in both cases; *ret_words starts as zero. */
int rule_of_options(const struct options *, const char *command, struct rule_words *ret_words);
void rule_words_free(struct rule_words *);

/* Why a rule never comes. */
enum rule_never {
	RULE_COMES,
	RULE_NEVER_TIMES, /* all of its occurrences have passed */
	RULE_NEVER_UNTIL, /* its end is before its first occurrence */
	RULE_NEVER
};

/* rule_never says why the rule has no occurrence after a moment, if so. A rule that is wrong counts
 * as one that has occurrences. */
enum rule_never rule_never(const dw_rule *, dw_usec after);

/* rule_refuse_never complains that the rule has no occurrence after a moment. Returns
 * EXIT_USAGE. */
int rule_refuse_never(const struct options *, const dw_rule *, dw_usec after, const char *command);

/* rule_fault writes a message of dw_rule_next() or dw_rule_parse() with the names that the user has
 * written, instead of those of the fields of dw_rule. */
#define RULE_FAULT_SIZE (DW_MESSAGE_SIZE + 32)
enum rule_source { RULE_OF_OPTIONS, RULE_OF_KEYS };
void rule_fault(const char *message, enum rule_source, char ret_fault[RULE_FAULT_SIZE]);

#endif
