/* Builds the rule of a recurring timer from the options of add and when. */
#ifndef DW_CLI_RULE_H
#define DW_CLI_RULE_H

#include "cli/options.h"

struct rule_words {
	dw_rule rule;
	char *dates; /* the dates of --except, each ended by a NUL */
	const char *except[DW_EXCEPT_MAX];
};

/* rule_is_given returns true if --every or --cron is given. */
bool rule_is_given(const struct options *);

/* rule_option_given returns the first given option that belongs to a rule, or OPTION_COUNT. --zone
 * does not count, because a time can have a zone, too. */
enum option_id rule_option_given(const struct options *);

/* rule_of_info reads the rule of a stored timer. Its occurrences come after info->occurrence. Free
 * it with dw_rule_free(). Returns EXIT_DONE, or complains. */
int rule_of_info(const dw_info *, const char *command, dw_rule **ret_rule);

/* rule_of_options builds the rule from options and checks it. `command` begins the messages.
 * *ret_words must start as zero, and holds the memory of the rule. Call rule_words_free() even if
 * this fails. Returns EXIT_DONE, or complains. */
int rule_of_options(const struct options *, const char *command, struct rule_words *ret_words);
void rule_words_free(struct rule_words *);

/* The reasons why a rule has no occurrence. */
enum rule_never {
	RULE_COMES,
	RULE_NEVER_TIMES, /* all of its occurrences have passed */
	RULE_NEVER_UNTIL, /* its end is before its first occurrence */
	RULE_NEVER
};

/* rule_never returns why the rule has no occurrence after the time `after`. Returns RULE_COMES if
 * it has one, or if the rule is invalid. */
enum rule_never rule_never(const dw_rule *, dw_usec after);

/* rule_refuse_never refuses a rule that has no occurrence after the time `after`. Returns
 * EXIT_DONE, or complains. */
int rule_refuse_never(const struct options *, const dw_rule *, dw_usec after, const char *command);

/* rule_field returns the name that a rule's text has for what an option says. */
const char *rule_field(enum option_id);

/* rule_fault copies a message of dw_rule_next() or dw_rule_parse(). It replaces the field names of
 * dw_rule by the names that the user writes. */
#define RULE_FAULT_SIZE (DW_MESSAGE_SIZE + 32)
enum rule_source { RULE_OF_OPTIONS, RULE_OF_KEYS };
void rule_fault(const char *message, enum rule_source, char ret_fault[RULE_FAULT_SIZE]);

#endif
