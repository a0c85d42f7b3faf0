/* A handle on a memory store that records its callbacks, for tests with threads. */
#ifndef DW_TESTS_SEEN_H
#define DW_TESTS_SEEN_H

#include <pthread.h>
#include <stdatomic.h>

#include "durawheel/durawheel.h"

#define PATIENCE DW_SECONDS(60) /* much more than a loaded machine needs */

struct seen {
	dw *d;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	int answers;
	int failures;
	int events;
	int status; /* the status of the last answer */
	int posted; /* the number of posted functions that have run */
	int result; /* the result of a thread */
	dw_token token;
	dw_event_kind event;
	char log[DW_MESSAGE_SIZE];
	atomic_int no_memory; /* while this is set, every allocation fails */
};

/* seen_options returns options for a memory store with all hooks set. It resets *seen. */
dw_options seen_options(struct seen *seen);
void seen_open(struct seen *seen, size_t posted_max_bytes);

/* seen_done counts the answer and signals changed. */
void seen_done(dw *, const dw_result *, void *user);

/* seen_stop is a function for dw_post(). */
void seen_stop(dw *, void *arg);

/* seen_put puts a timer that is never due. */
int seen_put(dw *, const char *id, struct seen *seen);

/* seen_in_thread runs body in a thread until it ends. The handle does not turn meanwhile. */
void seen_in_thread(void *(*body)(void *), struct seen *seen);

#endif
