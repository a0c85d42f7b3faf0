/* Reads the deadline of a timer from the command line or from a line of an import. */
#ifndef DW_CLI_DUE_H
#define DW_CLI_DUE_H

#include <stdbool.h>

#include "cli/options.h"
#include "durawheel/durawheel.h"

/* due_of_options reads --in or --at. Exactly one of them must be given. Returns EXIT_DONE, or
 * complains. */
int due_of_options(const struct options *, const char *command, dw_usec *ret_due);

/* due_of_option reads one option that was given. Its value is a time or a duration from now.
 * Returns EXIT_DONE, or complains. */
int due_of_option(const struct options *, enum option_id, dw_usec *ret_due);

/* due_after returns now + delay, but at most DW_NEVER. */
dw_usec due_after(dw_usec now, dw_usec delay);

#endif
