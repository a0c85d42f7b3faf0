/* How a client tells the owner that it has written: a byte into a named pipe, FILE-wake.
 *
 * Nothing depends on it. If the pipe is missing, full, without a reader or not a pipe, the owner
 * notices the change a little later by itself. So an error here is never a failure, and a byte too
 * many only costs one look too many. The thread that writes must have SIGPIPE blocked. */
#ifndef DW_STORE_SQLITE_WAKE_H
#define DW_STORE_SQLITE_WAKE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct sqlite_wake {
	const char *path;
	int fd;       /* the owner's end or a client's; -1: closed */
	int event_fd; /* wakes the thread from inside this process */
};

/* sqlite_wake_init: DW_OK, DW_ESYS. */
int sqlite_wake_init(struct sqlite_wake *);
void sqlite_wake_free(struct sqlite_wake *);

/* sqlite_wake_make makes the pipe, or uses the one that an earlier owner has left. It leaves alone
 * another user's pipe, and one with a second name. False: there is no pipe, and errno says why. */
bool sqlite_wake_make(struct sqlite_wake *);

/* sqlite_wake_exists: the name still leads to our pipe. */
bool sqlite_wake_exists(const struct sqlite_wake *);

/* sqlite_wake_remove: an owner that leaves removes its pipe. */
void sqlite_wake_remove(struct sqlite_wake *);

/* sqlite_wake_owner writes the byte. It never waits. */
void sqlite_wake_owner(struct sqlite_wake *);

/* sqlite_wake_thread ends sqlite_wake_wait(), from any thread of this process. */
void sqlite_wake_thread(struct sqlite_wake *);

/* sqlite_wake_wait sleeps at most so long. `heed`: also until a client writes to the pipe. True:
 * one has written. */
bool sqlite_wake_wait(struct sqlite_wake *, bool heed, dw_usec most);

#endif
