/* Writes timers again that the store has lost. */
#ifndef DW_ENGINE_RESTORE_H
#define DW_ENGINE_RESTORE_H

#include <stdbool.h>

#include "durawheel/store.h"

struct engine;

struct restore {
	bool asked;      /* a LOSS is under way; the store answers it when data is lost */
	bool writing;    /* the LOSS was answered, and lost timers are being written */
	bool again;      /* a timer could not be written; all are written again */
	uint32_t bucket; /* the next bucket of the index to look through */
	uint32_t under_way;
	uint64_t written;
	dw_usec again_at;
};

void restore_round(struct engine *, dw_usec now);
dw_usec restore_wake(const struct engine *, dw_usec now);

/* restore_stop ends the writing, because the ownership is lost. */
void restore_stop(struct restore *);

/* These functions handle the answers to LOSS and REPUSH. */
void restore_asked(struct engine *, const dw_op *);
void restore_written(struct engine *, const dw_op *);

#endif
