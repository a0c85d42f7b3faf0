/* Reads the overdue timers of all shards, in no order. */
#ifndef DW_STORE_REDIS_AUDIT_H
#define DW_STORE_REDIS_AUDIT_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/timer/suspect.h"

struct redis_store;

struct audit {
	dw_op *op;     /* the AUDIT operation; NULL if no audit is under way */
	unsigned left; /* number of shards that have not replied yet */
	bool more;
	int status;
};

/* Where the last audit stopped in a shard. "": the next audit begins at the start of the shard. */
struct audit_place {
	char score[24];
	char id[DW_ID_MAX + 1];
	struct suspect_page suspect;
	bool blind;          /* the next page skips a row that cannot be read */
	dw_usec rests_until; /* before this time no page of the shard is read (steady clock) */
};

void audit_begin(struct redis_store *, dw_op *);

#endif
