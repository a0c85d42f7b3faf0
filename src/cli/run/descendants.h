/* Finds the processes that descend from this one, by reading /proc. */
#ifndef DW_CLI_DESCENDANTS_H
#define DW_CLI_DESCENDANTS_H

#include <sys/types.h>

/* descendants_signal sends the signal to the process group and to each descendant outside of it. It
 * also sends SIGCONT, because a stopped process would not act on the signal. If /proc cannot be
 * read, only the group gets the signals. The kernel does not let us signal processes of another
 * user, for example those that sudo started. */
void descendants_signal(pid_t group, int signal);

#endif
