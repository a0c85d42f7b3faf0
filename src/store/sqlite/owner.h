/* Decides which process owns the database: by a lock (fcntl on FILE-owner), and by a row that names
 * the owner. The kernel frees the lock when its process dies, and a forked child does not keep it.
 *
 * When this process closes ANY descriptor of FILE-owner, the kernel drops the lock of this process.
 * Therefore the row must refuse a second opening in the same process, before the file is touched.
 * Row and lock are taken in one transaction. */
#ifndef DW_STORE_SQLITE_OWNER_H
#define DW_STORE_SQLITE_OWNER_H

#include "store/sqlite/meta.h"

struct sqlite_owner {
	const char *path; /* the path of FILE-owner */
	int fd;           /* the descriptor with the lock; -1 if this process is not the owner */
};

/* sqlite_owner_take makes the session the owner of the database. It also empties the inbox, because
 * the owner reads everything next. On failure it returns DW_EOWNED, DW_ESTORE, DW_EFULL, DW_ENEWER
 * or DW_ESYS, and ret_message (DW_MESSAGE_SIZE bytes) says why. */
int sqlite_owner_take(struct sqlite_owner *, struct sqlite_session *, char *ret_message);

/* sqlite_owner_leave clears the owner's row. sqlite_owner_unlock frees the lock; call it after the
 * database was closed. */
void sqlite_owner_leave(struct sqlite_owner *, struct sqlite_session *);
void sqlite_owner_unlock(struct sqlite_owner *);

#endif
