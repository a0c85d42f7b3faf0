/* steps: the moves, and what several of them have in common. */
#ifndef MODEL_FAILOVER_STEPS_H
#define MODEL_FAILOVER_STEPS_H

#include "model/failover/model.h"
#include "model/failover/promises.h"
#include "model/search/steps.h"

typedef void move_fn(const struct model *, const struct state *, struct steps *);
typedef void party_move_fn(const struct model *, const struct state *, unsigned party,
			   struct steps *);

/* step_of: a step of the party. */
struct step *step_of(unsigned party, const struct state *before, const char *text, struct steps *);

/* step_in: a step of the server. */
struct step *step_in(unsigned server, const struct state *before, const char *text, struct steps *);

/* may_delay: one more message may travel for some time. */
static inline bool may_delay(const struct model *model, const struct state *state)
{
	return !model->quiet && state->spent.delays < model->limits.delays;
}

static inline bool is_idle(const struct state *state, unsigned i)
{
	return state->parties[i].request.kind == REQUEST_NONE && state->parties[i].at != NOWHERE;
}

static inline const struct data *data_at(const struct state *state, unsigned i)
{
	return &state->servers[state->parties[i].at].data;
}

/* is_at_work: an owner that is connected to the server of its lease, and waits for nothing. */
bool is_at_work(const struct model *, const struct state *, unsigned party);

/* request_send: the request is answered at once, or travels. */
void request_send(const struct model *, const struct state *, unsigned party, struct request,
		  struct steps *);

/* run_request: the server runs the request. */
void run_request(struct state *, unsigned party);

/* learn: an owner reads the timer of its server. */
void learn(struct state *, unsigned party);

/* take: the party takes the reply. */
void take_owner(const struct model *, struct step *, unsigned party, const struct request *);
void take_client(const struct model *, struct step *, unsigned party, const struct request *);

move_fn time_passes, voters_learn, voter_restart, letter_comes;
move_fn server_promote, server_follow, server_copy, server_reset;
party_move_fn party_ask, party_connect, party_kill, request_go;
party_move_fn owner_acquire, owner_renew, owner_restore, owner_read;
party_move_fn timer_claim, timer_start, timer_settle;
move_fn client_cancel, client_put;

extern const struct subject model_subject;

#endif
