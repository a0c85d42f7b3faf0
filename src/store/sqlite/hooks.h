/* The way from a store's threads to its user's hooks: shut when the store is given away, because a
 * thread that hangs in an fsync may outlive the handle that the hooks belong to. Of the hooks only
 * resize is called past it. */
#ifndef DW_STORE_SQLITE_HOOKS_H
#define DW_STORE_SQLITE_HOOKS_H

#include <pthread.h>
#include <stdbool.h>

#include "durawheel/store.h"

struct sqlite_hooks {
	pthread_mutex_t mutex;
	const dw_store_env *env;
	bool shut;
	dw_usec now; /* the last time read */
};

void sqlite_hooks_init(struct sqlite_hooks *, const dw_store_env *);
void sqlite_hooks_free(struct sqlite_hooks *);

/* sqlite_hooks_shut: no hook runs during or after it. */
void sqlite_hooks_shut(struct sqlite_hooks *);

/* sqlite_hooks_now reads the wall clock. Once shut, time stands still at what was read last: the
 * user's clock may have been any, and what is under way is to end in its time. */
dw_usec sqlite_hooks_now(struct sqlite_hooks *);

void sqlite_hooks_wake(struct sqlite_hooks *);
__attribute__((format(printf, 3, 4))) void sqlite_hooks_log(struct sqlite_hooks *, dw_log_level,
							    const char *format, ...);

#endif
