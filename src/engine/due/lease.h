/* Watches the leases on the shards of the store. A handler may start only while the lease of its
 * timer's shard holds. */
#ifndef DW_ENGINE_LEASE_H
#define DW_ENGINE_LEASE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

#define LEASE_LOOK DW_MILLISECONDS(1)

struct engine;
struct timer;

struct lease {
	bool notified;     /* the program was told that a lease is over */
	dw_usec look_at;   /* steady; when all leases are looked at next */
	dw_usec first_end; /* steady; at the last look: when the first valid lease of ours ends */
	bool is_over;      /* at the last look, a lease of ours was over */
};

/* lease_is_ours returns true if the shard is ours at this moment. lease_holds returns true if the
 * shard is ours and is not being given away, so that its timers may start. */
bool lease_is_ours(const struct engine *, unsigned shard);
bool lease_holds(const struct engine *, unsigned shard);

/* lease_allows returns true if the shard of the timer is not refused, and its lease holds. */
bool lease_allows(const struct engine *, const struct timer *);

/* lease_suspend looks at a timer that has come out of its schedule. If timers of its shard may not
 * start, it suspends the timer and returns true. */
bool lease_suspend(struct engine *, struct timer *);

/* lease_look notes when the first lease ends. Not every turn looks at all leases, because a store
 * may have many. lease_wake returns when the first lease ends. A turn is needed then, so that the
 * handle's health shows that the lease is over. */
void lease_look(struct engine *);
dw_usec lease_wake(const struct engine *, dw_usec now);

/* lease_find_over returns the number of the first shard of ours whose lease is over, or -1. A shard
 * that is refused does not count. */
int lease_find_over(const struct engine *);

/* lease_watch tells the program, once, that due timers wait for a lease. */
void lease_watch(struct engine *);

/* lease_begin is called when this engine has just become the owner. */
static inline void lease_begin(struct lease *lease)
{
	*lease = (struct lease){.notified = false};
}

#endif
