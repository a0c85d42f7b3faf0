/* The timers of a topic that wait for its next batch. */
#ifndef DW_TOPIC_GATHER_H
#define DW_TOPIC_GATHER_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct timer;
struct topic;

/* topic_gather adds a timer to the list of the next batch. topic_ungather takes it out. */
void topic_gather(struct timer *);
void topic_ungather(struct timer *);

/* topic_claims counts a due timer whose claim is under way. topic_claimed takes the timer out of
 * this count, if it was counted. */
void topic_claims(struct timer *);
void topic_claimed(struct timer *);

/* topic_batch_is_full returns true if the topic's next batch has its largest size. topic_wait_ends
 * returns the time at which a batch starts whose first timer is this one, if the batch is not full
 * earlier. topic_gathers returns true if the topic has a batch that still waits. */
bool topic_batch_is_full(const struct topic *);
dw_usec topic_wait_ends(const struct timer *);
bool topic_gathers(const struct topic *, dw_usec now);

#endif
