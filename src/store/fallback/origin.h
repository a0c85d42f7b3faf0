/* Which server the rows of a journal are for, and how its clock stands to this machine's. The file
 * keeps it in a row of its own, so that a program which starts while Redis is away knows it, and so
 * that no other server gets the rows. */
#ifndef DW_STORE_FALLBACK_ORIGIN_H
#define DW_STORE_FALLBACK_ORIGIN_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/fallback/row.h"

struct origin {
	dw_origin server; /* address "": not known */
	dw_usec ahead;    /* the server's clock, before this machine's */
	uint64_t floor;   /* no generation that this program was told is later */
};

/* origin_read reads the server of ORIGIN_ID's row. */
void origin_read(struct origin *, const struct row_words *, const void *body, size_t size);

/* origin_op makes the operation on the file that writes it. NULL: no memory. */
dw_op *origin_op(const struct alloc *, const char *name, const struct origin *);

/* origin_differs returns false if it is the same server: by its address, or by what it has of the
 * namespace. */
bool origin_differs(const struct origin *, const dw_origin *server);

/* origin_is_old returns true if the same server has another era, or its clock stands otherwise. */
bool origin_is_old(const struct origin *, const dw_origin *server, dw_usec ahead);

#endif
