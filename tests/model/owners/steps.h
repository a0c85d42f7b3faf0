/* steps: the moves, and what several of them have in common. Moves of a party are asked for each
 * party. */
#ifndef MODEL_OWNERS_STEPS_H
#define MODEL_OWNERS_STEPS_H

#include "model/owners/model.h"
#include "model/owners/promises.h"
#include "model/search/steps.h"

typedef void move_fn(const struct model *, const struct state *, struct steps *);
typedef void party_move_fn(const struct model *, const struct state *, unsigned party,
			   struct steps *);

/* step_of: a step of the party. */
static inline struct step *step_of(unsigned party, const struct state *before, const char *text,
				   struct steps *steps)
{
	struct step *step = steps_add(steps, before, text);

	step->who = party == 0 ? "A" : "B";
	return step;
}

/* may_fail: there may be one more fault. */
static inline bool may_fail(const struct model *model, const struct state *state)
{
	return !model->quiet && state->spent.faults < model->limits.faults;
}

/* is_idle: the party runs, is connected, and waits for no reply. */
static inline bool is_idle(const struct state *state, unsigned party)
{
	const struct party *self = &state->parties[party];

	return self->up && self->linked && self->stage == STAGE_IDLE;
}

/* is_at_work: it is an owner that may send what changes timers. */
static inline bool is_at_work(const struct state *state, unsigned party)
{
	const struct party *self = &state->parties[party];

	return is_idle(state, party) && self->role == ROLE_OWNER && self->lease && !self->writes;
}

static inline bool same_token(struct token a, struct token b)
{
	return a.fence == b.fence && a.party == b.party && a.life == b.life &&
	       a.connection == b.connection && a.ask == b.ask;
}

/* is_of: the token is of this party, in its present life. */
static inline bool is_of(const struct state *state, struct token token, unsigned party)
{
	return token.fence && token.party == party + 1 && token.life == state->parties[party].life;
}

/* token_of: what the party has on its present connection. */
struct token token_of(const struct state *, unsigned party, uint8_t fence);

/* send: the request is on its way. */
void send_request(struct party *, struct request);

/* forget: the party has no part in the shard any more. */
void forget(struct party *);

/* run_request: the server runs a request; the reply is in the state if the party waits for it. */
enum reply run_request(const struct model *, struct state *, unsigned party,
		       const struct request *);

/* learn: memory takes over the timer of the server. */
void learn(struct state *, unsigned party);

move_fn server_stop, server_return, server_lose, server_save, server_young, server_jump, lease_end;
move_fn client_put, client_cancel;
party_move_fn party_restart, party_kill, party_cut, party_lease_over, party_away;
party_move_fn late_run, request_run, request_answer;
party_move_fn party_greet, party_renew, party_take, party_release, party_load, party_write;
party_move_fn party_give;
party_move_fn timer_claim, timer_start, timer_end, timer_inbox;

/* How the party takes the reply to its request of this kind. */
void answer_acquire(const struct model *, struct step *, unsigned party);
void answer_renew(const struct model *, struct step *, unsigned party);
void answer_give(const struct model *, struct step *, unsigned party);
void answer_timer(struct step *, unsigned party);

extern const struct subject model_subject;

#endif
