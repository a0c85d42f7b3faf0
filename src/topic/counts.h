/* The counts of a topic: how often its handlers started, how late, and how they ended. */
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

/* At most this many topics have times. A topic with times is kept when nothing else needs it, so
 * that its counts never start again from 0. The counts of the other topics are also added to
 * topics.rest. */
#define TOPIC_TIMES_MAX 200

/* topic_counted adds one to a count. topic_has_counted returns true if a count of the topic is not
 * 0. */
void topic_counted(struct topics *, struct topic *, enum topic_count);
bool topic_has_counted(const struct topic *);

/* topic_is_kept returns true if the topic stays because of its counts, even if nothing else needs
 * it. */
bool topic_is_kept(const struct topic *);

/* topic_started counts that a handler has started, and how late. topic_not_started takes such a
 * start out of the counts. topic_took counts how long a handler ran; topic is NULL if the topic is
 * gone. */
void topic_started(struct topics *, struct topic *, dw_usec late);
void topic_not_started(struct topics *, struct topic *, dw_usec late);
void topic_took(struct topic *, dw_usec took);

#endif
