/* Builds the rule of a recurring timer from the keys of a line of import. */
#ifndef DW_CLI_RULE_KEYS_H
#define DW_CLI_RULE_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/options.h"
#include "cli/out/times.h"

#define RULE_KEY_FAULT_SIZE (TIME_FAULT_SIZE + 128)

/* `values` has the value of each key, in the order of enum option_id. All values are strings,
 * except the number of OPT_TIMES. */

/* rule_key_given returns the name of the first key of a rule that has a value, or NULL. "zone" does
 * not count, because a time can have a zone, too. */
const char *rule_key_given(const json_t *const values[OPTION_COUNT]);

/* rule_of_keys builds the rule. It reads times without an offset in the rule's zone, or without
 * such a zone in the zone of the place. Free the rule with dw_rule_free(). Returns false if the
 * keys are invalid. ret_fault then has the message. */
bool rule_of_keys(const json_t *const values[OPTION_COUNT], const struct time_place *,
		  dw_rule **ret_rule, char ret_fault[RULE_KEY_FAULT_SIZE]);

#endif
