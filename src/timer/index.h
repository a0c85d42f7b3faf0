/* Finds timers by id. It does not own the timers. */
#ifndef DW_TIMER_INDEX_H
#define DW_TIMER_INDEX_H

#include "base/linear.h"
#include "timer/timer.h"

struct index {
	struct linear timers;
	uint64_t seed;
};

int index_init(struct index *, const struct alloc *, uint64_t seed);
void index_free(struct index *);
uint32_t index_count(const struct index *);

struct timer *index_find(const struct index *, const char *id);

/* These two functions load memory into the cache before an id is looked up. index_fetch_bucket
 * loads the memory that index_fetch_timer reads, so call it some ids earlier. It returns the hash
 * that index_fetch_timer needs. */
uint64_t index_fetch_bucket(const struct index *, const char *id);
void index_fetch_timer(const struct index *, uint64_t hash);

/* index_add adds a timer whose id is not in the index. It returns DW_OK or DW_ENOMEM. */
int index_add(struct index *, struct timer *);
void index_remove(struct index *, struct timer *);

/* index_replace puts fresh in the place of old, which has the same id. It cannot fail. */
void index_replace(struct index *, struct timer *old, struct timer *fresh);

/* index_visit calls visit for every timer of one bucket. It returns false if there is no such
 * bucket. A loop over all buckets, even with turns in between, meets every timer that stays in the
 * index. */
bool index_visit(struct index *, uint32_t bucket, void (*visit)(struct timer *, void *user),
		 void *user);

/* index_each calls visit for every timer, in no order; visit may free the timer. */
void index_each(struct index *, void (*visit)(struct timer *, void *user), void *user);

#endif
