/* owner: how a process gets the shard, and keeps it. */
#include "model/failover/named.h"
#include "model/failover/steps.h"

void learn(struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];
	const struct data *data = data_at(state, i);
	const struct record *record = &data->record;

	party->seen = data->version;
	if (!record->kind)
		party->dead = data->version;
	if (party->timer.kind == TIMER_RUNNING && record->version == party->timer.version)
		return;
	party->timer = (struct timer){.kind = TIMER_NONE};
	if (record->kind)
		party->timer = (struct timer){TIMER_PENDING, record->generation, record->version};
}

static bool has_token(const struct state *state, unsigned i)
{
	return data_at(state, i)->holder == i + 1 &&
	       data_at(state, i)->fence == state->parties[i].lease.fence;
}

/* waits: the server may have forgotten an acquisition. Who has a lease knows it was its own. */
static bool waits(const struct model *model, const struct state *state, unsigned i)
{
	const struct party *party = &state->parties[i];
	bool has_proof = promises_owns(model, state, i) && party->lease.server == party->at;

	return holds(model, RULE_UP) && !has_proof && state->servers[party->at].up < model->lease;
}

void owner_acquire(const struct model *model, const struct state *state, unsigned i,
		   struct steps *steps)
{
	const struct party *party = &state->parties[i];
	const struct data *data = NULL;
	struct state asked = *state;

	if (!is_idle(state, i) || !party->trust || waits(model, state, i) ||
	    (is_at_work(model, state, i) && has_token(state, i)))
		return;
	data = data_at(state, i);
	if (data->holder && data->holder != i + 1 && data->left)
		return;
	if (!model->quiet && state->spent.acquires >= model->limits.acquires)
		return;
	asked.spent.acquires++;
	request_send(model, &asked, i,
		     (struct request){.kind = REQUEST_ACQUIRE,
				      .fence = party->lease.fence,
				      .seen = data->holder,
				      .seen_fence = data->fence,
				      .left = model->lease,
				      .generation = model->lease},
		     steps);
}

/* may_renew: without the rule, the copy of the lease at another server is enough. */
static bool may_renew(const struct model *model, const struct state *state, unsigned i)
{
	const struct party *party = &state->parties[i];

	if (!is_idle(state, i) || !promises_owns(model, state, i) || !has_token(state, i))
		return false;
	return party->lease.server == party->at
		   ? party->lease.own < model->lease
		   : !holds(model, RULE_RENEW) && named_left(model, state, i, party->at);
}

void owner_renew(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	if (may_renew(model, state, i))
		request_send(model, state, i,
			     (struct request){.kind = REQUEST_RENEW,
					      .fence = state->parties[i].lease.fence,
					      .left = model->lease,
					      .generation = model->lease},
			     steps);
}

static void own(const struct model *model, struct step *step, unsigned i,
		const struct request *request)
{
	struct party *party = &step->after->parties[i];

	party->lease =
	    (struct lease){request->server, request->fence, request->left,
			   party->lease.server == request->server && request->kind == REQUEST_RENEW
			       ? party->lease.bound
			       : named_left(model, step->after, i, request->server)};
	if (promises_owns(model, step->after, i) && request->kind == REQUEST_ACQUIRE)
		step->broken = promises_effect(step->after, request->server);
}

static void acquired(const struct model *model, struct step *step, unsigned i,
		     const struct request *request)
{
	struct party *party = &step->after->parties[i];
	bool has_memory = party->lease.fence > 0;

	if (!party->trust && holds(model, RULE_BOUND))
		return;
	own(model, step, i, request);
	party->restores = has_memory;
	if (!has_memory)
		learn(step->after, i);
}

void take_owner(const struct model *model, struct step *step, unsigned i,
		const struct request *request)
{
	struct party *party = &step->after->parties[i];

	if (request->reply == REPLY_REFUSED)
		return;
	if (request->kind == REQUEST_ACQUIRE && request->reply == REPLY_OK) {
		acquired(model, step, i, request);
	} else if (request->kind == REQUEST_RENEW && request->reply == REPLY_OK) {
		if (party->lease.own || !holds(model, RULE_OVER))
			own(model, step, i, request);
	} else if (request->kind == REQUEST_CLAIM) {
		if (request->reply == REPLY_OK)
			party->timer.kind = TIMER_CLAIMED;
		else if (is_at_work(model, step->after, i) && has_token(step->after, i))
			learn(step->after, i);
	} else if (request->kind == REQUEST_SETTLE) {
		party->dead = party->timer.version;
		party->timer = (struct timer){.kind = TIMER_NONE};
	}
}

/* merge: what memory knows replaces what is older. */
static void merge(struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];
	struct data *data = &state->servers[party->at].data;
	struct timer *timer = &party->timer;

	if (data->version > party->seen) {
		learn(state, i);
		return;
	}
	if (data->record.kind && data->record.version <= party->dead)
		data->record = (struct record){.kind = RECORD_NONE};
	if (timer->kind)
		data->record = (struct record){
		    timer->kind >= TIMER_CLAIMED ? RECORD_CLAIMED : RECORD_PENDING,
		    timer->generation, timer->version, party->lease.fence, (uint8_t)(i + 1)};
	data->version = party->seen;
	if (!timer->kind)
		learn(state, i);
}

void owner_restore(const struct model *model, const struct state *state, unsigned i,
		   struct steps *steps)
{
	struct state *after = NULL;

	if (!state->parties[i].restores || !is_at_work(model, state, i) || !has_token(state, i) ||
	    !state->servers[state->parties[i].at].is_master)
		return;
	after = step_of(i, state, "restores the shard", steps)->after;
	merge(after, i);
	after->parties[i].restores = 0;
}

void owner_read(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	const struct party *party = &state->parties[i];

	if (!is_at_work(model, state, i) || !has_token(state, i) || party->restores ||
	    data_at(state, i)->version <= party->seen || party->timer.kind >= TIMER_CLAIMED)
		return;
	learn(step_of(i, state, "reads what clients have changed", steps)->after, i);
}

/* ---- The timer ----------------------------------------------------------------------------- */

static struct request request_of(const struct state *state, unsigned i, enum request_kind kind)
{
	const struct party *party = &state->parties[i];

	return (struct request){
	    .kind = (uint8_t)kind, .fence = party->lease.fence, .version = party->timer.version};
}

void timer_claim(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct party *party = &state->parties[i];

	if (is_at_work(model, state, i) && !party->restores && party->timer.kind == TIMER_PENDING)
		request_send(model, state, i, request_of(state, i, REQUEST_CLAIM), steps);
}

void timer_start(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct party *party = &state->parties[i];
	struct step *step = NULL;

	if (!promises_owns(model, state, i) || party->restores ||
	    party->timer.kind != TIMER_CLAIMED)
		return;
	step = step_of(i, state, "STARTS", steps);
	step->generation = party->timer.generation;
	step->broken = promises_start(step->after, party->timer.generation);
	step->after->parties[i].timer.kind = TIMER_RUNNING;
}

void timer_settle(const struct model *model, const struct state *state, unsigned i,
		  struct steps *steps)
{
	const struct party *party = &state->parties[i];
	bool may = is_at_work(model, state, i) && !party->restores;

	if (party->timer.kind == TIMER_RUNNING && (may || (model->settles && is_idle(state, i))))
		request_send(model, state, i, request_of(state, i, REQUEST_SETTLE), steps);
}
