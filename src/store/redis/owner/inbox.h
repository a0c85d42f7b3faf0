/* Reads the inbox, in which the scripts note what clients have written. */
#ifndef DW_STORE_REDIS_INBOX_H
#define DW_STORE_REDIS_INBOX_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/page/rows.h"
#include "store/redis/timer/suspect.h"

struct redis_store;

struct redis_inbox {
	dw_op *op;     /* the INBOX that waits for news */
	unsigned left; /* shards not answered */
	struct rows rows;
	bool failed;
	bool rereads;  /* the INBOX is answered when all shards were read, also with nothing */
	bool is_whole; /* those that are read now are all */
	dw_usec since;
};

/* The inbox of one shard. */
struct shard_inbox {
	bool has_news; /* the inbox may have something */
	bool is_read;
	/* The highest version that was read in the inbox. It is a client's version, so no
	 * acknowledged command number covers it. */
	uint64_t seen;
	struct suspect_page suspect;
	/* Until unread_until (steady) the first `unread` rows are passed by, because they cannot be
	 * read. */
	unsigned unread;
	dw_usec unread_until;
};

void inbox_work(struct redis_store *);
void inbox_expect_all(struct redis_store *);
void inbox_end(struct redis_store *, int status);
void inbox_reread(struct redis_store *);

#endif
