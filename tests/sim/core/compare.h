/* What is checked now and then: the store holds what the promises say. */
#ifndef SIM_CORE_COMPARE_H
#define SIM_CORE_COMPARE_H

#include <stdbool.h>

struct sim;

void compare_all(struct sim *);

/* compare_is_over: no timer is stored, and no call is unanswered. compare_say_what_is_left: nobody
 * waits for that any longer. */
bool compare_is_over(const struct sim *);
void compare_say_what_is_left(struct sim *);

#endif
