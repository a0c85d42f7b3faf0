#include "model/peers/promises.h"

#include <stddef.h>

#include "model/peers/share.h"

static const struct {
	const char *name;
	const char *words;
} texts[PROMISE_COUNT] = {
    [PROMISE_KEPT] = {"none", "no promise is broken"},
    [PROMISE_ONE] = {"ONE", "two members may start timers of a shard"},
    [PROMISE_OWNED] = {"OWNED", "nobody has a shard, and nothing happens any more"},
    [PROMISE_BALANCE] = {"BALANCE", "a member has two shards more than another, for ever"},
    [PROMISE_CALM] = {"CALM", "a member is to give a shard for one that has just started"},
};

const char *promise_name(unsigned promise)
{
	return texts[promise].name;
}

const char *promise_words(unsigned promise)
{
	return texts[promise].words;
}

enum promise promises_has(const struct state *state, unsigned member, unsigned shard)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		const struct member *other = &state->members[i];

		if (i != member && other->up && !other->over && other->held >> shard & 1u)
			return PROMISE_ONE;
	}
	return PROMISE_KEPT;
}

/* Of the members only those count that are no longer young, or have a shard. */
enum promise promises_reads(const struct state *state, unsigned member)
{
	unsigned held = share_count(state->members[member].held);
	unsigned settled = 0;

	for (unsigned i = 0; i < MEMBERS; i++)
		settled += state->server.list[i].in &&
			   (!state->members[i].young || state->server.list[i].held);
	return state->members[member].share < held && held * settled <= state->server.shards
		   ? PROMISE_CALM
		   : PROMISE_KEPT;
}

static bool has_owner(const struct state *state, unsigned shard)
{
	uint8_t lease = state->server.lease[shard];

	return lease && state->members[lease - 1].up &&
	       state->members[lease - 1].held >> shard & 1u;
}

unsigned promises_end(const struct state *state)
{
	unsigned able = 0, least = SHARDS, most = 0;

	for (unsigned i = 0; i < MEMBERS; i++) {
		const struct member *member = &state->members[i];
		unsigned count = share_count(member->held);

		if (!member->up || member->refused)
			continue;
		able++;
		least = count < least ? count : least;
		most = count > most ? count : most;
	}
	for (unsigned i = 0; able && i < state->server.shards; i++)
		if (!has_owner(state, i))
			return PROMISE_OWNED;
	return able && most > least + 1 ? PROMISE_BALANCE : PROMISE_KEPT;
}
