/* One stream of a scan: the claimed timers, the pending timers, or the dead letters of one
 * shard. */
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

#define STREAM_PAGE 512u /* the most timers or letters that a page looks at */

struct stream {
	struct scan *scan;
	struct shard *shard;
	char sign; /* '+' for pending timers, '-' for claimed ones, 'd' for dead letters */
	bool asked;
	bool ended;
	bool blind; /* the next page skips a row that cannot be read */
	struct suspect_page suspect;
	size_t page; /* how many timers or letters the next page looks at */
	struct walk_place place;
	struct rows ready;
	struct rows group; /* the rows with the last score that was read; more may follow */
	int64_t group_score;
	int64_t reach; /* no row that is still to be read has a lower score */
};

/* Which timers a scan returns. All zero means all timers. The filter stays the same while the scan
 * is kept for its next page. */
struct filter {
	char topic[DW_TOPIC_MAX + 1];
	char prefix[DW_ID_MAX + 1];
	dw_usec end; /* 0; or the scan returns only timers that are due before this time */
	unsigned states;
	bool has_topic;
	bool recurring;
};

struct scan {
	struct scan *next;
	dw_op *op; /* the operation to answer; NULL while the scan is kept for its next page */
	dw_op_kind kind;
	struct filter filter;
	unsigned char shards[DW_SHARDS_MAX / 8]; /* a bit for each shard that the scan covers */
	bool skips; /* the scan leaves out a row that cannot be read, instead of failing */
	int failed; /* DW_ENOMEM: there was no memory for a row; DW_ELIMIT: a row cannot be read */
	bool partial; /* rows of shards that are cut off are missing */
	/* The scan is not needed any more. It is freed when its commands are answered. */
	bool useless;
	dw_cursor last; /* the last row that the scan has returned */
	dw_usec at;
	dw_usec since;   /* when the scan began to read */
	uint64_t looked; /* how many timers or letters the pages have looked at */
	uint64_t told;   /* how many of `looked` the answers have reported */
	unsigned under_way;
	size_t rows_under_way; /* how many rows the commands under way ask for */
	size_t page;           /* the size of the largest page of a stream, in rows */
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

/* filter_leaves_out returns true if the filter leaves out timers for a reason other than their
 * deadline. */
bool filter_leaves_out(const struct filter *);

/* stream_give_up ends a scan that is not needed any more. The scan is freed when its last command
 * is answered. stream_free_scan frees the scan at once. */
void stream_give_up(struct redis_store *, struct scan *);
void stream_free_scan(struct redis_store *, struct scan *);

#endif
