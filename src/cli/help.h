/* The help texts of the command. */
#ifndef DW_CLI_HELP_H
#define DW_CLI_HELP_H

#include <stdio.h>

#include "cli/options.h"

/* help_print_overview prints the list of the commands, and help_print the help of one. The caller
 * must flush stdout. */
void help_print_overview(FILE *);
void help_print(const struct command *);

/* command_help is `durawheel help`. */
int command_help(const struct options *);

/* help_no_command complains that word is not a command. Returns EXIT_USAGE. */
int help_no_command(const char *word);

/* help_no_option complains that word is not an option of the command, which is NULL if it is not
 * known. Returns EXIT_USAGE. */
int help_no_option(const char *word, const struct command *);

#endif
