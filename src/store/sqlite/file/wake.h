/* The pipe FILE-wake. By writing one byte to it, a client tells the owner that it has changed the
 * database.
 *
 * Nothing depends on the pipe. If it is missing, full, without a reader or not a pipe, the owner
 * notices the change a little later by itself. So an error here is never a failure, and a byte too
 * many only costs one look too many. The thread that writes must have SIGPIPE blocked. */
#ifndef DW_STORE_SQLITE_WAKE_H
#define DW_STORE_SQLITE_WAKE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct sqlite_wake {
	const char *path;
	int fd;       /* the pipe's end that this process has, as owner or client; -1: closed */
	int event_fd; /* an eventfd that wakes the thread from inside this process */
};

/* sqlite_wake_init makes event_fd. Returns DW_OK or DW_ESYS. */
int sqlite_wake_init(struct sqlite_wake *);
void sqlite_wake_free(struct sqlite_wake *);

/* sqlite_wake_make makes the pipe, or uses the pipe that an earlier owner has left. It does not
 * touch another user's pipe, or one with a second name. Returns false if there is no pipe; errno
 * says why. */
bool sqlite_wake_make(struct sqlite_wake *);

/* sqlite_wake_exists returns true if the name still leads to the open pipe. */
bool sqlite_wake_exists(const struct sqlite_wake *);

/* sqlite_wake_remove deletes the pipe. An owner calls it when it leaves. */
void sqlite_wake_remove(struct sqlite_wake *);

/* sqlite_wake_owner writes a byte to the owner's pipe. It never waits. */
void sqlite_wake_owner(struct sqlite_wake *);

/* sqlite_wake_thread makes sqlite_wake_wait() return. Any thread of this process may call it. */
void sqlite_wake_thread(struct sqlite_wake *);

/* sqlite_wake_wait sleeps for at most `most`. With `heed`, it also returns when a client writes to
 * the pipe. Returns true if a client has written. */
bool sqlite_wake_wait(struct sqlite_wake *, bool heed, dw_usec most);

#endif
