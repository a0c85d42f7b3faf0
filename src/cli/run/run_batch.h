/* The options --batch and --wait of run. */
#ifndef DW_CLI_RUN_BATCH_H
#define DW_CLI_RUN_BATCH_H

#include "cli/options.h"

/* run_batch_read reads --batch and --wait. Without --batch `max` becomes 0. run_batch_read_how
 * changes only the settings that are given, and does not check that there is a topic. Both return
 * EXIT_DONE, or complain. */
int run_batch_read(const struct options *, dw_batch_options *ret_batch);
int run_batch_read_how(const struct options *, dw_batch_options *);

#endif
