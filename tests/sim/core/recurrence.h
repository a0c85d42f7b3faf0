/* Recurring timers: R1 no occurrence starts twice without a fault, R2 without downtime none is left
 * out, R3 after downtime it is what the policy says, R4 the occurrences of a timer grow. The rules
 * are periods, so what is right follows from additions alone. */
#ifndef SIM_CORE_RECURRENCE_H
#define SIM_CORE_RECURRENCE_H

#include <stdbool.h>

#include "durawheel/store.h"

struct generation;
struct sim;

/* The rule of a put. every is 0: it has none. */
struct recurrence {
	dw_usec every, start, end, jitter;
	dw_missed missed;
	dw_usec missed_after, missed_age; /* age 0: any */
};

/* recurrence_draw draws a rule that ends after some occurrences. recurrence_rule writes it for
 * dw_timer.rule. */
struct recurrence recurrence_draw(struct sim *);
dw_rule recurrence_rule(const struct recurrence *);

/* recurrence_plant: the seed's bug may be one of the calendar, which is not given a sim. NULL: the
 * seed is over. */
void recurrence_plant(struct sim *);

/* recurrence_put: the store has a new timer with a rule. recurrence_renewed: it has `made` instead
 * of the generation before it; wanted: the head of the operation. */
void recurrence_put(struct sim *, const dw_op *, struct generation *made);
void recurrence_renewed(struct sim *, const dw_op *, const dw_head *wanted,
			struct generation *made);

/* recurrence_is_over: true if the policy leaves out all that is left of the rule. */
bool recurrence_is_over(const struct sim *, const struct generation *);

/* recurrence_settled: the timer was settled or buried, and there is no next occurrence. */
void recurrence_settled(struct sim *, const struct generation *);

/* recurrence_started: a handler is called, for this timer alone or for a batch. */
void recurrence_started(struct sim *, const struct generation *, const dw_firing *, bool batched);

#endif
