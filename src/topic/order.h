/* The timers of a topic that wait, in the order of (deadline, insertion): a treap (Seidel and
 * Aragon 1996). It is a search tree by this order, and a heap by a pseudo-random number that is
 * computed from each timer's generation. So its depth is about 2 log n, whatever the order in which
 * the timers come, and it needs neither recursion nor rebalancing.
 *
 * timer->prev is the root of the subtree of earlier timers, timer->next the root of the subtree of
 * later timers. While a timer is in the order, its deadline and its generation do not change. */
#ifndef DW_TOPIC_ORDER_H
#define DW_TOPIC_ORDER_H

#include "timer/timer.h"

/* A root of NULL means that the order is empty. */
void order_add(struct timer **root, struct timer *);
void order_remove(struct timer **root, struct timer *);

/* These three functions return NULL if there is no such timer. order_next returns the timer that
 * follows the given timer, which is in the order. */
struct timer *order_first(struct timer *root);
struct timer *order_last(struct timer *root);
struct timer *order_next(struct timer *root, const struct timer *);

#endif
