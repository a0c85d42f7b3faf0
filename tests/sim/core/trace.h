/* Records the events of a run as a hash and, on request, as text. Also keeps the first broken
 * promise. */
#ifndef SIM_CORE_TRACE_H
#define SIM_CORE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct sim;

struct trace {
	bool printing;
	uint64_t hash;
	uint64_t event_count;
	char broken[256]; /* the first broken promise */
};

void trace(struct sim *, const char *what, const char *id, int64_t a, int64_t b);

/* broken notes a broken promise; what a dead process does breaks none. */
void broken(struct sim *, const char *promise, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
