/* How a session begins and ends: the database with all that stands beside it. The order matters:
 * names, database, lock and row of the owner, damage, and what must be there from now on. */
#ifndef DW_STORE_SQLITE_SESSION_H
#define DW_STORE_SQLITE_SESSION_H

#include "store/sqlite/transaction.h"
#include "store/sqlite/owner.h"

struct sqlite_house {
	struct sqlite_batch *batch;
	struct sqlite_owner *owner;
};

/* sqlite_house_enter opens or makes the file at path, and owns it if that is the session's role. On
 * failure sqlite_house_leave() is called all the same. DW_OK, DW_EOWNED, DW_ESTORE, DW_EFULL,
 * DW_ENEWER, DW_ENOMEM, DW_ESYS; ret_message (DW_MESSAGE_SIZE) says why. */
int sqlite_house_enter(struct sqlite_house, const char *path, char *ret_message);

/* sqlite_house_take_over: who is in already becomes the owner; the session's role says so. As
 * sqlite_house_enter(), but on failure everything is as before. */
int sqlite_house_take_over(struct sqlite_house, char *ret_message);

/* sqlite_house_give_way: the owner is a client from now on. */
void sqlite_house_give_way(struct sqlite_house);

/* sqlite_house_leave closes the file and, as the last one on a full disk, keeps what space that
 * frees: the next one needs some to begin. What has become another's is left alone. */
void sqlite_house_leave(struct sqlite_house);

#endif
