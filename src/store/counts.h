/* Turns the text in which the owner reports its counts of each topic into rows. The operation is
 * DW_OP_TOPIC_COUNT; the rows are like those of TOPIC_LIST. */
#ifndef DW_STORE_COUNTS_H
#define DW_STORE_COUNTS_H

#include "port/op.h"

/* counts_add_rows adds a row with status DW_ENOENT for each line of text. Before them it adds one
 * row with the empty id, which says that there is an owner. Call it only if there is an owner:
 * without one the counts are out of date. Returns false without memory. */
bool counts_add_rows(const struct alloc *, dw_op *, dw_row ***tail, const char *text, size_t size);

#endif
