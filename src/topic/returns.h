/* When a retry, or a message that was taken, returns. A clock that was far ahead, and was set back
 * since, may have computed a time that cannot be right: then it is computed again. A time that
 * somebody has given stays. */
#ifndef DW_TOPIC_RETURNS_H
#define DW_TOPIC_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"
#include "durawheel/topic.h"

/* The most messages of a state that one take looks at, those that return last. */
#define RETURNS_LOOKS 64

/* returns_due returns the time until which a retry waits. Its lowest bit says whether it was
 * computed or given: a microsecond, and room in every store. */
dw_usec returns_due(dw_usec due, bool is_computed);
bool returns_is_computed(dw_usec due);

/* returns_at returns when a message comes back after its DW_RETRY: at head.due of the operation, or
 * after the delay of its topic if that is 0; head.generation is random then. */
dw_usec returns_at(const dw_topic_settings *, const dw_head *asked, uint32_t retries, dw_usec now);

/* returns_retry_max: no computed retry waits for longer. One that does waits until
 * returns_retry_again. returns_hidden_max, returns_hidden_again: so with a message that was taken.
 * take.lua computes the same. */
dw_usec returns_retry_max(const dw_topic_settings *, dw_usec now);
dw_usec returns_retry_again(const dw_topic_settings *, dw_usec now);
dw_usec returns_hidden_max(const dw_topic_settings *, dw_usec now);
dw_usec returns_hidden_again(const dw_topic_settings *, dw_usec now);

#endif
