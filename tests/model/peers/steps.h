/* steps: the moves. Those of a member are asked for each member. */
#ifndef MODEL_PEERS_STEPS_H
#define MODEL_PEERS_STEPS_H

#include "model/peers/model.h"
#include "model/peers/promises.h"
#include "model/search/steps.h"

typedef void move_fn(const struct model *, const struct state *, struct steps *);
typedef void member_move_fn(const struct model *, const struct state *, unsigned member,
			    struct steps *);

/* step_of: a step of the member. */
static inline struct step *step_of(unsigned member, const struct state *before, const char *text,
				   struct steps *steps)
{
	static const char *const names[MEMBERS] = {"A", "B", "C"};
	struct step *step = steps_add(steps, before, text);

	step->who = names[member];
	return step;
}

static inline bool is_at_work(const struct state *state, unsigned i)
{
	return state->members[i].up && !state->members[i].paused;
}

static inline bool has(const struct state *state, unsigned member, unsigned shard)
{
	return state->members[member].held >> shard & 1u;
}

/* take_lease: the member has the shard from now on. */
void take_lease(struct step *, unsigned member, unsigned shard);

/* faults.c: what happens to a member, and to the server. */
member_move_fn member_join, member_leave, member_kill, member_pause, member_wake, member_refuse;
member_move_fn entry_end;
move_fn server_lose, server_whole, lease_end;

/* member.c: what a member does by itself. */
member_move_fn member_grow, member_beat, member_renew, member_restore, member_take, member_give,
    member_take_left;

extern const struct subject model_subject;

#endif
