/* The origin says to which server the rows of a journal belong, and how much that server's clock
 * differs from this machine's. The file keeps the origin in a row of its own. So a program that
 * starts while Redis is away knows the server, and no other server gets the rows. */
#ifndef DW_STORE_FALLBACK_ORIGIN_H
#define DW_STORE_FALLBACK_ORIGIN_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/fallback/row.h"

struct origin {
	dw_origin server; /* the server; its address is "" if it is unknown */
	dw_usec ahead;    /* how far the server's clock is ahead of this machine's */
	uint64_t floor;   /* the highest generation that the server has reported */
};

/* origin_read reads the origin from the row with the id ORIGIN_ID. */
void origin_read(struct origin *, const struct row_words *, const void *body, size_t size);

/* origin_op makes the operation that writes the origin into the file. Returns NULL without
 * memory. */
dw_op *origin_op(const struct alloc *, const char *name, const struct origin *);

/* origin_differs returns true if the origin names another server. A server with the same address
 * is the same. So is a server whose namespace has the same era. */
bool origin_differs(const struct origin *, const dw_origin *server);

/* origin_is_old returns true if the same server has a new era, or if its clock differs by another
 * amount. */
bool origin_is_old(const struct origin *, const dw_origin *server, dw_usec ahead);

#endif
