/* moves: all of them, in the order in which they are asked. In a quiet world the first step that
 * leads to a new state is taken, so the order decides there: what is under way goes before what is
 * new, and A before B. */
#include "model/failover/named.h"
#include "model/failover/steps.h"

#include <string.h>

static move_fn *const before_parties[] = {letter_comes, voters_learn, server_follow};

static party_move_fn *const of_parties[] = {
    request_go,   party_ask,   party_connect, owner_restore, owner_read, timer_start,
    timer_settle, timer_claim, owner_renew,   owner_acquire, party_kill,
};

static move_fn *const of_others[] = {
    client_cancel, client_put,    server_copy, server_promote,
    server_reset,  voter_restart, time_passes,
};

/* Equal states have equal bytes only as long as no byte is padding. */
_Static_assert(sizeof(struct state) == SERVERS * sizeof(struct server) + sizeof(struct data) +
					   VOTERS * sizeof(struct voter) +
					   PARTIES * sizeof(struct party) + sizeof(struct letter) +
					   CONFIGS + 5 + GENERATIONS * sizeof(struct history) +
					   sizeof(struct spent),
	       "a state has no padding");

struct step *step_of(unsigned i, const struct state *before, const char *text, struct steps *steps)
{
	static const char *const names[PARTIES][SERVERS + 1] = {
	    {"A, at M,", "A, at R,", "A, at Q,", "A"},
	    {"B, at M,", "B, at R,", "B, at Q,", "B"},
	    {"the client, at M,", "the client, at R,", "the client, at Q,", "the client"},
	};
	struct step *step = steps_add(steps, before, text);

	step->who = names[i][before->parties[i].at];
	return step;
}

struct step *step_in(unsigned i, const struct state *before, const char *text, struct steps *steps)
{
	static const char *const names[SERVERS] = {"M", "R", "Q"};
	struct step *step = steps_add(steps, before, text);

	step->who = names[i];
	return step;
}

/* begin: A is the owner at M, and all know it. */
static void begin(const struct model *model, struct state *state)
{
	struct data data = {.version = 1};

	if (model->has_timer)
		data.record = (struct record){RECORD_PENDING, 1, 1, 0, 0};
	state->saved = data;
	data.holder = data.fence = 1;
	data.left = model->lease;
	state->versions = state->generations = 1;
	for (unsigned i = 0; i < SERVERS; i++)
		state->servers[i] = (struct server){.data = data, .up = model->lease};
	state->servers[0].is_master = 1;
	for (unsigned v = 0; v < model->voters; v++)
		state->voters[v].age = age_max(model);
	for (unsigned i = 0; i < PARTIES; i++) {
		struct party *party = &state->parties[i];

		party->config = 1;
		party->trust = model->k;
		for (unsigned v = 0; v < model->voters; v++)
			party->answers[v] = (struct answer){1, 0, age_max(model)};
	}
	state->parties[0].lease = (struct lease){0, 1, model->lease, model->k};
	learn(state, 0);
}

static int compare(const struct state *state, unsigned v, unsigned w)
{
	int order = memcmp(&state->voters[v], &state->voters[w], sizeof(struct voter));

	for (unsigned i = 0; !order && i < PARTIES; i++)
		order = memcmp(&state->parties[i].answers[v], &state->parties[i].answers[w],
			       sizeof(struct answer));
	if (!order && state->letter.config)
		order = (state->letter.voter == w) - (state->letter.voter == v);
	return order;
}

static void swap(struct state *state, uint8_t v, uint8_t w)
{
	struct voter voter = state->voters[v];

	state->voters[v] = state->voters[w];
	state->voters[w] = voter;
	for (unsigned i = 0; i < PARTIES; i++) {
		struct answer *answers = state->parties[i].answers;
		struct answer answer = answers[v];

		answers[v] = answers[w];
		answers[w] = answer;
	}
	if (state->letter.config && (state->letter.voter == v || state->letter.voter == w))
		state->letter.voter = (uint8_t)(v + w - state->letter.voter);
}

/* sort: voters are alike, so their order makes no other state. */
static void sort(const struct model *model, struct state *state)
{
	for (uint8_t i = 1; i < model->voters; i++)
		for (uint8_t v = i; v > 0 && compare(state, v - 1u, v) > 0; v--)
			swap(state, (uint8_t)(v - 1), v);
}

static void move(const struct model *model, const struct state *state, struct steps *steps)
{
	steps->count = 0;
	if (model->quiet && promises_rest(model, state))
		return;
	for (unsigned i = 0; i < sizeof before_parties / sizeof before_parties[0]; i++)
		before_parties[i](model, state, steps);
	for (unsigned i = 0; i < sizeof of_parties / sizeof of_parties[0]; i++)
		for (unsigned party = 0; party < PARTIES; party++)
			if (party < OWNERS || i < 3)
				of_parties[i](model, state, party, steps);
	for (unsigned i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
		of_others[i](model, state, steps);
	for (unsigned i = 0; i < steps->count; i++) {
		struct step *step = &steps->items[i];

		for (unsigned party = 0; party < PARTIES; party++)
			named_forget(model, step->after, party);
		sort(model, step->after);
		if (!step->broken)
			step->broken = promises_one(model, step->after);
	}
}

const struct subject model_subject = {
    .size = sizeof(struct state),
    .first = begin,
    .moves = move,
    .end = promises_end,
    .name = promise_name,
    .words = promise_words,
};
