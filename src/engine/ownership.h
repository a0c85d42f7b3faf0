/* Owning the store: gaining it, losing it, giving it back to a newer durawheel.
 *
 * A term is the time between two losses of the ownership. An operation that was submitted in an
 * earlier term may be answered in this one. Such an answer says what was done, and nothing of how
 * things are now, because another owner was at work in between. So it is told to the caller, and
 * changes no timer. */
#ifndef DW_ENGINE_OWNERSHIP_H
#define DW_ENGINE_OWNERSHIP_H

#include <stdbool.h>

#include "base/usec.h"
#include "port/op.h"

struct engine;

struct ownership {
	dw_role role;        /* DW_OWNER or DW_CLIENT, at this moment */
	bool standby;        /* a client that becomes the owner */
	bool asked;          /* for the ownership, as a standby */
	dw_usec at;          /* not before; a standby's next question */
	unsigned term;       /* how often the ownership was lost */
	bool newer_notified; /* the program was told that the store has such timers */
	uint64_t dropped;    /* timers that were in memory when it was lost */
	int lost_by;         /* the status that said so */
};

/* ownership_lose: status says why. It begins a walk that drops the timers. */
void ownership_lose(struct engine *, int status);

/* ownership_give_way gives the ownership back when a timer of a newer durawheel was read, because
 * this version cannot deliver it. */
void ownership_give_way(struct engine *);

/* ownership_round lets a standby ask for the ownership; ownership_answered takes the answer. */
void ownership_round(struct engine *, dw_usec now);
dw_usec ownership_wake(const struct engine *);
void ownership_answered(struct engine *, const dw_op *);

/* ownership_is_current: this is the owner, and the answer is of the present term. */
static inline bool ownership_is_current(const struct ownership *ownership, const dw_op *op)
{
	return ownership->role == DW_OWNER && ticket_of_const(op)->term == ownership->term;
}

/* ownership_hurry: the wall clock was set; nothing waits longer than until now. */
static inline void ownership_hurry(struct ownership *ownership, dw_usec now)
{
	ownership->at = usec_min(ownership->at, now);
}

#endif
