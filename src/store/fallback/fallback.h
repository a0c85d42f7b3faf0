/* A store made of Redis and of a journal: while Redis is away, the journal takes operations. */
#ifndef DW_STORE_FALLBACK_FALLBACK_H
#define DW_STORE_FALLBACK_FALLBACK_H

#include <stdbool.h>

#include "durawheel/store.h"

typedef int (*fallback_open_fn)(dw_store **ret_store, const char *where, const dw_store_env *,
				char *ret_message);

/* The parts of such a store. open_front opens the store of `url`. If the server is away, open_front
 * also returns DW_OK, and the handle is a client. open_journal opens the file. */
struct fallback_parts {
	fallback_open_fn open_front;
	const char *url;
	fallback_open_fn open_journal;
	const char *journal; /* the path of the journal */
};

/* fallback_open opens the journal, and then the store. env->role is the role of the handle. An
 * owner whose server is away has no lease: it must ask for the ownership later, as a standby does.
 * On failure ret_message says why. */
int fallback_open(dw_store **ret_store, const struct fallback_parts *, const dw_store_env *,
		  char *ret_message);

#endif
