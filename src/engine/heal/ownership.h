/* The ownership of the store: gained, lost, or given back to a newer durawheel. The handle is an
 * owner while it owns a shard. shards.h knows who owns the shard of a timer. */
#ifndef DW_ENGINE_OWNERSHIP_H
#define DW_ENGINE_OWNERSHIP_H

#include <stdbool.h>

#include "base/usec.h"
#include "engine/heal/giving.h"
#include "engine/heal/sharing.h"
#include "port/op.h"

struct engine;

struct ownership {
	dw_role role;         /* DW_OWNER or DW_CLIENT, at this moment */
	bool standby;         /* a client that asks for the ownership */
	bool asked;           /* an OWN or DISOWN is not answered yet */
	dw_usec at;           /* wall clock; when a standby asks next */
	bool was_owner;       /* this handle was the owner before */
	unsigned term;        /* the first term (shards.h) since the last loss */
	bool newer_notified;  /* the program was told about timers of a newer durawheel */
	uint64_t dropped;     /* timers that the last loss has dropped from memory */
	int lost_by;          /* the status of the last loss */
	struct giving giving; /* of a peer only, as `sharing` is */
	struct sharing sharing;
	dw_usec part_by; /* steady; a handle that closes waits for `parted` until then */
	/* A handle that closes need not wait longer. The store has lost nothing that only this
	 * owner knows, or the wait was too long. */
	bool parted;
	int refused_by; /* why a standby is not the owner: DW_EOWNED, DW_ENEWER or DW_ELIMIT; 0:
			 * not known */
};

/* ownership_lose begins a walk that drops all timers from memory. status says why the ownership is
 * lost. */
void ownership_lose(struct engine *, int status);

/* ownership_give_way gives the ownership back if a timer of a newer durawheel was read, because
 * this version cannot deliver it. It also ends the ownership when the last shard is lost. */
void ownership_give_way(struct engine *);

/* ownership_part is called when the handle closes. It asks the store whether it has lost something.
 * If a server was emptied a moment ago, perhaps only this process knows its timers. */
void ownership_part(struct engine *);

/* ownership_round lets a standby ask for the ownership. ownership_answered handles the answer. */
void ownership_round(struct engine *, dw_usec now);
dw_usec ownership_wake(const struct engine *);
void ownership_answered(struct engine *, const dw_op *);

/* ownership_fenced is called when the store has answered DW_EFENCED. */
void ownership_fenced(struct engine *, const dw_op *);

/* ownership_is_current returns true if this engine is an owner, and has been one without a break
 * since the operation was sent. It is for operations that are about no timer. */
static inline bool ownership_is_current(const struct ownership *ownership, const dw_op *op)
{
	return ownership->role == DW_OWNER && ticket_of_const(op)->term >= ownership->term;
}

/* ownership_hurry lets a waiting standby ask now, because the wall clock was set. */
static inline void ownership_hurry(struct ownership *ownership, dw_usec now)
{
	ownership->at = usec_min(ownership->at, now);
}

#endif
