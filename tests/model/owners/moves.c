/* moves: all of them, in the order in which they are asked. In a quiet world the first step that
 * leads to a new state is taken, so the order decides there: what is under way goes before what is
 * new. */
#include "model/owners/steps.h"

static party_move_fn *const of_parties[] = {
    party_restart,    late_run,    request_run,   request_answer, party_write,
    party_greet,      party_renew, party_load,    timer_start,    timer_inbox,
    timer_claim,      timer_end,   party_take,    party_kill,     party_cut,
    party_lease_over, party_away,  party_release, party_give,
};

static move_fn *const of_others[] = {
    server_return, server_young, lease_end,  server_stop,   server_save,
    server_jump,   server_lose,  client_put, client_cancel,
};

/* Equal states have equal bytes only as long as no byte is padding. */
_Static_assert(sizeof(struct state) == sizeof(struct server) + PARTIES * sizeof(struct party) + 1 +
					   GENERATIONS * sizeof(struct history) +
					   sizeof(struct spent),
	       "a state has no padding");

/* state_first: B is the owner, and has loaded the empty shard. */
static void begin(const struct model *model, struct state *state)
{
	struct party *owner = &state->parties[1];
	struct data *data = &state->server.data;

	state->server.up = state->server.fences = 1;
	for (unsigned i = 0; i < PARTIES; i++)
		state->parties[i].up = state->parties[i].linked = state->parties[i].life = 1;
	owner->connection = owner->fence = owner->told = owner->era = 1;
	owner->lease = owner->proof = 1;
	owner->role = ROLE_OWNER;
	data->lease = token_of(state, 1, 1);
	data->fence = data->era = data->holder = 1;
	data->longest = model->permits;
	state->server.saved = *data;
}

static void move(const struct model *model, const struct state *state, struct steps *steps)
{
	steps->count = 0;
	for (unsigned i = 0; i < sizeof of_parties / sizeof of_parties[0]; i++)
		for (unsigned party = 0; party < PARTIES; party++)
			of_parties[i](model, state, party, steps);
	for (unsigned i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
		of_others[i](model, state, steps);
}

const struct subject model_subject = {
    .size = sizeof(struct state),
    .first = begin,
    .moves = move,
    .end = promises_end,
    .name = promise_name,
    .words = promise_words,
};
