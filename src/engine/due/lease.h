/* Watches the lease on the ownership of the store. A handler may start only while the lease
 * holds. */
#ifndef DW_ENGINE_LEASE_H
#define DW_ENGINE_LEASE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

#define LEASE_LOOK DW_MILLISECONDS(1)

struct engine;

struct lease {
	bool notified; /* the program was told that the lease is over */
};

bool lease_holds(const struct engine *);

/* lease_watch tells the program, once, that due timers wait for the lease. */
void lease_watch(struct engine *, dw_usec now);

/* lease_wake returns when the lease ends. A turn is needed then, so that the handle's health shows
 * it. */
dw_usec lease_wake(const struct engine *, dw_usec now);

/* lease_begin is called when this engine has just become the owner. */
static inline void lease_begin(struct lease *lease)
{
	lease->notified = false;
}

#endif
