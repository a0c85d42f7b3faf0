#include "model/failover/named.h"

static bool does_name(const struct model *model, const struct state *state,
		      const struct answer *answer, uint8_t server)
{
	return answer->config && answer->sent < model->k &&
	       state->serves[answer->config - 1] == server;
}

static unsigned majority_of(const struct model *model, const struct party *party)
{
	unsigned voters = 0;

	for (unsigned i = 0; i < model->voters; i++)
		voters += party->answers[i].config || holds(model, RULE_ALL);
	return holds(model, RULE_HALF) ? voters / 2 + 1 : (voters + 1) / 2;
}

/* What all answers of a set of voters say. */
struct joint {
	unsigned count;
	uint8_t sent, since; /* the earliest sending, the latest moment since when */
};

static struct joint join(const struct model *model, const struct state *state, unsigned i,
			 unsigned set, uint8_t server)
{
	struct joint joint = {.since = age_max(model)};

	for (unsigned v = 0; v < model->voters; v++) {
		const struct answer *answer = &state->parties[i].answers[v];

		if (!(set >> v & 1u))
			continue;
		if (!does_name(model, state, answer, server))
			return (struct joint){.count = 0};
		joint.count++;
		joint.sent = answer->sent > joint.sent ? answer->sent : joint.sent;
		joint.since = answer->since < joint.since ? answer->since : joint.since;
	}
	return joint;
}

uint8_t named_left(const struct model *model, const struct state *state, unsigned i, uint8_t server)
{
	unsigned majority = majority_of(model, &state->parties[i]);
	uint8_t left = 0;

	for (unsigned set = 1; set < 1u << model->voters; set++) {
		struct joint joint = join(model, state, i, set, server);

		if (joint.count >= majority && model->k - joint.sent > left)
			left = (uint8_t)(model->k - joint.sent);
	}
	return left;
}

bool named_long(const struct model *model, const struct state *state, unsigned i, uint8_t server)
{
	unsigned majority = majority_of(model, &state->parties[i]);

	for (unsigned set = 1; set < 1u << model->voters; set++) {
		struct joint joint = join(model, state, i, set, server);

		if (joint.count >= majority && joint.since >= model->k + joint.sent)
			return true;
	}
	return false;
}

static bool must_wait(const struct model *model, const struct state *state, unsigned i)
{
	if (i == CLIENT)
		return holds(model, RULE_CALLS);
	return holds(model, state->parties[i].lease.fence ? RULE_EVERYONE : RULE_WAIT);
}

void named_now(const struct model *model, struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];
	struct lease *lease = &party->lease;
	uint8_t left = named_left(model, state, i, party->at);

	if (left > party->trust &&
	    (party->trust || !must_wait(model, state, i) || named_long(model, state, i, party->at)))
		party->trust = left;
	if (!lease->fence)
		return;
	left = named_left(model, state, i, lease->server);
	if (left > lease->bound && (lease->bound || !holds(model, RULE_OVER)))
		lease->bound = left;
}

void named_forget(const struct model *model, struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];
	const struct lease *lease = &party->lease;

	for (unsigned v = 0; v < model->voters; v++) {
		struct answer *answer = &party->answers[v];
		uint8_t server = answer->config ? state->serves[answer->config - 1] : NOWHERE;
		bool is_here = server == party->at;
		bool is_of_lease = lease->own && lease->bound && server == lease->server;

		if (!answer->config || model->is_ageless)
			continue;
		if (!is_here && !is_of_lease && answer->config <= party->config)
			*answer = (struct answer){.config = 0};
		else if ((is_here && party->trust) || (!is_here && answer->config <= party->config))
			answer->since = 0;
	}
}
