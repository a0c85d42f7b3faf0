/* Reads the options that select timers: --topic, --prefix, --due-from and --due-before. */
#ifndef DW_CLI_SELECT_H
#define DW_CLI_SELECT_H

#include <stdbool.h>

#include "cli/options.h"
#include "durawheel/select.h"

bool select_is_given(const struct options *);

/* select_of_options reads the selection. `command` begins the messages. Returns EXIT_DONE, or
 * complains. */
int select_of_options(const struct options *, const char *command, dw_select *ret_select);

#endif
