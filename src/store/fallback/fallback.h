/* A store made of Redis and of a journal: while Redis is away, the journal takes operations. */
#ifndef DW_STORE_FALLBACK_FALLBACK_H
#define DW_STORE_FALLBACK_FALLBACK_H

#include <stdbool.h>

#include "durawheel/store.h"

typedef int (*fallback_open_fn)(dw_store **ret_store, const char *where, const dw_store_env *,
				char *ret_message);

/* What it is made of. open_front opens the store of url, whose server may be away: DW_OK then, too,
 * as a client's. open_journal opens the file. */
struct fallback_parts {
	fallback_open_fn open_front;
	const char *url;
	fallback_open_fn open_journal;
	const char *journal; /* its path */
};

/* fallback_open opens the journal, and then the store. env->role is the handle's. An owner whose
 * server is away has no lease: it is to ask for the ownership, as a standby does. On failure
 * ret_message says why. */
int fallback_open(dw_store **ret_store, const struct fallback_parts *, const dw_store_env *,
		  char *ret_message);

#endif
