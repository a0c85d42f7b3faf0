/* Checks whether a program exists. */
#ifndef DW_CLI_PROGRAM_H
#define DW_CLI_PROGRAM_H

#include <stdbool.h>

/* program_is_there returns true if execvp() would find a file with this name that this user may
 * run. */
bool program_is_there(const char *name);

#endif
