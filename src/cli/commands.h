/* The commands: their table, and one file each. Each opens the store, does its work, closes and
 * returns an exit code; what was wrong it has said by complain(). */
#ifndef DW_CLI_COMMANDS_H
#define DW_CLI_COMMANDS_H

#include "cli/options.h"

extern const struct command commands[];
extern const size_t command_count;

/* command_of: the command that the words begin with, or NULL. A name may have two words. */
const struct command *command_of(const char *const *words, size_t count);

int command_add(const struct options *);
int command_cancel(const struct options *);
int command_check(const struct options *);
int command_dead(const struct options *);
int command_dead_list(const struct options *);
int command_dead_requeue(const struct options *);
int command_dead_drop(const struct options *);
int command_help(const struct options *);
int command_import(const struct options *);
int command_list(const struct options *);
int command_move(const struct options *);
int command_purge(const struct options *);
int command_run(const struct options *);
int command_show(const struct options *);
int command_stats(const struct options *);

#endif
