/* One stream of a scan: claimed timers, pending timers, or dead letters of one shard. */
#ifndef DW_STORE_REDIS_STREAM_H
#define DW_STORE_REDIS_STREAM_H

#include <stdbool.h>

#include "port/op.h"
#include "store/redis/page/rows.h"
#include "store/redis/timer/suspect.h"
#include "store/redis/heal/walk.h"

struct redis_store;
struct scan;
struct shard;

#define STREAM_PAGE 512u /* timers or letters that a page looks at, at most */

struct stream {
	struct scan *scan;
	struct shard *shard;
	char sign; /* '+': pending, '-': claimed, 'd': dead letters */
	bool asked;
	bool ended;
	bool blind; /* the next page passes a row by that cannot be read */
	struct suspect_page suspect;
	size_t page; /* how many the next page looks at */
	struct walk_place place;
	struct rows ready;
	struct rows group; /* rows of the last score, perhaps not all */
	int64_t group_score;
	int64_t reach; /* no row that will be read has a lower score */
};

/* Which timers a scan gives; all zero: all of them. It stays while the scan waits for its next
 * page. */
struct filter {
	char topic[DW_TOPIC_MAX + 1];
	char prefix[DW_ID_MAX + 1];
	dw_usec end; /* 0, or only what is due before */
	unsigned states;
	bool has_topic;
	bool recurring;
};

struct scan {
	struct scan *next;
	dw_op *op; /* NULL: the scan has given its page */
	dw_op_kind kind;
	struct filter filter;
	bool skips; /* a row that cannot be read is left out */
	int failed; /* DW_ENOMEM: there was no memory for a row; DW_ELIMIT: a row cannot be read */
	bool partial;   /* rows of shards that are cut off are missing */
	bool useless;   /* nobody wants it; freed when its commands are answered */
	dw_cursor last; /* the last row that was given */
	dw_usec at;
	dw_usec since;   /* when it began to read */
	uint64_t looked; /* timers that its pages have looked at */
	uint64_t told;   /* of these, in the answers that it has given */
	unsigned under_way;
	size_t rows_under_way; /* rows that were asked for */
	size_t page;           /* the largest page of a stream */
	size_t ahead;          /* how many rows a stream reads ahead */
	unsigned count;
	struct stream streams[];
};

void stream_init(struct scan *, struct stream *, struct shard *, char sign, const dw_cursor *after);

/* stream_ask asks for the stream's next page. */
void stream_ask(struct redis_store *, struct stream *);
bool stream_row_is_before(const dw_row *a, const dw_row *b);

/* stream_score returns the score of a row, without the sign that claimed timers have. */
int64_t stream_score(const dw_row *);

/* filter_leaves_out: it leaves out timers for another reason than their deadline. */
bool filter_leaves_out(const struct filter *);

/* stream_give_up ends a scan that is not needed any more. It is freed when its last command is
 * answered. stream_free_scan frees it now. */
void stream_give_up(struct redis_store *, struct scan *);
void stream_free_scan(struct redis_store *, struct scan *);

#endif
