/* timer: the life of a timer in the owner while Redis answers, and its start at any time. */
#include "model/owner.h"
#include "model/steps.h"

static bool is_owner(const struct state *state)
{
	return owner_reaches_redis(state) && state->owner.role == ROLE_OWNER;
}

/* ask sends a request about the timer in memory. */
static void ask(struct owner *owner, enum request_kind kind)
{
	owner->request = (struct request){.kind = (uint8_t)kind,
					  .generation = owner->timer.generation,
					  .number = ++owner->number,
					  .fence = owner->fence,
					  .attempt = owner->timer.attempt,
					  .version = owner->timer.version};
	owner->stage = STAGE_SENT;
}

void timer_claim(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	struct step *step = NULL;

	if (!is_owner(state) || owner->stage || owner->timer.kind != TIMER_PENDING ||
	    !owner->lease || (holds(model, RULE_REPLAY_FIRST) && owner->row.kind))
		return;
	step = steps_add(steps, state, "A claims");
	step->generation = owner->timer.generation;
	ask(&step->after->owner, REQUEST_CLAIM);
}

void timer_start(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	struct step *step = NULL;

	if (!owner->up || owner->role != ROLE_OWNER || owner->timer.kind != TIMER_CLAIMED ||
	    (holds(model, RULE_LEASE) && !owner->lease))
		return;
	step = steps_add(steps, state, "A STARTS");
	step->generation = owner->timer.generation;
	step->attempt = owner->timer.attempt;
	step->broken = promises_start(step->after, true, step->generation, step->attempt);
	step->after->owner.timer.kind = TIMER_RUNNING;
}

void timer_return(const struct model *model, const struct state *state, struct steps *steps)
{
	(void)model;
	if (state->owner.up && state->owner.timer.kind == TIMER_RUNNING)
		steps_add(steps, state, "A's handler is done")->after->owner.timer.kind =
		    TIMER_DONE;
}

void timer_settle(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	struct step *step = NULL;

	(void)model;
	if (!is_owner(state) || owner->stage || owner->timer.kind != TIMER_DONE ||
	    owner->timer.local || owner->row.kind)
		return;
	step = steps_add(steps, state, "A settles");
	step->generation = owner->timer.generation;
	ask(&step->after->owner, REQUEST_SETTLE);
}

void timer_void(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;

	(void)model;
	if (owner_reaches_redis(state) && !owner->role && owner->timer.kind == TIMER_DONE &&
	    !owner->row.kind)
		steps_add(steps, state, "A's verdict is void: another process owns the shard")
		    ->after->owner.timer.kind = TIMER_NONE;
}

void user_put(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *before = &state->owner;
	struct step *step = NULL;
	struct owner *owner = NULL;

	if (!moves_may_put(model, state, state->spent.puts, model->limits.puts) ||
	    !is_owner(state) || before->stage || !before->lease || before->row.kind ||
	    before->timer.kind >= TIMER_CLAIMED)
		return;
	step = steps_add(steps, state, "A's user puts");
	owner = &step->after->owner;
	step->after->spent.puts++;
	step->generation = ++step->after->generations;
	owner->doubt_ended = 0;
	owner->stage = STAGE_SENT;
	owner->request = (struct request){.kind = REQUEST_PUT,
					  .generation = step->generation,
					  .number = ++owner->number,
					  .fence = owner->fence};
}
