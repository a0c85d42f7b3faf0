/* The process: opening, a turn, crashing, closing. */
#ifndef SIM_SINGLE_PROCESS_H
#define SIM_SINGLE_PROCESS_H

#include "base/usec.h"

struct single;

void single_open(struct single *);
void single_turn(struct single *);
void single_crash(struct single *);
void single_close(struct single *);

#endif
