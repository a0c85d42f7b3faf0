/* share: the members with room get as many shards each, the older ones one more. */
#include "model/peers/share.h"

unsigned share_count(uint8_t set)
{
	unsigned count = 0;

	for (unsigned i = 0; i < SHARDS; i++)
		count += (unsigned)set >> i & 1u;
	return count;
}

/* The members that have a share, in their order. */
struct sharing {
	unsigned members[MEMBERS], shares[MEMBERS], count;
};

static bool is_settled(const struct model *model, const struct state *state, unsigned i)
{
	return !holds(model, RULE_YOUNG) || state->server.list[i].held || !state->members[i].young;
}

static bool has_settled(const struct model *model, const struct state *state)
{
	for (unsigned i = 0; i < MEMBERS; i++)
		if (state->server.list[i].in && is_settled(model, state, i))
			return true;
	return false;
}

/* comes_before: without the rule each member comes last in its own order. */
static bool comes_before(const struct model *model, const struct state *state, unsigned self,
			 const unsigned pair[2])
{
	if (!holds(model, RULE_ORDER) && (pair[0] == self || pair[1] == self))
		return pair[1] == self;
	return state->server.list[pair[0]].since < state->server.list[pair[1]].since;
}

static void insert(const struct model *model, const struct state *state, unsigned self,
		   struct sharing *sharing, unsigned member)
{
	unsigned at = sharing->count++;

	for (; at > 0; at--) {
		unsigned pair[2] = {member, sharing->members[at - 1]};

		if (!comes_before(model, state, self, pair))
			break;
		sharing->members[at] = sharing->members[at - 1];
	}
	sharing->members[at] = member;
}

static unsigned room_of(const struct state *state, const struct sharing *sharing, unsigned at)
{
	unsigned room = state->server.list[sharing->members[at]].room;

	return room > sharing->shares[at] ? room - sharing->shares[at] : 0;
}

/* divide: one round. Returns how many shards are left. */
static unsigned divide(const struct state *state, struct sharing *sharing, unsigned shards)
{
	unsigned open = 0, each = 0, more = 0;

	for (unsigned k = 0; k < sharing->count; k++)
		open += room_of(state, sharing, k) > 0;
	if (!open)
		return 0;
	each = shards / open;
	more = shards % open;
	for (unsigned k = 0; k < sharing->count; k++) {
		unsigned room = room_of(state, sharing, k);
		unsigned given = each + (more > 0);

		if (!room)
			continue;
		more -= more > 0;
		given = given < room ? given : room;
		sharing->shares[k] += given;
		shards -= given;
	}
	return shards;
}

static uint8_t free_shards(const struct state *state)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < MEMBERS; i++)
		if (state->server.list[i].in)
			taken |= state->server.list[i].held;
	return (uint8_t)(~taken & ((1u << state->server.shards) - 1u));
}

/* part_of: of the free shards those from `first` on. */
static uint8_t part_of(uint8_t set, unsigned first, unsigned count)
{
	uint8_t part = 0;
	unsigned place = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		if (!((unsigned)set >> i & 1u))
			continue;
		if (place >= first && place < first + count)
			part |= (uint8_t)(1u << i);
		place++;
	}
	return part;
}

void share_read(const struct model *model, struct state *state, unsigned self)
{
	struct member *member = &state->members[self];
	struct sharing sharing = {.count = 0};
	bool only_settled = has_settled(model, state);
	unsigned left = state->server.shards, first = 0;

	for (unsigned i = 0; i < MEMBERS; i++)
		if (state->server.list[i].in && (!only_settled || is_settled(model, state, i)))
			insert(model, state, self, &sharing, i);
	while (left > 0)
		left = divide(state, &sharing, left);
	member->share = member->part = 0;
	for (unsigned k = 0; k < sharing.count; k++) {
		unsigned held = share_count(state->server.list[sharing.members[k]].held);
		unsigned missing = sharing.shares[k] > held ? sharing.shares[k] - held : 0;

		if (sharing.members[k] == self) {
			member->share = (uint8_t)sharing.shares[k];
			member->part = part_of(free_shards(state), first, missing);
			return;
		}
		first += missing;
	}
}
