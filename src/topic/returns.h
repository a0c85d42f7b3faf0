/* Computes when a retry, or a message that was taken, returns. If the clock was far ahead when such
 * a time was computed, and was set back since, the time cannot be right. Then it is computed again.
 * A time that a caller has chosen stays. */
#ifndef DW_TOPIC_RETURNS_H
#define DW_TOPIC_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"
#include "durawheel/topic.h"

/* One take looks at no more than this many messages of a state, those that return last. */
#define RETURNS_LOOKS 64

/* returns_due returns the time until which a retry waits. The lowest bit of the time says whether
 * the time was computed or chosen by a caller. This costs one microsecond of precision, and no
 * store needs a new field. */
dw_usec returns_due(dw_usec due, bool is_computed);
bool returns_is_computed(dw_usec due);

/* returns_at returns when a message comes back after its DW_RETRY. If the operation's head.due is
 * not 0, the message returns at this time. Otherwise it returns after the retry delay of the topic,
 * and head.generation is a random number for the jitter. */
dw_usec returns_at(const dw_topic_settings *, const dw_head *asked, uint32_t retries, dw_usec now);

/* returns_retry_max returns the latest time that a computed retry can have. A retry with a later
 * time waits until returns_retry_again instead. returns_hidden_max and returns_hidden_again do the
 * same for a message that was taken. take.lua computes the same times. */
dw_usec returns_retry_max(const dw_topic_settings *, dw_usec now);
dw_usec returns_retry_again(const dw_topic_settings *, dw_usec now);
dw_usec returns_hidden_max(const dw_topic_settings *, dw_usec now);
dw_usec returns_hidden_again(const dw_topic_settings *, dw_usec now);

#endif
