#include "model/failover/promises.h"

static const struct {
	const char *name, *words;
} texts[PROMISE_COUNT] = {
    [PROMISE_KEPT] = {"none", "no promise is broken"},
    [PROMISE_ONE] = {"ONE", "two processes may start timers of the shard"},
    [PROMISE_I3] = {"I3", "a timer starts after its cancel was confirmed"},
    [PROMISE_I4] = {"I4", "a timer starts after the put that replaces it was confirmed"},
    [PROMISE_I5] = {"I5", "a timer starts once more than there were faults"},
    [PROMISE_FALSE] = {"FALSE", "a call is confirmed by a server that is no longer in effect"},
    [PROMISE_OWNED] = {"OWNED", "nobody owns the shard, and nothing happens any more"},
};

const char *promise_name(unsigned promise)
{
	return texts[promise].name;
}

const char *promise_words(unsigned promise)
{
	return texts[promise].words;
}

bool promises_owns(const struct model *model, const struct state *state, unsigned i)
{
	const struct lease *lease = &state->parties[i].lease;

	return lease->fence && lease->own && (lease->bound || !holds(model, RULE_BOUND));
}

enum promise promises_one(const struct model *model, const struct state *state)
{
	return promises_owns(model, state, 0) && promises_owns(model, state, 1) ? PROMISE_ONE
										: PROMISE_KEPT;
}

enum promise promises_start(struct state *state, uint8_t generation)
{
	struct history *history = &state->history[generation];
	unsigned faults = 0u + state->ends + state->spent.resets + state->spent.kills;

	if (history->over)
		return history->over == 1 ? PROMISE_I3 : PROMISE_I4;
	history->starts++;
	return history->starts > 1 + faults ? PROMISE_I5 : PROMISE_KEPT;
}

void promises_changed(struct state *state, uint8_t generation, uint8_t server)
{
	state->history[generation].has = (uint8_t)(1u << server);
}

/* config_of: 1 + the last decision for the server, or 0. */
static uint8_t config_of(const struct state *state, uint8_t server)
{
	uint8_t config = state->configs;

	while (config > 0 && state->serves[config] != server)
		config--;
	return config;
}

/* is_again: a server is the master for the second time. Then its decisions cannot be told apart. */
static bool is_again(const struct state *state)
{
	for (unsigned i = 0; i < state->configs; i++)
		for (unsigned k = i + 1; k <= state->configs; k++)
			if (state->serves[i] == state->serves[k])
				return true;
	return false;
}

enum promise promises_effect(struct state *state, uint8_t server)
{
	uint8_t config = config_of(state, server);

	if (config < state->effect && !is_again(state))
		return PROMISE_FALSE;
	if (config != state->effect)
		for (unsigned i = 1; i < GENERATIONS; i++)
			if (!((unsigned)state->history[i].has >> server & 1u))
				state->history[i].over = 0;
	state->effect = config;
	return PROMISE_KEPT;
}

void promises_copy(struct state *state, uint8_t server, uint8_t source)
{
	for (unsigned i = 1; i < GENERATIONS; i++) {
		uint8_t *has = &state->history[i].has;
		unsigned bit = (unsigned)*has >> source & 1u;

		*has = (uint8_t)((*has & ~(1u << server)) | bit << server);
	}
}

void promises_reset(struct state *state, uint8_t server)
{
	for (unsigned i = 1; i < GENERATIONS; i++) {
		state->history[i].has &= (uint8_t) ~(1u << server);
		state->history[i].over = 0;
	}
}

bool promises_rest(const struct model *model, const struct state *state)
{
	uint8_t server = state->serves[state->configs];

	for (unsigned i = 0; i < OWNERS; i++)
		if (promises_owns(model, state, i) && state->parties[i].lease.server == server &&
		    state->parties[i].at == server)
			return !state->servers[server].data.record.kind;
	return false;
}

unsigned promises_end(const struct state *state)
{
	static const struct model all = {.rules = RULES_ALL};

	return promises_rest(&all, state) ? PROMISE_KEPT : PROMISE_OWNED;
}
