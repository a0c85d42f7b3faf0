/* The part of run for --batch: its options. */
#ifndef DW_CLI_RUN_BATCH_H
#define DW_CLI_RUN_BATCH_H

#include "cli/options.h"

/* run_batch_read reads --batch and --wait. max 0: no --batch. Returns EXIT_DONE, or complains.
 * run_batch_read_how leaves alone what is not given, and does not ask for topics. */
int run_batch_read(const struct options *, dw_batch_options *ret_batch);
int run_batch_read_how(const struct options *, dw_batch_options *);

#endif
