/* What is counted of a topic: how often its handlers started, how late, and how they ended. */
#ifndef DW_TOPIC_COUNTS_H
#define DW_TOPIC_COUNTS_H

#include <stdbool.h>

#include "base/spread.h"

struct topic;
struct topics;

enum topic_count { TOPIC_STARTED, TOPIC_DONE, TOPIC_RETRIED, TOPIC_DEAD, TOPIC_LATE, TOPIC_COUNTS };

/* How late handlers of a topic started, and how long they ran. */
struct topic_times {
	struct spread late, took;
};

/* So many topics have times. They are kept when nothing else needs them, so that their counts never
 * start again; what others count is also in topics.rest. */
#define TOPIC_TIMES_MAX 200

/* topic_counted counts one more. topic_has_counted: it has counted anything. */
void topic_counted(struct topics *, struct topic *, enum topic_count);
bool topic_has_counted(const struct topic *);

/* topic_is_kept: only for its counts, perhaps. */
bool topic_is_kept(const struct topic *);

/* topic_started: a handler has started so late. topic_not_started takes that back. topic_took: one
 * has ended; NULL: its topic is gone. */
void topic_started(struct topics *, struct topic *, dw_usec late);
void topic_not_started(struct topics *, struct topic *, dw_usec late);
void topic_took(struct topic *, dw_usec took);

#endif
