/* The commands, one file each. Each opens the store, does its work, closes and returns an exit
 * code; what was wrong it has said by complain(). */
#ifndef DW_CLI_COMMANDS_H
#define DW_CLI_COMMANDS_H

#include "cli/options.h"

int command_add(const struct options *);
int command_cancel(const struct options *);
int command_import(const struct options *);
int command_list(const struct options *);
int command_run(const struct options *);
int command_show(const struct options *);
int command_stats(const struct options *);

#endif
