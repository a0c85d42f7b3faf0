/* voters: they decide on a master, and answer. Time passes. */
#include "model/failover/named.h"
#include "model/failover/steps.h"

/* ---- Voters -------------------------------------------------------------------------------- */

void voters_learn(const struct model *model, const struct state *state, struct steps *steps)
{
	for (unsigned v = 0; v < model->voters; v++) {
		const struct voter *before = &state->voters[v];

		for (uint8_t config = state->configs; config > before->config; config--) {
			uint8_t server = state->serves[config];
			struct step *step =
			    step_in(server, state, "is what a further voter names", steps);
			struct voter *voter = &step->after->voters[v];

			if (server != state->serves[before->config])
				voter->age = 0;
			voter->config = config;
		}
	}
}

void voter_restart(const struct model *model, const struct state *state, struct steps *steps)
{
	if (model->quiet || state->spent.restarts >= model->limits.restarts)
		return;
	for (unsigned v = 0; v < model->voters; v++) {
		struct state *after = steps_add(steps, state, "a voter restarts")->after;

		after->spent.restarts++;
		after->voters[v].age = 0;
	}
}

/* ---- Answers ------------------------------------------------------------------------------- */

/* age_of: without an age, the party counts for how long it has heard the same. */
static uint8_t age_of(const struct model *model, const struct state *state,
		      const struct letter *letter)
{
	const struct answer *last = &state->parties[letter->party].answers[letter->voter];

	if (!model->is_ageless)
		return letter->age;
	return last->config == letter->config ? last->since : 0;
}

/* hear: the party reads the answer. */
static void hear(const struct model *model, struct state *state, const struct letter *letter)
{
	struct answer answer = {.config = letter->config,
				.sent = holds(model, RULE_SENT) ? letter->sent : 0,
				.since = age_of(model, state, letter)};

	if (answer.since > age_max(model))
		answer.since = age_max(model);
	if (answer.sent >= model->k)
		answer = (struct answer){.config = 0};
	state->parties[letter->party].answers[letter->voter] = answer;
	named_now(model, state, letter->party);
}

void letter_comes(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (!state->letter.config)
		return;
	after = step_of(state->letter.party, state, "gets the answer of a voter", steps)->after;
	after->letter = (struct letter){.config = 0};
	hear(model, after, &state->letter);
}

/* ask_later: the question travels until now, and the answer further. */
static void ask_later(const struct state *state, const struct letter *letter, struct steps *steps)
{
	struct state *after =
	    step_of(letter->party, state, "is answered by a voter; the answer travels", steps)
		->after;

	after->spent.delays++;
	after->letter = *letter;
}

static bool has_part(const struct model *model, unsigned i)
{
	return i < OWNERS || model->limits.puts || model->limits.cancels;
}

void party_ask(const struct model *model, const struct state *state, unsigned i,
	       struct steps *steps)
{
	struct state asked = *state;

	if (!has_part(model, i) || (!model->quiet && state->spent.answers >= model->limits.answers))
		return;
	asked.spent.answers = (uint8_t)(asked.spent.answers + !model->quiet);
	for (uint8_t v = 0; v < model->voters; v++) {
		const struct voter *voter = &state->voters[v];
		struct letter letter = {(uint8_t)i, v, (uint8_t)(voter->config + 1), voter->age, 0};

		hear(model, step_of(i, &asked, "is answered by a voter", steps)->after, &letter);
		if (may_delay(model, state) && !state->letter.config)
			ask_later(&asked, &letter, steps);
	}
}

/* party_connect: to a server that a voter names by a later decision. */
void party_connect(const struct model *model, const struct state *state, unsigned i,
		   struct steps *steps)
{
	const struct party *before = &state->parties[i];
	uint8_t config = before->config;

	if (!has_part(model, i))
		return;
	for (unsigned v = 0; v < model->voters; v++)
		if (before->answers[v].config > config)
			config = before->answers[v].config;
	if (config > before->config) {
		struct state *after = NULL;
		struct party *party = NULL;

		after = step_of(i, state, "connects to another server", steps)->after;
		party = &after->parties[i];
		party->config = config;
		if (party->at == state->serves[config - 1])
			return;
		party->at = state->serves[config - 1];
		party->trust = 0;
		party->request = (struct request){.kind = REQUEST_NONE};
		named_now(model, after, i);
	}
}

void party_kill(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || !has_part(model, i) || state->spent.kills >= model->limits.kills)
		return;
	after = step_of(i, state, "is killed, and starts again", steps)->after;
	after->spent.kills++;
	after->parties[i] = (struct party){.at = NOWHERE};
}

/* ---- Servers ------------------------------------------------------------------------------- */

void server_promote(const struct model *model, const struct state *state, struct steps *steps)
{
	if (model->quiet || state->spent.failovers >= model->limits.failovers)
		return;
	for (uint8_t j = 0; j < (model->has_third ? SERVERS : SERVERS - 1); j++) {
		struct state *after = NULL;

		if (state->servers[j].is_master)
			continue;
		after = step_in(j, state, "is promoted", steps)->after;
		after->spent.failovers++;
		after->servers[j].is_master = 1;
		after->serves[++after->configs] = j;
	}
}

static void copy(struct state *state, uint8_t server, uint8_t source)
{
	state->servers[server].data = state->servers[source].data;
	promises_copy(state, server, source);
}

/* server_follow: what is no longer the master is told so. */
void server_follow(const struct model *model, const struct state *state, struct steps *steps)
{
	uint8_t master = state->serves[state->configs];

	for (uint8_t j = 0; j < (model->has_third ? SERVERS : SERVERS - 1); j++) {
		struct state *after = NULL;

		if (j == master ||
		    (!state->servers[j].is_master && state->servers[j].source == master))
			continue;
		after = step_in(j, state, "is told to follow the new master", steps)->after;
		after->servers[j].is_master = 0;
		after->servers[j].source = master;
		copy(after, j, master);
	}
}

void server_copy(const struct model *model, const struct state *state, struct steps *steps)
{
	for (uint8_t j = 0; j < (model->has_third ? SERVERS : SERVERS - 1); j++)
		if (!state->servers[j].is_master &&
		    state->servers[state->servers[j].source].is_master)
			copy(step_in(j, state, "gets all writes of its master", steps)->after, j,
			     state->servers[j].source);
}

void server_reset(const struct model *model, const struct state *state, struct steps *steps)
{
	if (model->quiet || state->spent.resets >= model->limits.resets)
		return;
	for (uint8_t j = 0; j < (model->has_third ? SERVERS : SERVERS - 1); j++) {
		struct state *after = NULL;

		if (!state->servers[j].is_master)
			continue;
		after = step_in(j, state, "restarts from an old file", steps)->after;
		after->spent.resets++;
		after->servers[j].data = state->saved;
		after->servers[j].up = 0;
		promises_reset(after, j);
		for (unsigned i = 0; i < PARTIES; i++)
			if (after->parties[i].request.server == j)
				after->parties[i].request = (struct request){.kind = REQUEST_NONE};
	}
}

/* ---- Time ---------------------------------------------------------------------------------- */

static void fall(uint8_t *ticks)
{
	*ticks = (uint8_t)(*ticks - (*ticks > 0));
}

static void rise(uint8_t *ticks, uint8_t most)
{
	*ticks = (uint8_t)(*ticks + (*ticks < most));
}

static void age_answers(const struct model *model, struct party *party)
{
	for (unsigned v = 0; v < model->voters; v++) {
		struct answer *answer = &party->answers[v];

		if (!answer->config)
			continue;
		rise(&answer->sent, model->k);
		rise(&answer->since, age_max(model));
		if (answer->sent >= model->k)
			*answer = (struct answer){.config = 0};
	}
}

static void age_party(const struct model *model, struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];
	struct lease *lease = &party->lease;
	bool owned = false;

	age_answers(model, party);
	fall(&party->trust);
	fall(&party->request.left);
	party->request.lapsed |= party->request.kind >= REQUEST_CANCEL && !party->trust;
	owned = promises_owns(model, state, i);
	fall(&lease->own);
	fall(&lease->bound);
	if (!lease->bound && holds(model, RULE_OVER) && holds(model, RULE_BOUND))
		lease->own = 0;
	if (model->has_timer && owned && !promises_owns(model, state, i))
		rise(&state->ends, 3);
	named_now(model, state, i);
}

void time_passes(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (!model->quiet && state->spent.ticks >= model->limits.ticks)
		return;
	after = steps_add(steps, state, "a tick passes")->after;
	after->spent.ticks = (uint8_t)(after->spent.ticks + !model->quiet);
	for (unsigned v = 0; v < model->voters; v++)
		rise(&after->voters[v].age, age_max(model));
	for (unsigned j = 0; j < SERVERS; j++) {
		fall(&after->servers[j].data.left);
		rise(&after->servers[j].up, model->lease);
	}
	fall(&after->saved.left);
	if (after->letter.config)
		rise(&after->letter.sent, model->k);
	for (unsigned i = 0; i < PARTIES; i++)
		age_party(model, after, i);
}
