/* The rule of a recurring timer, from the keys of a line of import. */
#ifndef DW_CLI_RULE_KEYS_H
#define DW_CLI_RULE_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/options.h"

#define RULE_KEY_FAULT_SIZE 256

/* The values of a line are those of its keys, in the order of enum option_id. All are strings, but
 * that of OPT_TIMES is a number. */

/* rule_key_given returns the name of a key that has a value, or NULL if none has. */
const char *rule_key_given(const json_t *const values[OPTION_COUNT]);

/* rule_of_keys makes the rule; free it with dw_rule_free(). Returns false if it fails; ret_fault
 * says why. */
bool rule_of_keys(const json_t *const values[OPTION_COUNT], dw_usec now, dw_rule **ret_rule,
		  char ret_fault[RULE_KEY_FAULT_SIZE]);

#endif
