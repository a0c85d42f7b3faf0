/* A timer as a row of the database. Each row is checked when it is read: the body by its own
 * checksum, the columns by the seal, and the names by the body. */
#ifndef DW_STORE_SQLITE_ROW_H
#define DW_STORE_SQLITE_ROW_H

#include <sqlite3.h>

#include "base/alloc.h"
#include "port/op.h"
#include "timer/transition.h"

/* A row that was read. It is valid until the statement is stepped or reset. */
struct sqlite_row {
	struct life_record record;
	const char *id;
	size_t id_size;
	const void *body;
	size_t body_size;
	struct why why;
};

/* sqlite_row_read reads a timer from the first columns of a statement that has a row. */
struct sqlite_row sqlite_row_read(sqlite3_stmt *);

/* sqlite_row_copy copies the row for an answer. Returns NULL without memory. */
dw_row *sqlite_row_copy(const struct alloc *, const struct sqlite_row *);

/* sqlite_row_bind binds the parameters 1 to 9: the columns that change during a timer's life, its
 * seal and its generation. */
int sqlite_row_bind(sqlite3_stmt *, const struct life_record *, uint32_t seal);

#endif
