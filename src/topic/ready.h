/* The timers of a topic that are due, or nearly due, and have not started. */
#ifndef DW_TOPIC_READY_H
#define DW_TOPIC_READY_H

#include <stdint.h>

#include "durawheel/time.h"

struct timer;

/* topic_ready adds a timer to the list of timers that are claimed or held, and not started.
 * topic_unready takes it out, if it is in the list. */
void topic_ready(struct timer *);
void topic_unready(struct timer *);

/* The last timer that has started, by deadline and then by generation. */
struct topic_started {
	dw_usec due;
	uint64_t generation;
};

/* topic_runs is called when a timer has started to run. It sets topic->last to this timer, unless
 * topic->last is later and other timers of the topic are running. */
void topic_runs(const struct timer *);

/* Why a due timer is in no list of its topic. */
enum topic_keep {
	TOPIC_NOT_KEPT,
	TOPIC_OVERDUE,   /* came due while the handle was paused */
	TOPIC_SUSPENDED, /* its shard is refused or being given away, or its lease is over */
	TOPIC_ZONELESS,  /* the zone of its rule is not known */
	TOPIC_REFUSED,   /* its message is too large for the store now */
	TOPIC_KEPTS
};

struct topic_kept {
	uint64_t count;
	dw_usec first; /* the deadline of the timer that was counted first */
};

/* topic_keep counts a timer that waits for this reason. topic_unkeep takes the timer out of this
 * count, if it was counted. */
void topic_keep(struct timer *, enum topic_keep);
void topic_unkeep(struct timer *);

#endif
