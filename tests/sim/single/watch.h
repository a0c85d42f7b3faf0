/* What is checked now and then: that every timer is delivered, and that a turn is armed for it. */
#ifndef SIM_SINGLE_WATCH_H
#define SIM_SINGLE_WATCH_H

struct single;

void watch_overdue(struct single *);
void watch_armed(struct single *);

#endif
