/* Reads the overdue timers of all shards, in no order. */
#ifndef DW_STORE_REDIS_AUDIT_H
#define DW_STORE_REDIS_AUDIT_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/timer/suspect.h"

struct redis_store;

struct audit {
	dw_op *op;     /* NULL: no audit is under way */
	unsigned left; /* shards not answered */
	bool more;
	int status;
};

/* Where the last audit stopped in a shard. "": the next audit begins at the start. */
struct audit_place {
	char score[24];
	char id[DW_ID_MAX + 1];
	struct suspect_page suspect;
	bool blind;          /* the next page passes a row by that cannot be read */
	dw_usec rests_until; /* steady; and then no page is read for a while */
};

void audit_begin(struct redis_store *, dw_op *);

#endif
