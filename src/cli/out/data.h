/* The data of a timer or a message from the command line. */
#ifndef DW_CLI_DATA_H
#define DW_CLI_DATA_H

#include "cli/options.h"

/* data_max returns the most bytes that a timer carries. A journal, or NULL, adds to them. */
size_t data_max(const char *journal);

/* data_of_options reads --data or --data-file into the timer. *ret_file becomes a block for free(),
 * or stays NULL. Returns EXIT_DONE, or complains. */
int data_of_options(const struct options *, const char *command, dw_timer *, void **ret_file);

#endif
