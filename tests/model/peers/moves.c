/* moves: all of them, in the order in which they are asked. In a quiet world the first step that
 * leads to a new state is taken. */
#include "model/peers/steps.h"

static member_move_fn *const of_members[] = {
    member_wake,   member_renew, member_restore, entry_end,        member_grow,
    member_take,   member_beat,  member_give,    member_take_left, member_join,
    member_refuse, member_leave, member_kill,    member_pause,
};

static move_fn *const of_others[] = {lease_end, server_whole, server_lose};

/* Equal states have equal bytes only as long as no byte is padding. */
_Static_assert(sizeof(struct state) ==
		   sizeof(struct server) + MEMBERS * sizeof(struct member) + sizeof(struct spent),
	       "a state has no padding");

/* begin: A and B have the shards by halves, A one more. */
static void begin(const struct model *model, struct state *state)
{
	unsigned half = (model->shards + 1u) / 2;

	state->server.shards = model->shards;
	state->server.joins = 2;
	for (unsigned i = 0; i < 2; i++) {
		struct member *member = &state->members[i];

		*member = (struct member){.up = 1,
					  .since = (uint8_t)(i + 1),
					  .listed = 1,
					  .share = (uint8_t)(i ? model->shards - half : half),
					  .room = model->shards};
		for (unsigned shard = i ? half : 0; shard < (i ? model->shards : half); shard++) {
			member->held |= (uint8_t)(1u << shard);
			state->server.lease[shard] = state->server.last[shard] = (uint8_t)(i + 1);
		}
		state->server.list[i] =
		    (struct entry){1, member->held, member->since, member->room};
	}
}

static void move(const struct model *model, const struct state *state, struct steps *steps)
{
	steps->count = 0;
	for (unsigned i = 0; i < sizeof of_others / sizeof of_others[0]; i++)
		of_others[i](model, state, steps);
	for (unsigned i = 0; i < sizeof of_members / sizeof of_members[0]; i++)
		for (unsigned member = 0; member < MEMBERS; member++)
			of_members[i](model, state, member, steps);
}

const struct subject model_subject = {
    .size = sizeof(struct state),
    .first = begin,
    .moves = move,
    .end = promises_end,
    .name = promise_name,
    .words = promise_words,
};
