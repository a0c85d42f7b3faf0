/* Timers that the store has lost are written again from memory. */
#ifndef DW_ENGINE_RESTORE_H
#define DW_ENGINE_RESTORE_H

#include <stdbool.h>

#include "durawheel/store.h"

struct engine;

struct restore {
	bool asked;      /* a LOSS is in the store, as a long poll */
	bool writing;    /* it was answered: something is lost */
	bool again;      /* a timer could not be written */
	uint32_t bucket; /* of the index: the next to be looked through */
	uint32_t under_way;
	uint64_t written;
	dw_usec again_at;
};

void restore_round(struct engine *, dw_usec now);
dw_usec restore_wake(const struct engine *, dw_usec now);

/* restore_stop: the ownership is lost, and with it the duty. */
void restore_stop(struct restore *);

/* The answers: that something is lost; that a timer was written. */
void restore_asked(struct engine *, const dw_op *);
void restore_written(struct engine *, const dw_op *);

#endif
