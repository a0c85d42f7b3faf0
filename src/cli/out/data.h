/* Reads the data of a timer or a message from the command line. */
#ifndef DW_CLI_DATA_H
#define DW_CLI_DATA_H

#include "cli/options.h"

/* data_max returns the largest size of a timer's data. A journal stores some bytes with each timer,
 * so with a journal the limit is lower. `journal` may be NULL. */
size_t data_max(const char *journal);

/* data_of_options reads --data or --data-file into the timer. The caller frees *ret_file, which may
 * be NULL. Returns EXIT_DONE, or complains. */
int data_of_options(const struct options *, const char *command, dw_timer *, void **ret_file);

#endif
