/* One stream of a scan. */
#ifndef DW_STORE_REDIS_STREAM_H
#define DW_STORE_REDIS_STREAM_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/rows.h"
#include "store/redis/walk.h"

struct redis_store;
struct scan;
struct shard;

#define STREAM_PAGE 512u /* rows of a page at most */

struct stream {
	struct scan *scan;
	struct shard *shard;
	char sign; /* '+', '-'; 'd': dead letters */
	bool asked;
	bool ended;
	size_t page; /* so many rows are asked for */
	struct walk_place place;
	struct rows ready;
	struct rows group; /* of one score, perhaps not complete */
	int64_t group_score;
};

struct scan {
	struct scan *next;
	dw_op *op; /* NULL: it has given its page */
	dw_op_kind kind;
	bool filtered;  /* by a topic */
	bool failed;    /* no memory */
	bool partial;   /* without a shard that is cut off */
	bool useless;   /* freed when its commands are answered */
	dw_cursor last; /* of what was given */
	dw_usec at;
	dw_usec since; /* it has read */
	unsigned under_way;
	size_t rows_under_way; /* at most */
	size_t page;           /* of a stream at most */
	size_t ahead;          /* so many rows of a stream are asked for before they are wanted */
	unsigned count;
	struct stream streams[];
};

void stream_init(struct scan *, struct stream *, struct shard *, char sign, const dw_cursor *after);

/* stream_ask asks for the next page. */
void stream_ask(struct redis_store *, struct stream *);
bool stream_row_is_before(const dw_row *a, const dw_row *b);

/* stream_give_up: the scan is not needed any more. It is freed when its last command is answered.
 * stream_free_scan frees it now. */
void stream_give_up(struct redis_store *, struct scan *);
void stream_free_scan(struct redis_store *, struct scan *);

#endif
