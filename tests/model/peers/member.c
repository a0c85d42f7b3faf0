/* member: it says what it has, takes what is its part, and gives what is too much. */
#include "model/peers/share.h"
#include "model/peers/steps.h"

void take_lease(struct step *step, unsigned i, unsigned shard)
{
	struct state *state = step->after;

	state->server.lease[shard] = state->server.last[shard] = (uint8_t)(i + 1);
	state->members[i].held |= (uint8_t)(1u << shard);
	step->broken = promises_has(state, i, shard);
}

static void drop(struct member *member, unsigned shard)
{
	member->held &= (uint8_t) ~(1u << shard);
}

void member_grow(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	(void)model;
	if (is_at_work(state, i) && state->members[i].young)
		step_of(i, state, "has run for 3 s", steps)->after->members[i].young = 0;
}

void member_beat(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct member *before = &state->members[i];
	struct step *step = NULL;
	struct state *after = NULL;
	struct member *member = NULL;

	if (!is_at_work(state, i))
		return;
	step = step_of(i, state, "says what it has, and reads the list", steps);
	after = step->after;
	member = &after->members[i];
	if (before->listed && !state->server.list[i].in && state->server.emptied &&
	    holds(model, RULE_FORGOTTEN))
		member->waits = 1;
	member->listed = 1;
	after->server.list[i] = (struct entry){
	    .in = 1, .held = member->held, .since = member->since, .room = member->room};
	share_read(model, after, i);
	step->broken = promises_reads(after, i);
}

/* member_renew: what it had when its leases were over, is its own if nobody had it since. */
void member_renew(const struct model *model, const struct state *state, unsigned i,
		  struct steps *steps)
{
	struct step *step = NULL;

	if (!is_at_work(state, i) || !state->members[i].over)
		return;
	step = step_of(i, state, "renews its leases", steps);
	step->after->members[i].over = 0;
	for (unsigned shard = 0; shard < SHARDS && !step->broken; shard++) {
		uint8_t lease = state->server.lease[shard];

		if (!has(state, i, shard))
			continue;
		if (lease == i + 1 || (!lease && state->server.last[shard] == i + 1) ||
		    !holds(model, RULE_WAKE))
			take_lease(step, i, shard);
		else
			drop(&step->after->members[i], shard);
	}
}

/* member_restore: a shard that the server has forgotten is acquired again, and written. */
void member_restore(const struct model *model, const struct state *state, unsigned i,
		    struct steps *steps)
{
	(void)model;
	if (!is_at_work(state, i) || state->members[i].over)
		return;
	for (unsigned shard = 0; shard < SHARDS; shard++) {
		uint8_t lease = state->server.lease[shard];

		if (!has(state, i, shard) || lease == i + 1)
			continue;
		if (lease)
			drop(&step_of(i, state, "loses a shard", steps)->after->members[i], shard);
		else
			take_lease(step_of(i, state, "restores a shard", steps), i, shard);
	}
}

/* refused: it has room for what it has. */
static void refused(const struct model *model, struct member *member)
{
	member->part = 0;
	if (holds(model, RULE_ROOM))
		member->room = (uint8_t)share_count(member->held);
}

static void take(const struct model *model, const struct state *state, unsigned i, unsigned shard,
		 struct steps *steps)
{
	struct step *step = step_of(i, state, "asks for a shard: it has it", steps);
	struct member *member = &step->after->members[i];

	member->part &= (uint8_t) ~(1u << shard);
	if (member->refused) {
		step->text = "asks for a shard, and is refused";
		refused(model, member);
	} else if (state->server.lease[shard] && holds(model, RULE_LEASE)) {
		step->text = "asks for a shard: HELD";
	} else {
		take_lease(step, i, shard);
	}
}

static bool may_take(const struct state *state, unsigned i)
{
	const struct member *member = &state->members[i];

	return is_at_work(state, i) && !member->over && !member->waits;
}

void member_take(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	if (!may_take(state, i))
		return;
	for (unsigned shard = 0; shard < SHARDS; shard++)
		if (state->members[i].part >> shard & 1u)
			take(model, state, i, shard, steps);
}

/* is_left: for long nobody has had the shard, so nobody takes it as its part. */
static bool is_left(const struct state *state, unsigned shard)
{
	if (state->server.lease[shard])
		return false;
	for (unsigned i = 0; i < MEMBERS; i++) {
		const struct member *member = &state->members[i];

		if (state->server.list[i].in && state->server.list[i].held >> shard & 1u)
			return false;
		if (member->up && !member->refused &&
		    (member->part >> shard & 1u || !member->listed))
			return false;
	}
	return true;
}

void member_take_left(const struct model *model, const struct state *state, unsigned i,
		      struct steps *steps)
{
	(void)model;
	if (!may_take(state, i) || !state->members[i].listed || state->members[i].refused ||
	    state->server.emptied)
		return;
	for (unsigned shard = 0; shard < state->server.shards; shard++) {
		struct step *step = NULL;

		if (has(state, i, shard) || !is_left(state, shard))
			continue;
		step = step_of(i, state, "takes a shard that is free for long", steps);
		step->after->members[i].share = state->server.shards; /* until it reads the list */
		take_lease(step, i, shard);
	}
}

void member_give(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct member *member = &state->members[i];

	(void)model;
	if (!is_at_work(state, i) || member->over || !member->listed ||
	    share_count(member->held) <= member->share)
		return;
	for (unsigned shard = 0; shard < SHARDS; shard++) {
		struct step *step = NULL;

		if (!has(state, i, shard) || state->server.lease[shard] != i + 1)
			continue;
		step = step_of(i, state, "gives a shard", steps);
		drop(&step->after->members[i], shard);
		step->after->server.lease[shard] = step->after->server.last[shard] = 0;
	}
}
