/* Begins and ends a session with the database and the files beside it. The order matters: names,
 * database, the owner's lock and row, the search for damage, and last the files to watch. */
#ifndef DW_STORE_SQLITE_SESSION_H
#define DW_STORE_SQLITE_SESSION_H

#include "store/sqlite/transaction.h"
#include "store/sqlite/owner.h"

/* sqlite_session_open opens or creates the file at path. If the session's role is DW_OWNER, it also
 * takes the ownership. The caller must call sqlite_session_close() even after a failure. On failure
 * it returns DW_EOWNED, DW_ESTORE, DW_EFULL, DW_ENEWER, DW_ENOMEM or DW_ESYS, and ret_message
 * (DW_MESSAGE_SIZE bytes) says why. */
int sqlite_session_open(struct sqlite_batch *, struct sqlite_owner *, const char *path,
			char *ret_message);

/* sqlite_session_take_over makes a client that has the file open its owner. The caller must have
 * set the session's role to DW_OWNER. The errors are those of sqlite_session_open(), but a failure
 * changes nothing. */
int sqlite_session_take_over(struct sqlite_batch *, struct sqlite_owner *, char *ret_message);

/* sqlite_session_give_way makes the owner a client. */
void sqlite_session_give_way(struct sqlite_batch *, struct sqlite_owner *);

/* sqlite_session_close closes the file. It does not touch a file that another process has put in
 * its place. On a full disk the last process that closes the store keeps the freed space as a
 * reserve, because the next process needs some space to begin. */
void sqlite_session_close(struct sqlite_batch *, struct sqlite_owner *);

#endif
