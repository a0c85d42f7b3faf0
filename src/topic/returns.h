/* When a retry, or a message that was taken, returns. A clock that was far ahead, and was set back
 * since, may have computed a time that cannot be right. Such a time is computed again. A time that
 * a caller has given stays. */
#ifndef DW_TOPIC_RETURNS_H
#define DW_TOPIC_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"
#include "durawheel/topic.h"

/* One take looks at no more than this many messages of a state, those that return last. */
#define RETURNS_LOOKS 64

/* returns_due returns the time until which a retry waits. The lowest bit of the time says whether
 * it was computed or given. This costs one microsecond of precision, and no store needs a new
 * field. */
dw_usec returns_due(dw_usec due, bool is_computed);
bool returns_is_computed(dw_usec due);

/* returns_at returns when a message comes back after its DW_RETRY. If the operation's head.due is
 * not 0, this is the time. Otherwise it is after the delay of the topic, and head.generation is a
 * random number for the jitter. */
dw_usec returns_at(const dw_topic_settings *, const dw_head *asked, uint32_t retries, dw_usec now);

/* returns_retry_max returns the latest time that a computed retry can have. A retry with a later
 * time waits until returns_retry_again instead. returns_hidden_max and returns_hidden_again do the
 * same for a message that was taken. take.lua computes the same. */
dw_usec returns_retry_max(const dw_topic_settings *, dw_usec now);
dw_usec returns_retry_again(const dw_topic_settings *, dw_usec now);
dw_usec returns_hidden_max(const dw_topic_settings *, dw_usec now);
dw_usec returns_hidden_again(const dw_topic_settings *, dw_usec now);

#endif
