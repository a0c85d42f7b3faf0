/* The timers of a topic that only wait for their handler. */
#ifndef DW_TOPIC_READY_H
#define DW_TOPIC_READY_H

struct timer;

/* topic_ready adds a timer to those that are claimed or held, and not started; topic_unready takes
 * it out, if it is one of them. */
void topic_ready(struct timer *);
void topic_unready(struct timer *);

/* topic_overdue counts a timer that came due while the handle is paused. */
void topic_overdue(const struct timer *);

/* topic_refused counts a timer whose message is too large for the store now. */
void topic_refused(const struct timer *);

#endif
