/* How an operation changes the row that its id has, while Redis is away. */
#ifndef DW_STORE_FALLBACK_MERGE_H
#define DW_STORE_FALLBACK_MERGE_H

#include "store/fallback/row.h"

enum merge_effect {
	MERGE_REFUSE, /* the row stays as it is; the operation is answered with `status` */
	MERGE_WRITE,  /* a new row with `words` replaces the row */
	MERGE_PASS    /* the row is a put; the file does the operation on it */
};

struct merge {
	enum merge_effect effect;
	int status; /* the status of the answer, once the file has the change */
	struct row_words words;
};

/* How often one timer may be claimed in an outage. So it is enough that the next owner raises the
 * attempt by 16. */
#define CLAIMS_MAX 15u

/* merge_takes returns true if the journal can take an operation of this kind. It takes a claim only
 * if this owner fires while Redis is away. */
bool merge_takes(const dw_op *, bool fires);

/* merge_op combines an operation with the row of its id. row is NULL if the id has no row. `stamp`
 * has the present floor and fence. The caller sets the session. */
struct merge merge_op(const dw_op *, const struct row *row, const dw_replay *stamp);

#endif
