/* The counters: for dw_stats, and for the report that the owner writes into the store. */
#ifndef DW_ENGINE_REPORT_H
#define DW_ENGINE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "base/histogram.h"
#include "durawheel/durawheel.h"

struct engine;
struct timer;
struct topic;

/* What a report says about timers. The store's own work does not change these numbers. */
struct report_state {
	uint64_t changes; /* how many changes of timers there were so far */
	uint64_t timers, unhandled, held, running;
	uint64_t refusals; /* how often a shard was refused, or was refused no longer */
};

struct report {
	uint64_t waited; /* us; sum over all starts of the time that timers waited on purpose */
	dw_usec at;
	struct report_state told; /* the state in the last report */
	bool early;
	bool outdated; /* the last report lacks a change that `told` does not show */
	/* All handlers together; delivery.c and report_took() add to them. */
	struct histogram late, took;
};

void report_round(struct engine *, dw_usec now);

/* report_took counts how long a handler of this topic has taken. topic is NULL if the topic is
 * gone. report_held does the same for a held delivery that has its verdict now. */
void report_took(struct report *, struct topic *, dw_usec took);
void report_held(struct engine *, const struct timer *);

/* report_wake returns when the next report is written. */
dw_usec report_wake(const struct engine *);

/* report_soon asks for a report in the next turn, because the last one is outdated. */
static inline void report_soon(struct report *report)
{
	report->at = 0;
}

/* report_hurry lets a report be written now, because the wall clock was set. */
static inline void report_hurry(struct report *report, dw_usec now)
{
	report->at = usec_min(report->at, now);
}

#endif
