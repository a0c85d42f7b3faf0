/* Builds the rule of a recurring timer from the keys of a line of import. */
#ifndef DW_CLI_RULE_KEYS_H
#define DW_CLI_RULE_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/options.h"

#define RULE_KEY_FAULT_SIZE 256

/* `values` has the value of each key, in the order of enum option_id. All values are strings,
 * except the number of OPT_TIMES. */

/* rule_key_given returns the name of the first key of a rule that has a value, or NULL. */
const char *rule_key_given(const json_t *const values[OPTION_COUNT]);

/* rule_of_keys builds the rule. Free it with dw_rule_free(). Returns false if the keys are invalid;
 * ret_fault then has the message. */
bool rule_of_keys(const json_t *const values[OPTION_COUNT], dw_usec now, dw_rule **ret_rule,
		  char ret_fault[RULE_KEY_FAULT_SIZE]);

#endif
