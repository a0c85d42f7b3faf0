/* Questions of the promises about the simulated store. Each simulator answers for its own store. */
#ifndef SIM_CORE_STORE_VIEW_H
#define SIM_CORE_STORE_VIEW_H

#include <stdbool.h>

#include "durawheel/store.h"

struct store_view {
	void *user;

	/* stored: the timer's row; NULL: none. */
	dw_row *(*stored)(void *user, const char *id);

	/* ended: the end that is kept of that id, even if it has expired; NULL: none. */
	dw_row *(*ended)(void *user, const char *id);

	/* may_start: the process at work has the lease for that timer. */
	bool (*may_start)(void *user, const char *id);

	/* is_replaced: it may start the timer only because it does not know yet that it has lost
	 * the shard; NULL: this cannot be. */
	bool (*is_replaced)(void *user, const char *id);

	/* must_work: a call about that id that was made then (steady) must not fail; NULL: any call
	 * may. */
	bool (*must_work)(void *user, const char *id, dw_usec since);

	/* is_lost: it has lost the store, and need not know it yet. */
	bool (*is_lost)(void *user);
};

#endif
