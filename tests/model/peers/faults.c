/* faults: members come and go, and the server loses its data. */
#include "model/peers/steps.h"

#include <string.h>

static void forget(struct state *state, unsigned i)
{
	state->members[i] = (struct member){.up = 0};
}

static bool has_traces(const struct state *state, unsigned i)
{
	for (unsigned shard = 0; shard < SHARDS; shard++)
		if (state->server.lease[shard] == i + 1 || state->server.last[shard] == i + 1)
			return true;
	return state->server.list[i].in;
}

void member_join(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || state->members[i].up || has_traces(state, i) ||
	    state->spent.joins >= model->limits.joins)
		return;
	after = step_of(i, state, "joins", steps)->after;
	after->spent.joins++;
	after->members[i] = (struct member){
	    .up = 1, .young = 1, .since = ++after->server.joins, .room = after->server.shards};
}

/* free_all: without `last` nobody can have the shard again without an acquisition. */
static void free_all(struct state *state, unsigned i)
{
	for (unsigned shard = 0; shard < SHARDS; shard++) {
		if (state->server.lease[shard] != i + 1)
			continue;
		state->server.lease[shard] = state->server.last[shard] = 0;
	}
}

void member_leave(const struct model *model, const struct state *state, unsigned i,
		  struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || !is_at_work(state, i) || state->spent.leaves >= model->limits.leaves)
		return;
	after = step_of(i, state, "gives all shards, and leaves", steps)->after;
	after->spent.leaves++;
	free_all(after, i);
	after->server.list[i] = (struct entry){.in = 0};
	forget(after, i);
}

void member_kill(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || !state->members[i].up || state->spent.kills >= model->limits.kills)
		return;
	after = step_of(i, state, "is killed", steps)->after;
	after->spent.kills++;
	forget(after, i);
}

void member_pause(const struct model *model, const struct state *state, unsigned i,
		  struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || !is_at_work(state, i) || state->spent.pauses >= model->limits.pauses)
		return;
	after = step_of(i, state, "stands still until its leases are over", steps)->after;
	after->spent.pauses++;
	after->members[i].paused = 1;
	after->members[i].over = holds(model, RULE_OVER);
}

void member_wake(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	(void)model;
	if (state->members[i].up && state->members[i].paused)
		step_of(i, state, "goes on", steps)->after->members[i].paused = 0;
}

void member_refuse(const struct model *model, const struct state *state, unsigned i,
		   struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || !state->members[i].up || state->members[i].refused ||
	    state->spent.refusals >= model->limits.refusals)
		return;
	after = step_of(i, state, "may not acquire anything from now on", steps)->after;
	after->spent.refusals++;
	after->members[i].refused = 1;
}

void entry_end(const struct model *model, const struct state *state, unsigned i,
	       struct steps *steps)
{
	if (holds(model, RULE_ENDS) && state->server.list[i].in && !is_at_work(state, i))
		step_of(i, state, "is dropped from the list", steps)->after->server.list[i] =
		    (struct entry){.in = 0};
}

/* lease_end: a lease ends at the server no earlier than by the clock of who has it. */
void lease_end(const struct model *model, const struct state *state, struct steps *steps)
{
	(void)model;
	for (unsigned shard = 0; shard < SHARDS; shard++) {
		uint8_t lease = state->server.lease[shard];
		const struct member *holder = lease ? &state->members[lease - 1] : NULL;

		if (holder && (!holder->up || holder->paused || holder->over))
			steps_add(steps, state, "a lease ends in Redis")
			    ->after->server.lease[shard] = 0;
	}
}

void server_lose(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || state->spent.losses >= model->limits.losses)
		return;
	after = steps_add(steps, state, "the server loses its data")->after;
	after->spent.losses++;
	after->server.emptied = 1;
	memset(after->server.list, 0, sizeof after->server.list);
	memset(after->server.lease, 0, sizeof after->server.lease);
	memset(after->server.last, 0, sizeof after->server.last);
}

/* server_whole: a lease after the loss every shard of a living member is restored. */
void server_whole(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	(void)model;
	if (!state->server.emptied)
		return;
	for (unsigned i = 0; i < MEMBERS; i++)
		for (unsigned shard = 0; shard < SHARDS; shard++)
			if (state->members[i].up && !state->members[i].over &&
			    has(state, i, shard) && state->server.lease[shard] != i + 1)
				return;
	after = steps_add(steps, state, "a lease has passed since the loss")->after;
	after->server.emptied = 0;
	for (unsigned i = 0; i < MEMBERS; i++)
		after->members[i].waits = 0;
}
