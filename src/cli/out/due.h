/* The deadline of a timer, as the command line or a line of an import gives it. */
#ifndef DW_CLI_DUE_H
#define DW_CLI_DUE_H

#include <stdbool.h>

#include "cli/options.h"
#include "durawheel/durawheel.h"

/* due_of_options reads --in or --at; exactly one must be given. Returns EXIT_DONE, or complains. */
int due_of_options(const struct options *, const char *command, dw_usec *ret_due);

/* due_of_option reads an option that was given: a time, or a duration from now. Returns EXIT_DONE,
 * or complains. */
int due_of_option(const struct options *, enum option_id, dw_usec *ret_due);

/* due_after returns now + delay, at most DW_NEVER. */
dw_usec due_after(dw_usec now, dw_usec delay);

#endif
