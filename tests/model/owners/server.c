/* server: what it does by itself: it stops, returns, saves its data, and ends a lease. */
#include "model/owners/steps.h"

#include <string.h>

static void lose_requests(struct state *state)
{
	for (unsigned i = 0; i < PARTIES; i++) {
		struct party *party = &state->parties[i];

		party->linked = 0;
		party->stage = STAGE_IDLE;
		party->request = party->late = (struct request){.kind = REQUEST_NONE};
		party->reply = party->reply_number = party->reply_version = 0;
		party->reply_seen = (struct sight){.fence = 0};
	}
}

/* keeper_of: 1 + the party that knows the shard, or 0. Who gives it has the shard until its release
 * is run. */
static uint8_t keeper_of(const struct state *state)
{
	uint8_t keeper = state->server.keeper;

	for (uint8_t i = 0; !keeper && i < PARTIES; i++) {
		const struct party *party = &state->parties[i];
		bool gives = party->gives && party->proof && party->stage == STAGE_SENT;

		if (party->up && (party->lease || gives))
			keeper = (uint8_t)(i + 1);
	}
	return keeper;
}

void server_stop(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (!may_fail(model, state) || !state->server.up)
		return;
	after = steps_add(steps, state, "the server stops")->after;
	after->spent.faults++;
	after->server.up = after->server.young = 0;
	lose_requests(after);
	after->server.keeper = keeper_of(after);
}

/* come_back: with these data, and a clock that is right or behind. */
static void come_back(const struct model *model, const struct state *state, const struct data *data,
		      const char *const text[2], struct steps *steps)
{
	bool is_changed = memcmp(data, &state->server.data, sizeof *data) != 0;

	for (uint8_t behind = 0; behind < (model->is_behind && is_changed ? 2 : 1); behind++) {
		struct state *after = steps_add(steps, state, text[behind])->after;
		struct server *server = &after->server;

		server->up = 1;
		server->run++;
		server->young = 2;
		server->is_behind = behind;
		server->data = *data;
		if (is_changed) {
			server->is_old = data->lease.fence != 0;
			promises_set_back(after, &state->server.data);
		} else if (!server->stale) {
			server->keeper = 0;
		}
	}
}

void server_return(const struct model *model, const struct state *state, struct steps *steps)
{
	static const char *const same[] = {"the server returns", ""};
	static const char *const old[] = {
	    "the server returns with the data that it saved",
	    "the server returns with the data that it saved, its clock is behind"};
	static const char *const empty[] = {"the server returns without data",
					    "the server returns without data, its clock is behind"};
	static const struct data none;
	const struct server *server = &state->server;

	if (server->up)
		return;
	come_back(model, state, &server->data, same, steps);
	if (!model->quiet && memcmp(&server->saved, &server->data, sizeof server->saved) != 0)
		come_back(model, state, &server->saved, old, steps);
	if (!model->quiet && model->empties)
		come_back(model, state, &none, empty, steps);
}

static bool is_of_lease(const struct request *request)
{
	return request->kind == REQUEST_ACQUIRE || request->kind == REQUEST_RENEW;
}

/* is_asked: somebody asks for the lease, or has not heard yet that it has it. */
static bool is_asked(const struct state *state)
{
	for (unsigned i = 0; i < PARTIES; i++)
		if (is_of_lease(&state->parties[i].request) || is_of_lease(&state->parties[i].late))
			return true;
	return false;
}

/* shows: the owner's number tells that the data is another one. */
static bool shows(const struct data *data, const struct data *before)
{
	return data->lease.fence != before->lease.fence || data->mark < before->mark;
}

/* server_lose: its data is lost or set back while it runs. Connections stay. As after a start, the
 * shard may be acquired without a proof only when it has been up for a lease. Left out are a lease
 * that is asked for, and data that the owner's number does not tell from the last. */
void server_lose(const struct model *model, const struct state *state, struct steps *steps)
{
	static const struct data none;
	const struct data *const all[] = {&none, &state->server.saved};
	static const char *const text[] = {"the server loses its data",
					   "the server's data is set back"};

	if (!may_fail(model, state) || !state->server.up ||
	    state->spent.losses >= model->limits.losses || is_asked(state))
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct state *after = NULL;

		if (!shows(all[i], &state->server.data))
			continue;
		after = steps_add(steps, state, text[i])->after;
		after->spent.faults++;
		after->spent.losses++;
		after->server.keeper = keeper_of(state);
		after->server.run++;
		after->server.young = 2;
		after->server.data = *all[i];
		after->server.is_old = all[i]->lease.fence != 0;
		promises_set_back(after, &state->server.data);
	}
}

void server_save(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || !state->server.up || state->spent.saves >= model->limits.saves ||
	    memcmp(&state->server.saved, &state->server.data, sizeof state->server.saved) == 0)
		return;
	after = steps_add(steps, state, "the server saves its data")->after;
	after->spent.saves++;
	after->server.saved = after->server.data;
}

/* may_hold: the party counts on a lease from before the server started. */
static bool may_hold(const struct state *state, unsigned party)
{
	const struct party *self = &state->parties[party];

	return ((self->lease || self->proof) && self->run != state->server.run) ||
	       (self->asks && self->asks != state->server.run + 1);
}

void server_young(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct server *server = &state->server;
	uint8_t passed = (uint8_t)(3 - server->young); /* the length of the leases that end */
	struct state *after = NULL;

	if (!server->up || !server->young)
		return;
	for (unsigned i = 0; i < PARTIES; i++)
		if (may_hold(state, i) && length_of(model, i) <= passed)
			return;
	after = steps_add(steps, state,
			  passed == 1 ? "the server has been up for a lease"
				      : "the server has been up for a long lease")
		    ->after;
	after->server.young--;
	if (!model->is_long && model->permits < 2)
		after->server.young = 0;
}

void server_jump(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	if (model->quiet || !state->server.up || state->spent.jumps >= model->limits.jumps)
		return;
	after = steps_add(steps, state, "the server's clock jumps ahead by a lease")->after;
	after->spent.jumps++;
	after->spent.faults++;
	after->server.young = 0;
	after->server.is_old = after->server.data.lease.fence != 0;
}

/* believes: the party counts on the lease that the server has, or may yet. */
static bool believes(const struct state *state, unsigned party)
{
	const struct party *self = &state->parties[party];

	return self->up && (self->lease || (self->gives && self->proof) || self->asks ||
			    (self->stage != STAGE_IDLE && self->request.is_timely));
}

/* A lease ends at the server no earlier than what its holder makes of it, and what was given before
 * it. Only one that came back with old data may end at any time. */
void lease_end(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct server *server = &state->server;
	struct state *after = NULL;

	if (!server->up || !server->data.lease.fence)
		return;
	for (unsigned i = 0; !server->is_old && i < PARTIES; i++) {
		bool is_holder = server->data.lease.party == i + 1;

		if (is_holder && is_of(state, server->data.lease, i) && believes(state, i))
			return;
		if (!is_holder && believes(state, i) && state->parties[i].before &&
		    length_of(model, i) <= length_of(model, server->data.lease.party - 1u))
			return;
	}
	after = steps_add(steps, state, "the lease ends in Redis")->after;
	after->server.data.lease = (struct token){.fence = 0};
	after->server.is_old = 0;
}
