/* Calls the hooks of dw_store_env from a store's threads. A thread that hangs in an fsync may
 * outlive the handle that the hooks belong to. So the hooks are shut when the store is given away.
 * Only resize may be called after that. */
#ifndef DW_STORE_SQLITE_HOOKS_H
#define DW_STORE_SQLITE_HOOKS_H

#include <pthread.h>
#include <stdbool.h>

#include "durawheel/store.h"

struct sqlite_hooks {
	pthread_mutex_t mutex;
	const dw_store_env *env;
	bool shut;
	dw_usec now; /* the last time that sqlite_hooks_now has read */
};

void sqlite_hooks_init(struct sqlite_hooks *, const dw_store_env *);
void sqlite_hooks_free(struct sqlite_hooks *);

/* sqlite_hooks_shut ends the hooks: no hook runs when this returns, and none is called later. */
void sqlite_hooks_shut(struct sqlite_hooks *);

/* sqlite_hooks_now reads the wall clock. After sqlite_hooks_shut it returns the last time that was
 * read, so that operations under way do not see another clock. */
dw_usec sqlite_hooks_now(struct sqlite_hooks *);

void sqlite_hooks_wake(struct sqlite_hooks *);
__attribute__((format(printf, 3, 4))) void sqlite_hooks_log(struct sqlite_hooks *, dw_log_level,
							    const char *format, ...);

#endif
