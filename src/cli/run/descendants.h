/* The processes that descend from this one, as /proc shows them. */
#ifndef DW_CLI_DESCENDANTS_H
#define DW_CLI_DESCENDANTS_H

#include <sys/types.h>

/* descendants_signal sends signal, and SIGCONT to wake stopped processes, to the process group and
 * to each descendant outside of it. If /proc cannot be read, only the group gets the signals. A
 * process that another user started, for example by sudo, may refuse them. */
void descendants_signal(pid_t group, int signal);

#endif
