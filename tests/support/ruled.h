/* A handle with its own clock and one recurring timer, "a" of topic "t". It records its starts,
 * answers and events. */
#ifndef DW_TESTS_RULED_H
#define DW_TESTS_RULED_H

#include "durawheel/testing.h"

enum { STARTS_MAX = 256 };

struct start {
	dw_usec now, occurrence;
	uint32_t missed, attempt;
	int last;
};

struct ruled {
	dw *d;
	size_t count;
	struct start starts[STARTS_MAX];
	dw_verdict verdict;
	size_t retry_at; /* the number of the start, from 1, that asks for a retry */
	dw_token token;
	int events[32];   /* the number of events of each kind */
	uint64_t missed;  /* the count of the last DW_EVENT_MISSED */
	uint64_t waiting; /* the timers of the last DW_EVENT_ZONE */
	int status;       /* the status of the last answer */
	uint64_t generation;
	char rule[256];
	dw_usec due;
	dw_state state;
};

void ruled_open(struct ruled *, unsigned workers);

/* ruled_start is a handler that records its delivery by ruled_keep. ruled_answer records an
 * answer. */
void ruled_keep(struct ruled *, const dw_firing *);
dw_verdict ruled_start(dw *, const dw_firing *, void *ruled);
void ruled_answer(dw *, const dw_result *, void *ruled);

/* ruled_put puts the timer with a rule as text. Returns the status of the call, or of its
 * answer. */
int ruled_put(struct ruled *, const char *rule);

/* ruled_look asks for the timer, and records the answer: status, rule, due and state. */
void ruled_look(struct ruled *);

dw_usec ruled_time(const char *text);
void ruled_advance(struct ruled *, const char *until);

/* assert_start compares a start. assert_on_time checks that a start was on time and no occurrence
 * was missed. */
void assert_start(const struct ruled *, size_t at, const char *now, const char *occurrence,
		  uint32_t missed);
void assert_on_time(const struct ruled *, size_t at, const char *now);

#endif
