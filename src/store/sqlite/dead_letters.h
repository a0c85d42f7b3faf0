/* The dead letters in the database: how they are added, listed, found and dropped. The functions
 * return SQLite codes, as in operations.h. */
#ifndef DW_STORE_SQLITE_DEAD_LETTERS_H
#define DW_STORE_SQLITE_DEAD_LETTERS_H

#include "store/sqlite/meta.h"
#include "store/sqlite/row.h"

/* A dead letter. It is valid until its statement is stepped or reset. */
struct sqlite_dead {
	sqlite3_stmt *statement; /* NULL if there is no letter */
	struct sqlite_row row;
	sqlite3_int64 number;
};

/* sqlite_dead_add copies the stored timer to the dead letters, for the operation's reason. */
int sqlite_dead_add(struct sqlite_session *, const dw_op *, const struct life_record *);

/* sqlite_dead_forget drops letters that are too old or too many. It sets op->count to the number of
 * letters that it dropped. */
int sqlite_dead_forget(struct sqlite_session *, dw_op *);

/* sqlite_dead_find finds the letter of the operation's id and generation. If the generation is 0,
 * it finds the last letter of the id. */
int sqlite_dead_find(struct sqlite_session *, const dw_op *, struct sqlite_dead *ret_dead);

/* sqlite_dead_revive makes a timer from the letter, and drops the letter. */
int sqlite_dead_revive(struct sqlite_session *, sqlite3_int64 number, const struct life_record *,
		       uint32_t seal);

int sqlite_dead_scan(struct sqlite_session *, dw_op *);
int sqlite_dead_drop(struct sqlite_session *, dw_op *);

/* sqlite_dead_letter makes a dead letter of a message (LETTER), unless the letter exists
 * already. */
int sqlite_dead_letter(struct sqlite_session *, dw_op *);

#endif
