/* party: what happens to a process, and how it keeps the lease of the shard. */
#include "model/owners/steps.h"

struct token token_of(const struct state *state, unsigned i, uint8_t fence)
{
	const struct party *party = &state->parties[i];

	return (struct token){fence, (uint8_t)(i + 1), party->life, party->connection, party->held};
}

void send_request(struct party *party, struct request request)
{
	party->request = request;
	party->stage = STAGE_SENT;
}

void forget(struct party *party)
{
	party->timer = (struct timer){.kind = TIMER_NONE};
	party->role = ROLE_NONE;
	party->fence = party->era = party->lease = party->proof = party->restores = 0;
	party->writes = party->dead = party->seen = party->mark = party->gives = 0;
}

/* ---- Faults -------------------------------------------------------------------------------- */

void party_restart(const struct model *model, const struct state *state, unsigned i,
		   struct steps *steps)
{
	struct party *party = NULL;

	(void)model;
	if (state->parties[i].up)
		return;
	party = &step_of(i, state, "is started again", steps)->after->parties[i];
	party->up = 1;
	party->life++;
}

/* give_up_request: the party does not wait for a reply any more. */
static void give_up_request(struct party *party)
{
	party->linked = 0;
	party->stage = STAGE_IDLE;
	party->request = (struct request){.kind = REQUEST_NONE};
	party->reply = party->reply_number = party->reply_version = 0;
	party->reply_seen = (struct sight){.fence = 0};
}

static void die(struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];

	forget(party);
	give_up_request(party);
	party->up = party->connection = party->ask = party->held = party->told = party->asks =
	    party->run = 0;
	party->before = party->refused = 0;
	if (state->server.keeper != i + 1)
		return;
	state->server.keeper = 0;
	if (state->server.stale)
		promises_void(state);
}

/* end_connection: the request is lost, or lies in the old socket. */
static void end_connection(const struct state *state, unsigned i, const char *const text[2],
			   bool is_killed, struct steps *steps)
{
	bool may_be_late = state->parties[i].stage == STAGE_SENT && !state->parties[i].late.kind;

	for (unsigned late = 0; late < (may_be_late ? 2 : 1); late++) {
		struct state *after = step_of(i, state, text[late], steps)->after;
		struct party *party = &after->parties[i];

		after->spent.faults++;
		if (late)
			party->late = party->request;
		give_up_request(party);
		if (is_killed)
			die(after, i);
	}
}

void party_kill(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	static const char *const text[] = {"is killed", "is killed; its request is on its way"};

	if (may_fail(model, state) && state->parties[i].up)
		end_connection(state, i, text, true, steps);
}

void party_cut(const struct model *model, const struct state *state, unsigned i,
	       struct steps *steps)
{
	static const char *const text[] = {"loses its connection",
					   "loses its connection; its request is on its way"};

	if (may_fail(model, state) && state->server.up && state->parties[i].linked)
		end_connection(state, i, text, false, steps);
}

/* ---- Time ---------------------------------------------------------------------------------- */

/* The party does nothing for a lease, or hears nothing. That is a fault if it is the last owner, or
 * waits for a reply. */
void party_lease_over(const struct model *model, const struct state *state, unsigned i,
		      struct steps *steps)
{
	const struct party *before = &state->parties[i];
	bool is_asked = before->stage != STAGE_IDLE && before->request.is_timely;
	bool is_fault = is_asked || (state->server.stale && state->server.keeper == i + 1) ||
			(before->role && is_of(state, state->server.data.lease, i));
	struct state *after = NULL;
	struct party *party = NULL;

	if (!before->up || !state->server.up || (model->quiet && is_fault) ||
	    !(before->lease || before->proof || before->asks || is_asked) ||
	    (is_fault && !may_fail(model, state)))
		return;
	after = step_of(i, state, "does nothing until its lease is over", steps)->after;
	party = &after->parties[i];
	after->spent.faults = (uint8_t)(after->spent.faults + is_fault);
	party->lease = party->proof = party->asks = party->request.is_timely = 0;
	if (after->server.stale && after->server.keeper == i + 1)
		promises_void(after);
}

void party_away(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	const struct party *before = &state->parties[i];
	struct party *party = NULL;

	if (!before->up || state->server.up || model->quiet ||
	    (before->refused && !before->lease && !before->asks))
		return;
	party =
	    &step_of(i, state, "is refused by the server for a lease", steps)->after->parties[i];
	party->refused = 1;
	party->lease = 0;
	if (!holds(model, RULE_AWAY))
		party->proof = 0;
	if (!party->proof)
		party->asks = 0;
}

/* ---- Whose lease is it? -------------------------------------------------------------------- */

/* is_own: the token is of a lease that this party has asked for since the last answer. Only who has
 * no proof asks this. */
static bool is_own(const struct model *model, const struct state *state, unsigned i,
		   struct token token)
{
	const struct party *party = &state->parties[i];

	if (!is_of(state, token, i))
		return false;
	if (!holds(model, RULE_NONCE) || (party->fence && token.fence == party->fence))
		return true;
	if (holds(model, RULE_NONCE_LAST) ? token.ask < party->from : token.fence <= party->told)
		return false;
	return party->asks || !holds(model, RULE_NONCE_END);
}

static void ask(struct state *state, unsigned i, struct sight seen)
{
	struct party *party = &state->parties[i];

	party->ask++;
	if (!party->asks)
		party->from = party->ask;
	party->asks = (uint8_t)(state->server.run + 1);
	send_request(party, (struct request){.kind = REQUEST_ACQUIRE,
					     .token = {.party = (uint8_t)(i + 1),
						       .life = party->life,
						       .connection = party->connection,
						       .ask = party->ask},
					     .seen = seen,
					     .floor = party->told,
					     .is_timely = 1});
}

/* drop: the shard is lost. */
static void drop(struct step *step, unsigned i)
{
	step->broken = promises_drop(step->after, i);
	if (step->after->server.keeper == i + 1)
		step->after->server.keeper = step->after->server.stale = 0;
	forget(&step->after->parties[i]);
}

/* given: nobody can tell whether the shard is the other peer's by now. */
static void given(struct step *step, unsigned i)
{
	struct state *after = step->after;

	if (after->server.keeper == i + 1) {
		if (after->server.stale)
			promises_void(after);
		after->server.keeper = 0;
	}
	forget(&after->parties[i]);
}

static void take_back(const struct model *model, struct step *step, unsigned i, struct sight seen)
{
	struct party *party = &step->after->parties[i];

	party->restores = holds(model, RULE_STOP) ? 1 : party->restores;
	party->writes = 1;
	ask(step->after, i, seen);
}

/* judge: a renewal or an acquisition of an owner was refused. As long as it has a proof, a token
 * with its nonce is from an acquisition of its own that came late. */
static void judge(const struct model *model, struct step *step, unsigned i, struct sight seen)
{
	const struct party *party = &step->after->parties[i];
	bool own = is_of(step->after, seen.lease, i);
	bool is_other = seen.fence != party->fence || (seen.lease.fence && !own);
	uint8_t fence = seen.lease.fence > seen.fence ? seen.lease.fence : seen.fence;
	bool is_higher = fence > party->fence && seen.era == party->era;

	if (party->role != ROLE_OWNER)
		drop(step, i);
	else if (own && party->proof)
		take_back(model, step, i, seen);
	else if (is_higher || (is_other && !holds(model, RULE_LOWER)))
		drop(step, i);
	else if (party->proof || !holds(model, RULE_PROOF))
		take_back(model, step, i, seen);
	else
		drop(step, i);
}

void party_greet(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct party *before = &state->parties[i];
	struct step *step = NULL;
	struct party *party = NULL;

	if (!before->up || before->linked || !state->server.up)
		return;
	step = step_of(i, state, "connects", steps);
	party = &step->after->parties[i];
	party->linked = 1;
	if (!party->role)
		return;
	party->connection++;
	if (party->gives && !holds(model, RULE_FATE)) {
		party->gives = 0;
		party->lease = party->proof;
		step->broken = party->lease ? promises_owns(step->after, i) : PROMISE_KEPT;
	}
	if (party->gives && (!party->proof || party->run != state->server.run)) {
		step->text = "connects; nobody can tell whether it has given the shard";
		given(step, i);
		return;
	}
	if (!party->proof && party->run != state->server.run && holds(model, RULE_RENEW)) {
		step->text = "connects; its lease is over, and the server has started since";
		drop(step, i);
		return;
	}
	step->text = "connects, and renews";
	send_request(party, (struct request){.kind = REQUEST_RENEW,
					     .token = token_of(step->after, i, party->fence),
					     .era = party->era,
					     .is_timely = 1});
}

static bool is_holder(const struct state *state, unsigned i)
{
	return same_token(state->server.data.lease, token_of(state, i, state->parties[i].fence));
}

/* has_all: the server has what the holder knows of the shard, or will get it. */
static bool has_all(const struct state *state, unsigned i)
{
	const struct party *party = &state->parties[i];

	return is_holder(state, i) &&
	       (party->writes == 2 || (party->mark == state->server.data.mark &&
				       party->seen <= state->server.data.version));
}

void party_renew(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct party *before = &state->parties[i];

	(void)model;
	if (!is_idle(state, i) || !before->role || (before->lease && has_all(state, i)))
		return;
	send_request(&step_of(i, state, "renews", steps)->after->parties[i],
		     (struct request){.kind = REQUEST_RENEW,
				      .token = token_of(state, i, before->fence),
				      .era = before->era,
				      .is_timely = 1});
}

/* own: the lease is confirmed. */
static void own(struct step *step, unsigned i)
{
	struct party *party = &step->after->parties[i];

	party->lease = party->proof = 1;
	party->run = step->after->server.run;
	party->refused = 0;
	step->broken = promises_owns(step->after, i);
}

void answer_renew(const struct model *model, struct step *step, unsigned i)
{
	struct party *party = &step->after->parties[i];
	struct sight seen = party->reply_seen;
	bool is_old = holds(model, RULE_MARK) &&
		      (party->reply_number < party->mark || party->reply_version < party->seen);

	if (party->reply != REPLY_OK && party->gives) {
		given(step, i);
		return;
	}
	party->gives = 0;
	if (party->reply != REPLY_OK) {
		judge(model, step, i, seen);
		return;
	}
	if (party->request.is_timely || !holds(model, RULE_TIMELY))
		own(step, i);
	if (is_old || party->writes == 1) {
		judge(model, step, i, seen);
		return;
	}
	party->mark = party->reply_number;
}

void answer_acquire(const struct model *model, struct step *step, unsigned i)
{
	struct party *party = &step->after->parties[i];
	bool is_timely = party->request.is_timely || !holds(model, RULE_TIMELY);

	if (party->reply != REPLY_OK) {
		if (party->role)
			judge(model, step, i, party->reply_seen);
		else
			party->asks = 0;
		return;
	}
	party->asks = 0;
	party->told = party->reply_seen.fence;
	if (!is_timely) {
		drop(step, i);
		return;
	}
	party->fence = party->reply_seen.fence;
	party->held = party->request.token.ask;
	party->era = party->reply_seen.era;
	party->mark = 0;
	if (!party->role) {
		party->role = ROLE_LOADING;
	} else {
		party->writes = 2;
		party->restores = holds(model, RULE_WRITTEN);
	}
	own(step, i);
}

/* waits: the party has no proof, and the server may have forgotten an acquisition. If an owner was
 * there since the server has started, it has not. */
static bool waits(const struct model *model, const struct state *state, unsigned i)
{
	const struct party *party = &state->parties[i];
	uint8_t longest = length_of(model, i);

	if (!holds(model, RULE_WAIT) || state->server.data.run == state->server.run ||
	    (party->refused && !holds(model, RULE_AWAY_OWN)))
		return false;
	if (holds(model, RULE_LONGEST) && state->server.data.longest > longest)
		longest = state->server.data.longest;
	return state->server.young > 2 - longest;
}

void party_take(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	const struct party *before = &state->parties[i];
	const struct data *data = &state->server.data;
	struct token lease = data->lease;
	const struct party *holder = lease.fence ? &state->parties[lease.party - 1] : NULL;
	bool is_dead = holder && (!holder->up || holder->life != lease.life);
	bool is_waiting = waits(model, state, i);
	const char *text = NULL;

	if (!state->server.up || !is_idle(state, i) || before->role)
		return;
	if (!holder && !is_waiting)
		text = "asks for the shard, which is free";
	else if (is_dead && (!is_waiting || !holds(model, RULE_WAIT_DEAD)))
		text = "asks for the shard, whose holder is dead";
	else if (holder && is_own(model, state, i, lease))
		text = "asks for the shard, which has its own lease";
	if (text)
		ask(step_of(i, state, text, steps)->after, i,
		    (struct sight){lease, data->fence, data->era});
}

void party_release(const struct model *model, const struct state *state, unsigned i,
		   struct steps *steps)
{
	struct step *step = NULL;
	struct party *party = NULL;
	struct request request = {.kind = REQUEST_RELEASE};
	uint8_t fence = state->parties[i].fence;

	if (model->quiet || !is_at_work(state, i) || state->parties[i].timer.kind > TIMER_PENDING ||
	    state->spent.releases >= model->limits.releases)
		return;
	step = step_of(i, state, "releases the shard", steps);
	party = &step->after->parties[i];
	step->after->spent.releases++;
	if (state->server.stale && state->server.keeper == i + 1)
		promises_void(step->after);
	request.token = token_of(state, i, fence);
	forget(party);
	party->asks = 0;
	if (!holds(model, RULE_RELEASE))
		party->fence = fence;
	send_request(party, request);
}

void party_give(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	const struct party *before = &state->parties[i];
	struct party *party = NULL;
	struct state *after = NULL;

	if (model->quiet || !is_at_work(state, i) || state->spent.gives >= model->limits.gives ||
	    (holds(model, RULE_QUIET) && before->timer.kind > TIMER_PENDING))
		return;
	after = step_of(i, state, "releases the shard for the other peer", steps)->after;
	party = &after->parties[i];
	after->spent.gives++;
	party->gives = 1;
	party->lease = !holds(model, RULE_GIVE);
	send_request(party, (struct request){.kind = REQUEST_GIVE,
					     .token = token_of(state, i, before->fence),
					     .era = before->era,
					     .version = before->seen,
					     .number = before->mark});
}

/* answer_give: what is refused is a loss, unless a higher fence shows a successor. */
void answer_give(const struct model *model, struct step *step, unsigned i)
{
	struct party *party = &step->after->parties[i];

	if (party->reply == REPLY_OK || !holds(model, RULE_KEEP)) {
		drop(step, i);
		return;
	}
	party->gives = 0;
	judge(model, step, i, party->reply_seen);
}

void party_load(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	struct state *after = NULL;

	(void)model;
	if (!is_idle(state, i) || state->parties[i].role != ROLE_LOADING || !is_holder(state, i))
		return;
	after = step_of(i, state, "loads the shard", steps)->after;
	after->parties[i].role = ROLE_OWNER;
	learn(after, i);
}

void party_write(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct party *before = &state->parties[i];
	const struct timer *timer = &before->timer;
	struct request request = {.kind = REQUEST_WRITE};

	(void)model;
	if (!is_idle(state, i) || !before->role || before->writes < 2 || !before->lease)
		return;
	request.token = token_of(state, i, before->fence);
	request.generation = timer->generation;
	request.version = timer->kind ? timer->version : before->dead;
	request.attempt = timer->attempt;
	request.seen.fence = timer->kind > TIMER_PENDING; /* claimed */
	request.number = before->mark;
	send_request(&step_of(i, state, "writes again what it knows", steps)->after->parties[i],
		     request);
}
