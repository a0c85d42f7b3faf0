/* What an operation makes of the row of its id, while Redis is away. */
#ifndef DW_STORE_FALLBACK_MERGE_H
#define DW_STORE_FALLBACK_MERGE_H

#include "store/fallback/row.h"

enum merge_effect {
	MERGE_REFUSE, /* the row stays; the answer is status */
	MERGE_WRITE,  /* words take the place of the row */
	MERGE_PASS    /* the file does the same with the row, which is a put */
};

struct merge {
	enum merge_effect effect;
	int status; /* the answer, once the file has it */
	struct row_words words;
};

#define CLAIMS_MAX 15u /* of one timer in an outage: the next owner raises the attempt by 16 */

/* merge_takes returns true if the journal can take an operation of this kind; a claim only if this
 * owner fires while Redis is away. */
bool merge_takes(const dw_op *, bool fires);

/* merge joins an operation and the row of its id; row NULL: there is none. stamp: floor and fence
 * of this moment. The session is left to the caller. */
struct merge merge_op(const dw_op *, const struct row *row, const dw_replay *stamp);

#endif
