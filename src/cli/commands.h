/* The commands: their table, and one file each. Each opens the store, does its work, closes and
 * returns an exit code; what was wrong it has said by complain(). */
#ifndef DW_CLI_COMMANDS_H
#define DW_CLI_COMMANDS_H

#include "cli/options.h"

extern const struct command commands[];
extern const size_t command_count;

/* command_find: the command of that name, or NULL. */
const struct command *command_find(const char *name);

int command_add(const struct options *);
int command_cancel(const struct options *);
int command_help(const struct options *);
int command_import(const struct options *);
int command_list(const struct options *);
int command_move(const struct options *);
int command_run(const struct options *);
int command_show(const struct options *);
int command_stats(const struct options *);

#endif
