/* Decides what a timer does next. Each id has at most one operation under way. Calls on the id wait
 * behind it, in order. */
#ifndef DW_ENGINE_LIFECYCLE_H
#define DW_ENGINE_LIFECYCLE_H

#include <stdbool.h>

#include "engine/call/calls.h"

/* lifecycle_resume begins the next call of the timer. If there is none, it does what the timer's
 * state asks for. It does nothing while an operation is under way or waits to be tried again. It
 * may free the timer. */
void lifecycle_resume(struct engine *, struct timer *);

/* lifecycle_start begins a call on the timer, or queues it behind the operation under way. */
void lifecycle_start(struct engine *, struct timer *, struct call *);

/* lifecycle_is_open returns true if a dw_settle of this delivery is still possible. timer may be
 * NULL. */
bool lifecycle_is_open(const struct timer *, uint64_t generation, uint32_t attempt);

/* lifecycle_reschedule arms timers for which the schedules had no memory before. */
void lifecycle_reschedule(struct engine *);

#endif
