/* Compares the shards' copies of the settings of topics: which copy counts, and which shards have
 * another one. The rows are those of topic_copies.h. */
#ifndef DW_STORE_REDIS_COPIES_DIFFER_H
#define DW_STORE_REDIS_COPIES_DIFFER_H

#include "store/redis/page/rows.h"
#include "store/redis/owner/shard.h"

struct redis_store;

/* copies_sort sorts the rows by topic, and returns the first one. copies_last returns the last row
 * that has the same topic as `row`. This last row is the copy that counts. */
dw_row *copies_sort(struct rows *);
dw_row *copies_last(dw_row *);

/* copies_note writes to *ret_differ in which shards the settings of one topic must be written.
 * `first` is the topic's first row, `newest` its newest one. The shards in `partial` have told only
 * what has changed. If such a shard has no row, it still has what the owner knew before. */
void copies_note(const struct redis_store *, const dw_row *first, const dw_row *newest,
		 const struct shard_set *partial, struct shard_set *ret_differ);

/* copies_check sorts the rows. It calls `flaw` for each topic whose settings are damaged or differ
 * between shards. It leaves out topics that have changed since `until`, because the change may not
 * be in all shards yet. */
typedef void copies_flaw_fn(void *user, const char *topic, const char *words);
void copies_check(const struct redis_store *, struct rows *, uint64_t until, copies_flaw_fn *,
		  void *user);

#endif
