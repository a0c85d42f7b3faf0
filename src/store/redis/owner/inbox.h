/* Reads the inbox, in which the scripts note what clients have written. */
#ifndef DW_STORE_REDIS_INBOX_H
#define DW_STORE_REDIS_INBOX_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/page/rows.h"
#include "store/redis/timer/suspect.h"

struct redis_store;

struct redis_inbox {
	dw_op *op;     /* the INBOX operation that waits for news */
	unsigned left; /* number of shards that have not replied yet */
	struct rows rows;
	bool failed;
	/* The INBOX is answered when all shards were read, even if they had nothing. */
	bool rereads;
	bool is_whole; /* all shards are being read now */
	dw_usec since;
};

/* The inbox of one shard. */
struct shard_inbox {
	bool has_news; /* the inbox may have entries */
	bool is_read;
	/* The highest version that was read in the inbox. A client made this version, so it is not
	 * covered by the number of the owner's last acknowledged command. */
	uint64_t seen;
	struct suspect_page suspect;
	/* Until unread_until (steady clock) the first `unread` rows are skipped, because they
	 * cannot be read. */
	unsigned unread;
	dw_usec unread_until;
};

void inbox_work(struct redis_store *);
void inbox_expect_all(struct redis_store *);
void inbox_end(struct redis_store *, int status);
void inbox_reread(struct redis_inbox *);

#endif
