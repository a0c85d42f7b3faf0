/* The pipe FILE-wake, by which a client tells the owner that it has written: with one byte.
 *
 * Nothing depends on the pipe. If it is missing, full, without a reader or not a pipe, the owner
 * notices the change a little later by itself. So an error here is never a failure, and one byte
 * too many only costs one look too many. The thread that writes must have SIGPIPE blocked. */
#ifndef DW_STORE_SQLITE_WAKE_H
#define DW_STORE_SQLITE_WAKE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct sqlite_wake {
	const char *path;
	int fd;       /* the owner's end or a client's; -1: closed */
	int event_fd; /* wakes the thread from inside this process */
};

/* sqlite_wake_init makes event_fd. DW_OK, DW_ESYS. */
int sqlite_wake_init(struct sqlite_wake *);
void sqlite_wake_free(struct sqlite_wake *);

/* sqlite_wake_make makes the pipe, or uses the one that an earlier owner has left. It does not
 * touch another user's pipe, or one with a second name. False: there is no pipe; errno says why. */
bool sqlite_wake_make(struct sqlite_wake *);

/* sqlite_wake_exists returns true if the name still leads to our pipe. */
bool sqlite_wake_exists(const struct sqlite_wake *);

/* sqlite_wake_remove deletes the pipe of an owner that leaves. */
void sqlite_wake_remove(struct sqlite_wake *);

/* sqlite_wake_owner writes the byte, and never waits. */
void sqlite_wake_owner(struct sqlite_wake *);

/* sqlite_wake_thread ends sqlite_wake_wait(). Any thread of this process may call it. */
void sqlite_wake_thread(struct sqlite_wake *);

/* sqlite_wake_wait sleeps for at most that time. `heed`: it also ends when a client writes to the
 * pipe. True: a client has written. */
bool sqlite_wake_wait(struct sqlite_wake *, bool heed, dw_usec most);

#endif
