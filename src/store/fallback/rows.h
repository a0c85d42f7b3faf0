/* The rows of the journal, as an index by id. */
#ifndef DW_STORE_FALLBACK_ROWS_H
#define DW_STORE_FALLBACK_ROWS_H

#include "store/fallback/row.h"

struct rows_index {
	struct linear table;
	size_t bytes;           /* the bytes of all rows together */
	struct op_queue behind; /* operations that waited for rows which were since removed */
};

int rows_index_init(struct rows_index *, const struct alloc *);

/* rows_index_free frees the index. `behind` must be empty in the index and in each row. */
void rows_index_free(struct rows_index *, const struct alloc *);

/* rows_index_find returns the row of the id, or NULL. */
struct row *rows_index_find(const struct rows_index *, const char *id);

/* rows_index_add makes a row for the id. Returns NULL without memory. */
struct row *rows_index_add(struct rows_index *, const struct alloc *, const char *id);

/* rows_index_remove is the only way in which a row ends. Operations that wait behind the row go
 * into `behind` of the index. */
void rows_index_remove(struct rows_index *, const struct alloc *, struct row *);

/* rows_index_clear removes all rows that the file is not writing. */
void rows_index_clear(struct rows_index *, const struct alloc *);

/* rows_index_each calls visit for every row, in no order. */
void rows_index_each(struct rows_index *, void (*visit)(struct row *, void *user), void *user);

#endif
