/* The help texts of the command line tool. */
#ifndef DW_CLI_HELP_H
#define DW_CLI_HELP_H

#include <stdio.h>

#include "cli/options.h"

/* help_print_overview prints the list of commands. help_print prints the help of one command. The
 * caller must flush stdout. */
void help_print_overview(FILE *);
void help_print(const struct command *);

/* command_help runs `durawheel help`. Returns an exit code. */
int command_help(const struct options *);

/* help_no_command complains that no command has this name. It may suggest a similar one. Returns
 * EXIT_USAGE. */
int help_no_command(const char *word);

/* help_no_option complains that the command has no such option. The command is NULL if it is
 * unknown. Returns EXIT_USAGE. */
int help_no_option(const char *word, const struct command *);

#endif
