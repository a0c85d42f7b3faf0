/* A store made of Redis and of a journal: while Redis is away, the journal takes operations. */
#ifndef DW_STORE_FALLBACK_FALLBACK_H
#define DW_STORE_FALLBACK_FALLBACK_H

#include <stdbool.h>

#include "durawheel/store.h"

/* What it is made of. open_front opens the store of url, whose server may be away: DW_OK then, too,
 * as a client's. journal: the path of the file. */
struct fallback_parts {
	int (*open_front)(dw_store **ret_store, const char *url, const dw_store_env *,
			  char *ret_message);
	const char *url;
	const char *journal;
};

/* fallback_open opens the journal, and then the store. env->role is the handle's. An owner whose
 * server is away has no lease: it is to ask for the ownership, as a standby does. On failure
 * ret_message says why. */
int fallback_open(dw_store **ret_store, const struct fallback_parts *, const dw_store_env *,
		  char *ret_message);

#endif
