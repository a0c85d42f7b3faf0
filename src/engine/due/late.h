/* Claims that are under way, so that overdue timers start in the order of their deadlines. Shards
 * answer in any order. An overdue timer waits for the claims of earlier deadlines, but only for a
 * moment, so that a shard that does not answer delays no other shard for long. */
#ifndef DW_ENGINE_LATE_H
#define DW_ENGINE_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"

#define LATE_BATCHES 16u
#define LATE_FROM DW_MILLISECONDS(1) /* a timer that is later than this is overdue */
#define LATE_PATIENCE DW_MILLISECONDS(20)

/* The claims of one turn. If many turns have claims under way, the last batch has the claims of
 * several turns. */
struct late_batch {
	dw_usec due;   /* the earliest deadline in the batch */
	dw_usec until; /* steady; until then timers wait for the batch; 0: no timer has waited */
	uint32_t left; /* claims without an answer */
};

struct late {
	struct late_batch batches[LATE_BATCHES];
	unsigned last; /* the batch that was begun last */
	bool is_open;  /* the claims of this turn belong to the batch `last` */
	uint32_t left; /* claims without an answer, of all batches */
	bool holds;    /* the first due timer waits for claims of earlier deadlines */
};

/* late_close ends the batch of this turn. late_add adds a claim to the batch, and returns the
 * batch's number, which late_answered needs. */
void late_close(struct late *);
uint8_t late_add(struct late *, dw_usec due);
void late_answered(struct late *, uint8_t number);

/* late_waits returns true if an overdue timer must wait for claims of earlier deadlines. */
bool late_waits(struct late *, dw_usec due, dw_usec steady);

#endif
