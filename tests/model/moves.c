/* moves: all of them, in the order in which they are asked. In a quiet world search.c takes the
 * first step that leads to a new state. So the order decides there: what is under way goes before
 * what is new, and the owner before the standby. */
#include "model/steps.h"

static move_fn *const moves[] = {
    fault_restart,
    fault_heal,
    fault_cut,
    fault_kill,
    request_run,
    fault_lose_request,
    request_answer,
    journal_doubt,
    request_greet,
    lease_deadline,
    owner_renew,
    owner_retake,
    owner_step_down,
    lease_end,
    owner_acquire,
    owner_load,
    journal_replay,
    journal_realize,
    timer_claim,
    timer_start,
    timer_return,
    timer_settle,
    timer_void,
    journal_claim,
    journal_settle,
    journal_settle_stored,
    user_put,
    user_put_journaled,
    user_cancel_journaled,
    owner_read_inbox,
    standby_acquire,
    standby_step_down,
    standby_claim,
    standby_start,
    standby_acknowledge,
    standby_close,
    standby_settle,
    client_put,
    client_cancel,
    client_give_up,
};

/* Equal states have equal bytes only as long as no byte is padding. */
_Static_assert(sizeof(struct state) == sizeof(struct server) + sizeof(struct owner) +
					   sizeof(struct standby) + sizeof(struct client) + 1 +
					   GENERATIONS * sizeof(struct history) +
					   sizeof(struct spent),
	       "a state has no padding");

static void begin(const struct model *model, struct state *state)
{
	state->server.fence = state->server.lease = state->owner.fence = 1;
	state->owner.up = state->owner.lease = 1;
	state->server.fires = model->fire;
	state->owner.role = ROLE_OWNER;
}

static void move(const struct model *model, const struct state *state, struct steps *steps)
{
	steps->count = 0;
	for (unsigned i = 0; i < sizeof moves / sizeof moves[0]; i++)
		moves[i](model, state, steps);
}

const struct subject model_subject = {
    .size = sizeof(struct state),
    .first = begin,
    .moves = move,
    .end = promises_end,
    .name = promise_name,
    .words = promise_words,
};
