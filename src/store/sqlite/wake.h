/* How a client tells the owner that it has written: a byte into a pipe with a name, FILE-wake.
 *
 * Nothing depends on it. Where it is missing, of another kind, full or without a reader, the owner
 * looks for itself a little later. So no error of it is anybody's failure, and a byte too many is a
 * look too many. The thread that rings must have SIGPIPE blocked. */
#ifndef DW_STORE_SQLITE_WAKE_H
#define DW_STORE_SQLITE_WAKE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct sqlite_bell {
	const char *path;
	int fd;       /* the owner's end or a client's; -1: closed */
	int event_fd; /* wakes the thread from inside this process */
};

/* sqlite_bell_init: DW_OK, DW_ESYS. */
int sqlite_bell_init(struct sqlite_bell *);
void sqlite_bell_free(struct sqlite_bell *);

/* sqlite_bell_hang makes the pipe, or uses the one an earlier owner has left. Another user's pipe,
 * or one with a second name, is left alone. False: there is none, errno says why. */
bool sqlite_bell_hang(struct sqlite_bell *);

/* sqlite_bell_hangs: its name still leads to it. */
bool sqlite_bell_hangs(const struct sqlite_bell *);

/* sqlite_bell_take_down: an owner that leaves takes it along. */
void sqlite_bell_take_down(struct sqlite_bell *);

/* sqlite_bell_ring never waits. */
void sqlite_bell_ring(struct sqlite_bell *);

/* sqlite_bell_wake ends sqlite_bell_wait, from any thread of this process. */
void sqlite_bell_wake(struct sqlite_bell *);

/* sqlite_bell_wait sleeps at most so long. True: somebody has rung, which is only listened to if
 * heeded. */
bool sqlite_bell_wait(struct sqlite_bell *, bool heed, dw_usec most);

#endif
