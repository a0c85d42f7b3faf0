/* The ownership of the simulated store. The process has it while it renews its lease; else the
 * second owner may have it. */
#ifndef SIM_SINGLE_OWNERSHIP_H
#define SIM_SINGLE_OWNERSHIP_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "sim/core/terms.h"

struct single;

/* The knowledge of the process's store. FENCED: the ownership is lost, and the engine does not know
 * it yet. */
enum standing { STANDING_OWNER, STANDING_FENCED, STANDING_CLIENT };

struct lease {
	dw_usec until;      /* steady: the second owner may not take the store before */
	dw_usec away_until; /* steady: until then the store is unreachable */
};

struct ownership {
	struct single *single;
	enum standing standing;
	uint64_t token;
	struct terms terms; /* of the engine */
	uint32_t takeovers; /* second_owner.count when this ownership began */
	dw_usec renew_at;   /* steady */
	dw_usec told;       /* steady: the end of the lease as the engine knows it */
};

void ownership_begin(struct ownership *);
bool ownership_holds(const struct ownership *);
bool ownership_may_start(const struct ownership *);

/* ownership_is_lost: the second owner took over, and the engine does not know it yet. */
bool ownership_is_lost(const struct ownership *);

/* ownership_check finds out that the second owner has, or had, the store. True: it just did. */
bool ownership_check(struct ownership *);

/* ownership_told: the engine takes an answer DW_EFENCED. */
void ownership_told(struct ownership *);

void ownership_renew(struct ownership *);
void ownership_release(struct ownership *);

/* ownership_permits: the operation may be carried out. Otherwise its status is
 * ownership_refusal(). */
bool ownership_permits(const struct ownership *, const dw_op *);
int ownership_refusal(const struct ownership *);

#endif
