/* The timers of a topic that wait for its next batch. */
#ifndef DW_TOPIC_GATHER_H
#define DW_TOPIC_GATHER_H

struct timer;

/* topic_gather adds a timer to those of the next batch; topic_ungather takes it out. */
void topic_gather(struct timer *);
void topic_ungather(struct timer *);

/* topic_claims counts a timer that is due, and whose claim is under way; topic_claimed ends that,
 * if it was counted. */
void topic_claims(struct timer *);
void topic_claimed(struct timer *);

#endif
