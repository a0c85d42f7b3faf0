/* The user's program. It puts, cancels, settles, lists and registers at random, outside and inside
 * of callbacks, and it dies inside them. */
#ifndef SIM_CORE_PROGRAM_H
#define SIM_CORE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

struct sim;

struct program {
	bool in_call;      /* inside a call of the API, where no callback may run */
	bool in_start;     /* inside dw_start() */
	dw_usec action_at; /* steady: its next action */
	uint32_t actions_left;
	dw_usec last_due; /* the deadline that it asked for last */
};

/* program_begin: the program of the process at work starts, and registers some handlers. */
void program_begin(struct sim *);
void program_register_all(struct sim *);

/* program_act makes one call of the API. program_pass: no process runs that could make it. */
void program_act(struct sim *);
void program_pass(struct sim *);

/* program_note traces an event of the engine; false: the process is dead. program_take acts on it.
 * program_event does both. */
bool program_note(struct sim *, const dw_event *);
void program_take(struct sim *, const dw_event *);
void program_event(dw *, const dw_event *, void *user);

#endif
