/* Opens a handle for a test of the public API, and records its callbacks. */
#ifndef DW_TESTS_SEEN_H
#define DW_TESTS_SEEN_H

#include "durawheel/durawheel.h"

#define PATIENCE DW_SECONDS(20) /* much more than a loaded machine needs */

struct seen {
	int starts;
	int answers;
	int status;
	dw_level level;
	int stop_at; /* the start at which it calls dw_stop() */
	dw_verdict verdict;
	uint32_t attempt;
	char data[64];
	size_t listed;
	char owner[256];
};

/* A handler and a dw_done_fn. user is a struct seen. */
dw_verdict on_due(dw *, const dw_firing *, void *user);
void on_done(dw *, const dw_result *, void *user);

/* open_store opens a store. Fails the test, with the library's message, if the store does not
 * open. */
dw *open_store(const char *url, dw_role role);

/* known_timers returns how many timers the owner knows that are not settled. */
uint64_t known_timers(const dw *);

/* refused checks that dw_open() returns this status, puts the word into its message and leaves its
 * output alone. */
void refused(const dw_options *, int status, const char *word);

#endif
