/* What an operation makes of the row of its id, while Redis is away. */
#ifndef DW_STORE_FALLBACK_MERGE_H
#define DW_STORE_FALLBACK_MERGE_H

#include "store/fallback/row.h"

enum merge_effect {
	MERGE_REFUSE, /* the row stays; the answer is status */
	MERGE_WRITE,  /* words take the place of the row */
	MERGE_MOVE,   /* the row gets another due, and stays */
	MERGE_DELETE  /* no row: Redis never had the timer */
};

struct merge {
	enum merge_effect effect;
	int status; /* the answer, once the file has it */
	struct row_words words;
};

/* merge_takes: the journal can take an operation of this kind. */
bool merge_takes(const dw_op *);

/* merge: row: of the id, NULL: none. stamp: floor and fence of this moment. The session is left to
 * the caller. */
struct merge merge_op(const dw_op *, const struct row *row, const dw_replay *stamp);

#endif
