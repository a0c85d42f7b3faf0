/* Who owns the database: one process, by a lock that the kernel frees at its death and that a
 * forked child does not keep (fcntl on FILE-owner), and by a row that says in words who it is.
 *
 * Closing ANY descriptor of FILE-owner in this process drops the lock. So a second opening in the
 * same process must be refused by the row, before the file is touched; both happen in one
 * transaction. */
#ifndef DW_STORE_SQLITE_OWNER_H
#define DW_STORE_SQLITE_OWNER_H

#include "store/sqlite/meta.h"

struct sqlite_owner {
	const char *path; /* FILE-owner */
	int fd;           /* -1: not the owner */
};

/* sqlite_owner_take: the session owns the database afterwards and its inbox is empty, because the
 * owner reads everything next. DW_OK, DW_EOWNED, DW_ESTORE, DW_EFULL, DW_ESYS; then ret_message
 * (DW_MESSAGE_SIZE) says why. */
int sqlite_owner_take(struct sqlite_owner *, struct sqlite_session *, char *ret_message);

/* sqlite_owner_leave takes the row back; sqlite_owner_unlock, after the database was closed, the
 * lock. */
void sqlite_owner_leave(struct sqlite_owner *, struct sqlite_session *);
void sqlite_owner_unlock(struct sqlite_owner *);

#endif
