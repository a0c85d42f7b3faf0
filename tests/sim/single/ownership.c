#include "sim/single/single.h"

bool ownership_holds(const struct ownership *own)
{
	return own->standing == STANDING_OWNER && own->takeovers == own->single->second_owner.count;
}

bool ownership_may_start(const struct ownership *own)
{
	const struct single *single = own->single;

	return single->knobs.takeover == 0 ||
	       (ownership_holds(own) && single->sim->clocks.steady < single->lease.until);
}

bool ownership_is_lost(const struct ownership *own)
{
	return own->standing != STANDING_CLIENT && !ownership_holds(own);
}

static dw_usec lease_time(const struct ownership *own)
{
	return DW_MILLISECONDS(own->single->knobs.lease_ms);
}

/* extend takes or renews the lease. The engine gets an earlier end, because the clocks of two
 * machines differ. */
static void extend(struct ownership *own)
{
	struct single *single = own->single;
	dw_usec now = single->sim->clocks.steady;

	own->told = own->renew_at = DW_NEVER;
	if (single->knobs.takeover == 0)
		return;
	single->lease.until = now + lease_time(own);
	own->told = single->lease.until - DW_MILLISECONDS(2);
	own->renew_at = now + lease_time(own) / 3;
}

void ownership_begin(struct ownership *own)
{
	struct single *single = own->single;

	own->standing = STANDING_OWNER;
	own->takeovers = single->second_owner.count;
	own->token = rng_next(&single->sim->rng) | 1;
	extend(own);
	(void)table_own(single->table, "the simulation",
			clocks_wall(single->sim)); /* this memory is endless */
}

bool ownership_check(struct ownership *own)
{
	struct sim *sim = own->single->sim;

	if (own->standing != STANDING_OWNER || ownership_holds(own))
		return false;
	trace(sim, "lost", "", 0, 0);
	own->standing = STANDING_FENCED;
	faults_disturb(sim, sim->clocks.steady);
	return true;
}

void ownership_told(struct ownership *own)
{
	if (own->standing != STANDING_FENCED)
		return;
	own->standing = STANDING_CLIENT;
	terms_lost(&own->terms);
}

static void lapse(struct ownership *own)
{
	struct single *single = own->single;
	struct sim *sim = single->sim;

	single->lease.away_until =
	    sim->clocks.steady + (dw_usec)draw(sim, 3 * (uint64_t)lease_time(own));
	trace(sim, "away", "", single->lease.away_until, 0);
	faults_disturb(sim, single->lease.away_until + lease_time(own));
}

void ownership_renew(struct ownership *own)
{
	const struct single *single = own->single;
	struct sim *sim = single->sim;

	own->renew_at = sim->clocks.steady + lease_time(own) / 3;
	if (own->standing == STANDING_CLIENT) {
		own->renew_at = DW_NEVER;
	} else if (own->standing == STANDING_FENCED) {
		if (sim->bug == BUG_FENCE_UNSEEN && !single->second_owner.owns)
			ownership_begin(own);
	} else if (sim->clocks.steady < single->lease.away_until) {
		trace(sim, "not renewed", "", 0, 0);
	} else if (chance(sim, single->knobs.lapse)) {
		lapse(own);
	} else {
		extend(own);
	}
}

void ownership_release(struct ownership *own)
{
	if (ownership_holds(own))
		own->single->lease.until = own->single->sim->clocks.steady;
}

static bool is_owners(const dw_op *op)
{
	return op->kind == DW_OP_CLAIM || op->kind == DW_OP_SETTLE || op->kind == DW_OP_RETRY ||
	       op->kind == DW_OP_BURY || op->kind == DW_OP_INBOX || op->kind == DW_OP_ACK ||
	       op->kind == DW_OP_REPORT || op->kind == DW_OP_PURGE ||
	       op->flags & (DW_OP_CLAIMED | DW_OP_WITHDRAWN);
}

bool ownership_permits(const struct ownership *own, const dw_op *op)
{
	return own->standing == STANDING_OWNER ||
	       (own->standing == STANDING_CLIENT && !is_owners(op));
}

int ownership_refusal(const struct ownership *own)
{
	return own->single->sim->bug == BUG_FENCE_UNSEEN ? DW_ESTORE : DW_EFENCED;
}
