/* The options that say which timers are meant: --topic, --prefix, --due-from, --due-before. */
#ifndef DW_CLI_SELECT_H
#define DW_CLI_SELECT_H

#include <stdbool.h>

#include "cli/options.h"
#include "durawheel/select.h"

bool select_is_given(const struct options *);

/* select_of_options returns EXIT_DONE, or complains; command is for the message. */
int select_of_options(const struct options *, const char *command, dw_select *ret_select);

#endif
