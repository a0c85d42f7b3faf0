/* The numbers that the owner tells of its topics (DW_OP_TOPIC_COUNT), as rows of TOPIC_LIST. */
#ifndef DW_STORE_COUNTS_H
#define DW_STORE_COUNTS_H

#include "port/op.h"

/* counts_add_rows adds a row with status DW_ENOENT for each line of text, and before them one with
 * the empty id: there is an owner. Do not call it without one: its numbers are nobody's. False: no
 * memory. */
bool counts_add_rows(const struct alloc *, dw_op *, dw_row ***tail, const char *text, size_t size);

#endif
