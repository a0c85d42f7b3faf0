/* Lists of rows. */
#ifndef DW_STORE_REDIS_ROWS_H
#define DW_STORE_REDIS_ROWS_H

#include <stdbool.h>

#include "durawheel/store.h"

/* A list of rows. All zero is the empty list. */
struct rows {
	dw_row *first;
	dw_row *last;
	size_t count;
};

typedef bool rows_before(const dw_row *a, const dw_row *b);

void rows_push(struct rows *, dw_row *);
dw_row *rows_pop(struct rows *); /* the list must not be empty */

/* rows_sort merges lists of 1, 2, 4 ... rows. It allocates nothing, and keeps the order of equal
 * rows. */
dw_row *rows_sort(dw_row *, rows_before *);

#endif
