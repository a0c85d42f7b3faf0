/* The processes that descend from this one, as /proc shows them. */
#ifndef DW_CLI_DESCENDANTS_H
#define DW_CLI_DESCENDANTS_H

#include <sys/types.h>

/* descendants_signal sends signal, and SIGCONT for those that are stopped, to the process group
 * and to each descendant outside of it. Where /proc cannot be read it is the group alone. A process
 * that another user started, by sudo for example, may refuse it. */
void descendants_signal(pid_t group, int signal);

#endif
