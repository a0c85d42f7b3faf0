/* How a session with the database and the files beside it begins and ends. The order matters:
 * names, database, the owner's lock and row, damage, and last the files to watch. */
#ifndef DW_STORE_SQLITE_SESSION_H
#define DW_STORE_SQLITE_SESSION_H

#include "store/sqlite/transaction.h"
#include "store/sqlite/owner.h"

/* sqlite_session_open opens or makes the file at path, and owns it if that is the session's role.
 * After a failure, too, the caller calls sqlite_session_close(). DW_OK, DW_EOWNED, DW_ESTORE,
 * DW_EFULL, DW_ENEWER, DW_ENOMEM, DW_ESYS; ret_message (DW_MESSAGE_SIZE) says why. */
int sqlite_session_open(struct sqlite_batch *, struct sqlite_owner *, const char *path,
			char *ret_message);

/* sqlite_session_take_over makes a client that has the file open the owner; its role says so
 * already. Errors as of sqlite_session_open(), but after a failure everything is as before. */
int sqlite_session_take_over(struct sqlite_batch *, struct sqlite_owner *, char *ret_message);

/* sqlite_session_give_way: the owner is a client from now on. */
void sqlite_session_give_way(struct sqlite_batch *, struct sqlite_owner *);

/* sqlite_session_close closes the file. The last process that closes it on a full disk keeps the
 * space that this frees, because the next process needs some to begin. A file that another process
 * has put in its place is left alone. */
void sqlite_session_close(struct sqlite_batch *, struct sqlite_owner *);

#endif
