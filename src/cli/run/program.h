/* Is there such a program? */
#ifndef DW_CLI_PROGRAM_H
#define DW_CLI_PROGRAM_H

#include <stdbool.h>

/* program_is_there: execvp() would find a file by this name that this user may run. */
bool program_is_there(const char *name);

#endif
