/* Claims that are under way, so that overdue timers start in the order of their deadlines. Shards
 * answer in any order. An overdue timer waits for the claims of earlier deadlines, but for a moment
 * only, so that a shard that stands still holds up nobody for long. */
#ifndef DW_ENGINE_LATE_H
#define DW_ENGINE_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"

#define LATE_BATCHES 16u
#define LATE_FROM DW_MILLISECONDS(1) /* a timer is overdue */
#define LATE_PATIENCE DW_MILLISECONDS(20)

/* The claims of one turn. If many turns have claims under way, the last batch has those of
 * several. */
struct late_batch {
	dw_usec due;   /* the first deadline */
	dw_usec until; /* steady; nobody waits for them longer; 0: nobody has waited */
	uint32_t left; /* claims without an answer */
};

struct late {
	struct late_batch batches[LATE_BATCHES];
	unsigned last; /* the batch that was begun last */
	bool is_open;  /* this turn's claims belong to it */
	uint32_t left; /* claims without an answer, of all batches */
	bool holds;    /* the first timer that is due waits for others */
};

/* late_close ends the batch of this turn. late_add adds a claim to it, and returns its number for
 * late_answered. */
void late_close(struct late *);
uint8_t late_add(struct late *, dw_usec due);
void late_answered(struct late *, uint8_t number);

/* late_waits returns true if an overdue timer must wait for others. */
bool late_waits(struct late *, dw_usec due, dw_usec steady);

#endif
