/* steps: the moves. They know nothing of each other; moves.c says in which order they are asked. */
#ifndef MODEL_STEPS_H
#define MODEL_STEPS_H

#include "model/model.h"
#include "model/promises.h"
#include "model/search/steps.h"

typedef void move_fn(const struct model *, const struct state *, struct steps *);

/* moves_may_fail: there may be one more fault. */
static inline bool moves_may_fail(const struct model *model, const struct state *state)
{
	return !model->quiet && state->spent.faults < model->limits.faults;
}

/* moves_may_put: a party with the limit `most` may put once more. */
static inline bool moves_may_put(const struct model *model, const struct state *state, uint8_t done,
				 uint8_t most)
{
	return !model->quiet && done < most && state->generations < GENERATIONS - 1u;
}

move_fn fault_restart, fault_heal, fault_cut, fault_kill, fault_lose_request;
move_fn lease_deadline, owner_renew, owner_retake, owner_step_down, lease_end;
move_fn owner_acquire, owner_load, owner_read_inbox;
move_fn request_run, request_answer, request_greet;
move_fn timer_claim, timer_start, timer_return, timer_settle, timer_void;
move_fn journal_doubt, journal_replay, journal_realize, journal_claim, journal_settle;
move_fn journal_settle_stored;
move_fn user_put, user_put_journaled, user_cancel_journaled;
move_fn standby_acquire, standby_step_down, standby_claim, standby_start, standby_acknowledge;
move_fn standby_close, standby_settle;
move_fn client_put, client_cancel, client_give_up;

extern const struct subject model_subject;

#endif
