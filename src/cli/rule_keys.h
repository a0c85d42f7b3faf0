/* The rule of a recurring timer, from the keys of a line of import. */
#ifndef DW_CLI_RULE_KEYS_H
#define DW_CLI_RULE_KEYS_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"

/* In this order a line's values are given. All are strings, but RULE_KEY_TIMES is a number. */
enum rule_key {
	RULE_KEY_EVERY,
	RULE_KEY_CRON,
	RULE_KEY_ZONE,
	RULE_KEY_FROM,
	RULE_KEY_UNTIL,
	RULE_KEY_TIMES,
	RULE_KEY_JITTER,
	RULE_KEY_MISSED,
	RULE_KEY_MISSED_AFTER,
	RULE_KEY_MISSED_AGE,
	RULE_KEY_EXCEPT,
	RULE_KEYS
};

#define RULE_KEY_NAMES                                                                             \
	"every", "cron", "zone", "from", "until", "times", "jitter", "missed", "missed_after",     \
	    "missed_age", "except"

#define RULE_KEY_FAULT_SIZE 256

/* rule_key_given returns the name of a key that has a value, or NULL if none has. */
const char *rule_key_given(const json_t *const values[RULE_KEYS]);

/* rule_of_keys makes the rule; free it with dw_rule_free(). False: ret_fault says why. */
bool rule_of_keys(const json_t *const values[RULE_KEYS], dw_usec now, dw_rule **ret_rule,
		  char ret_fault[RULE_KEY_FAULT_SIZE]);

#endif
