/* What dw_metrics() and dw_health() read from the engine. */
#ifndef DW_ENGINE_NUMBERS_H
#define DW_ENGINE_NUMBERS_H

#include <stdbool.h>

#include "durawheel/topic.h"

struct engine;

#define REPORT_SIZE 6144

/* engine_report writes the owner's counters and the last error as JSON. The field of the error is 0
 * if there was none. */
void engine_report(struct engine *, char ret_text[REPORT_SIZE]);

/* engine_topic_numbers calls fn at once with the topics in memory, without their queues. */
void engine_topic_numbers(struct engine *, dw_topic_fn, void *user);

/* The health of a handle: what dw_health() says, except for overdue turns. */
enum health {
	HEALTH_OK,
	HEALTH_LOADS,   /* an owner that does not know all timers yet */
	HEALTH_ASKS,    /* a standby that does not know whether another process has the store */
	HEALTH_STANDBY, /* another process has the store */
	HEALTH_FULL,    /* a standby; no more processes can share the store */
	HEALTH_NEWER,   /* a standby; the store has timers that only a newer durawheel may own */
	HEALTH_LEASE,   /* an owner whose lease of a shard is over */
	HEALTH_REFUSED, /* the server refuses a shard, or the shard's node is away */
	HEALTH_UNOWNED, /* a peer; a shard has no owner */
	HEALTH_FAILS,   /* the store is away or refuses, and no journal takes operations */
	/* In the next three states the store is away, and the journal takes new operations. */
	HEALTH_JOURNALS, /* a client or a standby */
	HEALTH_HOLDS,    /* an owner whose due timers wait */
	HEALTH_FIRES,    /* an owner with a lease and DW_OUTAGE_FIRE */
	HEALTH_CLOSES
};

enum health engine_health(const struct engine *);

/* engine_health_shard returns the shard that HEALTH_LEASE, HEALTH_REFUSED or HEALTH_UNOWNED is
 * about. */
unsigned engine_health_shard(const struct engine *);

/* engine_refused returns how many shards cannot be used. */
unsigned engine_refused(const struct engine *);

/* engine_may_fire returns true if this engine is the owner and its lease has not run out. */
bool engine_may_fire(const struct engine *);

/* engine_outage returns the number of the present outage, or 0 if there is none. In an outage the
 * store fails, or a journal takes its place. Each outage has another number, except that outages
 * which a journal bridges share one. */
uint64_t engine_outage(const struct engine *);

#endif
