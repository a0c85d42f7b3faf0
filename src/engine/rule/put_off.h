/* Finds retries that wait for too long, because a clock that was far ahead has computed them
 * (derive.h). */
#ifndef DW_ENGINE_PUT_OFF_H
#define DW_ENGINE_PUT_OFF_H

#include <stdbool.h>

struct engine;
struct timer;

/* put_off_is returns true if the timer waits for a back-off that is longer than its policy can be.
 * Such a timer is claimed at once, and its claim is given back with another deadline. */
bool put_off_is(const struct engine *, const struct timer *);

#endif
