/* Checks the options and the values of [run] against each other and against this machine, before
 * the program opens anything. */
#ifndef DW_CLI_CONFIG_CHECK_H
#define DW_CLI_CONFIG_CHECK_H

#include "cli/run/config.h"

/* config_check complains about each fault. `given` has the options of the command line, which take
 * precedence over the file. So a complaint names the option if `given` has it, and otherwise the
 * line of the file. path is NULL if there is no file. If `looks`, it also asks the library whether
 * it accepts the store. Returns EXIT_DONE or EXIT_USAGE. */
int config_check(const char *path, const struct config *, const struct options *given, bool looks);

/* The place of a value, for messages. It must live until complain_about(NULL). */
struct config_place {
	char words[384];
};

/* config_point_at makes later complaints begin with the line of this value, until
 * complain_about(NULL). An option of the command line has no line. */
void config_point_at(const char *path, const struct config *, const struct options *,
		     enum option_id, struct config_place *ret_place);

#endif
