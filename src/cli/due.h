/* When a timer is due, as the command line and the lines of an import say it. */
#ifndef DW_CLI_DUE_H
#define DW_CLI_DUE_H

#include <stdbool.h>

#include "cli/options.h"
#include "durawheel/durawheel.h"

/* due_of_options reads the one of --in and --at that was given to command. EXIT_DONE, or complains.
 */
int due_of_options(const struct options *, const char *command, dw_usec *ret_due);

/* due_after: now + delay, or DW_NEVER. */
dw_usec due_after(dw_usec now, dw_usec delay);

#endif
