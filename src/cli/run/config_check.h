/* What the values of [run] and the options need of each other and of this machine, before anything
 * is opened. */
#ifndef DW_CLI_CONFIG_CHECK_H
#define DW_CLI_CONFIG_CHECK_H

#include "cli/run/config.h"

/* config_check complains of each fault with the line of its value, or as an option if `given` has
 * it. `given` takes precedence. path: of the file; NULL: there is none. looks: it also asks whether
 * the library takes the store. EXIT_DONE, or EXIT_USAGE. */
int config_check(const char *path, const struct config *, const struct options *given, bool looks);

/* Where a value stands; the words live until complain_about(NULL). */
struct config_place {
	char words[384];
};

/* config_point_at: the next complaints begin with the line of this value. An option that was given
 * has no line. End it with complain_about(NULL). */
void config_point_at(const char *path, const struct config *, const struct options *,
		     enum option_id, struct config_place *ret_place);

#endif
