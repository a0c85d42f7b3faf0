/* The timers by id. Not its concern: who owns the timers. */
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

/* Both prefetch an id that will be looked for soon. index_fetch_bucket brings into the cache what
 * index_fetch_timer reads, so it is called some ids earlier. It returns the hash for the second. */
uint64_t index_fetch_bucket(const struct index *, const char *id);
void index_fetch_timer(const struct index *, uint64_t hash);

/* index_add: the id must not be there. 0, or DW_ENOMEM. */
int index_add(struct index *, struct timer *);
void index_remove(struct index *, struct timer *);

/* index_replace puts fresh in the place of old, which has the same id. Cannot fail. */
void index_replace(struct index *, struct timer *old, struct timer *fresh);

/* index_visit calls visit for every timer of one bucket; false: no such bucket. A loop over all
 * buckets, even with turns in between, meets every timer that stays in the index. */
bool index_visit(struct index *, uint32_t bucket, void (*visit)(struct timer *, void *user),
		 void *user);

/* index_each calls visit for every timer, in no order; visit may free the timer. */
void index_each(struct index *, void (*visit)(struct timer *, void *user), void *user);

#endif
