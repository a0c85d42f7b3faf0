/* lease: the owner's right to start timers, as it believes itself and as Redis knows it. */
#include "model/owner.h"
#include "model/server.h"
#include "model/steps.h"

void lease_deadline(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *before = &state->owner;

	if (!before->lease || model->quiet ||
	    (before->up && !before->cut && before->fence == state->server.lease))
		return;
	steps_add(steps, state, "A's lease is over by A's clock")->after->owner.lease = 0;
}

void owner_renew(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;

	(void)model;
	if (owner_reaches_redis(state) && owner_has_lease(state) && !owner->lease &&
	    !owner_is_in_doubt(owner))
		steps_add(steps, state, "A renews its lease")->after->owner.lease = 1;
}

void owner_retake(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	(void)model;
	if (!owner_reaches_redis(state) || !state->owner.role || state->server.lease ||
	    state->server.fence != state->owner.fence)
		return;
	after = steps_add(steps, state, "A takes its lease again")->after;
	after->server.lease = after->owner.fence;
	after->owner.lease = 1;
}

void owner_step_down(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *before = &state->owner;
	struct owner *owner = NULL;

	(void)model;
	if (!owner_reaches_redis(state) || !before->role || owner_has_lease(state) ||
	    state->server.fence == before->fence || before->stage ||
	    before->timer.kind == TIMER_RUNNING)
		return;
	owner = &steps_add(steps, state, "A is fenced, and is a client from now on")->after->owner;
	owner_lose(owner);
}

/* Redis never ends the lease before its holder counts it as over. In a quiet world a holder that
 * lives renews it. */
void lease_end(const struct model *model, const struct state *state, struct steps *steps)
{
	uint8_t lease = state->server.lease;
	const struct owner *owner = &state->owner;
	const struct standby *standby = &state->standby;
	struct state *after = NULL;

	if (!lease || (lease == standby->fence && standby->owns) ||
	    (lease == owner->fence && owner->up && (owner->lease || model->quiet)))
		return;
	after = steps_add(steps, state, "the lease ends in Redis")->after;
	after->server.lease = 0;
}

/* A process on the machine of the holder need not wait for the lease's end. */
void owner_acquire(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *before = &state->owner;
	struct state *after = NULL;

	(void)model;
	if (!owner_reaches_redis(state) || before->role || before->stage ||
	    before->timer.kind >= TIMER_RUNNING || state->server.fence >= FENCES - 3 ||
	    (state->server.lease && state->server.lease == state->standby.fence))
		return;
	after = steps_add(steps, state, "A acquires the shard")->after;
	server_acquire(after);
	after->owner.fence = after->server.fence;
	after->owner.role = ROLE_LOADING;
	after->owner.lease = 1;
	after->owner.number = 0;
	after->server.fires = model->fire;
	after->client.waits = 0; /* DW_ELATE */
}

void owner_load(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (!owner_reaches_redis(state) || !owner_has_lease(state) ||
	    state->owner.role != ROLE_LOADING ||
	    (holds(model, RULE_REPLAY_FIRST) && state->owner.row.kind))
		return;
	after = steps_add(steps, state, "A loads the shard")->after;
	owner_learn(model, after);
	after->owner.role = ROLE_OWNER;
	after->server.inbox = INBOX_EMPTY;
}

/* has_claim: the record is claimed for the timer in memory. */
static bool has_claim(const struct state *state)
{
	const struct record *record = &state->server.record;
	const struct owner *owner = &state->owner;

	return owner->timer.kind == TIMER_CLAIMED && record->kind == RECORD_CLAIMED &&
	       record->fence == owner->fence && record->generation == owner->timer.generation;
}

/* acknowledge: a client that waits learns that its cancel is done (J16). */
static enum promise acknowledge(struct state *state)
{
	const struct timer *timer = &state->owner.timer;
	bool waits = state->client.waits;

	state->server.inbox = state->server.inbox_version = 0;
	state->client.waits = 0;
	if (!waits)
		return PROMISE_KEPT;
	state->history[state->client.generation].cancelled = CANCELLED_DONE;
	return timer->kind == TIMER_RUNNING && timer->generation == state->client.generation
		   ? PROMISE_I3
		   : PROMISE_KEPT;
}

void owner_read_inbox(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *before = &state->owner;
	struct step *step = NULL;

	if (!owner_reaches_redis(state) || !owner_has_lease(state) || before->role != ROLE_OWNER ||
	    before->stage || (before->row.kind && holds(model, RULE_ROW_FIRST)))
		return;
	step = steps_add(steps, state, "A reads the inbox and acknowledges it");
	if (!has_claim(state))
		owner_learn(model, step->after);
	step->broken = acknowledge(step->after);
}
