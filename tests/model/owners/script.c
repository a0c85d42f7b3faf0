/* script: what the scripts in Redis do. */
#include "model/owners/steps.h"

/* next_version: by a clock that is right, no version is given twice. */
static uint8_t next_version(struct server *server, uint8_t floor)
{
	uint8_t next = server->data.version > floor ? server->data.version : floor;

	if (!server->is_behind && next < server->versions)
		next = server->versions;
	server->data.version = ++next;
	if (server->versions < next)
		server->versions = next;
	return next;
}

static uint8_t next_fence(struct server *server, uint8_t floor)
{
	uint8_t next = server->data.fence > floor ? server->data.fence : floor;

	if (!server->is_behind && next < server->fences)
		next = server->fences;
	server->data.fence = ++next;
	if (server->fences < next)
		server->fences = next;
	return next;
}

static struct sight sight_of(const struct data *data)
{
	return (struct sight){data->lease, data->fence, data->era};
}

/* extend: the lease is new for its holder. */
static void extend(struct state *state, unsigned party)
{
	state->server.is_old = 0;
	state->parties[party].before = 0;
	state->parties[1 - party].before = 1;
}

static enum reply acquire(const struct model *model, struct state *state, unsigned party,
			  const struct request *request)
{
	struct data *data = &state->server.data;
	bool is_other = data->lease.fence && !same_token(data->lease, request->seen.lease);

	if (holds(model, RULE_NAMES) && is_other)
		return REPLY_HELD;
	data->lease = request->token;
	data->lease.fence = next_fence(&state->server, request->floor);
	data->holder = 1;
	data->mark = 0;
	data->run = state->server.run;
	if (!data->era)
		data->era = (uint8_t)(state->server.run + 2);
	if (data->longest < length_of(model, party))
		data->longest = length_of(model, party);
	if (state->server.stale && state->server.keeper == party + 1)
		state->server.stale = 2;
	extend(state, party);
	return REPLY_OK;
}

static enum reply renew(struct state *state, unsigned party, const struct request *request)
{
	struct data *data = &state->server.data;
	struct token lease = data->lease;
	bool is_own = lease.fence == request->token.fence && lease.party == party + 1 &&
		      lease.life == request->token.life &&
		      lease.connection <= request->token.connection;

	if (!is_own && (lease.fence || !data->holder || data->fence != request->token.fence))
		return REPLY_HELD;
	if (data->era != request->era)
		return REPLY_HELD;
	data->lease = request->token;
	extend(state, party);
	return REPLY_OK;
}

static enum reply give_back(struct data *data, const struct request *request)
{
	if (!same_token(data->lease, request->token))
		return REPLY_FENCED;
	data->lease = (struct token){.fence = 0};
	data->holder = 0;
	return REPLY_OK;
}

/* give: a peer gives the shard to another one, if the server has all that it knows of it. */
static enum reply give(const struct model *model, struct data *data, const struct request *request)
{
	struct token lease = data->lease;
	struct token token = request->token;
	bool is_mine =
	    lease.fence ? same_token(lease, token) : data->holder && data->fence == token.fence;
	bool is_same = data->era == request->era && data->mark == request->number &&
		       data->version >= request->version;

	if (!is_mine || (holds(model, RULE_NUMBER) && !is_same))
		return REPLY_HELD;
	data->lease = (struct token){.fence = 0};
	data->holder = 0;
	return REPLY_OK;
}

/* write: what memory knows replaces what is older. */
static enum reply write(struct record *record, uint8_t inbox, const struct request *request)
{
	uint8_t version = request->version;

	if (inbox > version || (record->kind && record->version > version))
		return REPLY_GONE;
	if (!request->generation) {
		*record = (struct record){.kind = RECORD_NONE};
		return REPLY_OK;
	}
	if (record->kind && record->version == version && record->attempt > request->attempt)
		return REPLY_GONE;
	record->kind = request->seen.fence ? RECORD_CLAIMED : RECORD_PENDING;
	record->fence = request->seen.fence ? request->token.fence : 0;
	record->generation = request->generation;
	record->version = version;
	record->attempt = request->attempt;
	return REPLY_OK;
}

/* claim raises the attempt once for an owner, even if the request is run again. */
static enum reply claim(struct record *record, const struct request *request)
{
	if (!record->kind || record->version != request->version)
		return REPLY_GONE;
	if (record->kind == RECORD_PENDING || record->fence != request->token.fence) {
		if (record->kind == RECORD_CLAIMED)
			record->open = 1;
		record->kind = RECORD_CLAIMED;
		record->fence = request->token.fence;
		record->attempt++;
		return REPLY_OK;
	}
	if (record->attempt == request->attempt)
		record->attempt++;
	return record->attempt == request->attempt + 1 ? REPLY_OK : REPLY_GONE;
}

/* settle ends the timer, or stores its next occurrence. */
static enum reply settle(struct state *state, const struct request *request)
{
	struct record *record = &state->server.data.record;

	if (record->kind != RECORD_CLAIMED || record->version != request->version ||
	    record->attempt != request->attempt || record->fence != request->token.fence)
		return REPLY_GONE;
	state->history[record->generation].ended = 1;
	*record = (struct record){.kind = RECORD_NONE};
	if (request->kind == REQUEST_NEXT)
		*record = (struct record){
		    .kind = RECORD_PENDING,
		    .generation = request->generation,
		    .version = next_version(&state->server, request->version),
		};
	return REPLY_OK;
}

static enum reply run_owned(struct state *state, const struct request *request)
{
	struct data *data = &state->server.data;

	if (!same_token(data->lease, request->token) || data->mark != request->number)
		return REPLY_FENCED;
	data->mark++;
	if (request->kind == REQUEST_WRITE)
		return write(&data->record, data->inbox, request);
	if (request->kind == REQUEST_CLAIM)
		return claim(&data->record, request);
	return settle(state, request);
}

enum reply run_request(const struct model *model, struct state *state, unsigned party,
		       const struct request *request)
{
	switch ((enum request_kind)request->kind) {
	case REQUEST_ACQUIRE:
		return acquire(model, state, party, request);
	case REQUEST_RENEW:
		return renew(state, party, request);
	case REQUEST_RELEASE:
		return give_back(&state->server.data, request);
	case REQUEST_GIVE:
		return give(model, &state->server.data, request);
	default:
		return run_owned(state, request);
	}
}

/* text_of: what is run, and how it ends. */
static const char *text_of(const struct request *request, bool is_done)
{
	static const char *const texts[][2] = {
	    [REQUEST_ACQUIRE] = {"'s acquisition is run: HELD", "'s acquisition is run: OK"},
	    [REQUEST_RENEW] = {"'s renewal is run: refused", "'s renewal is run: OK"},
	    [REQUEST_RELEASE] = {"'s release is run: it was no longer the owner",
				 "'s release is run"},
	    [REQUEST_GIVE] = {"'s release for the other peer is run: refused",
			      "'s release for the other peer is run: OK"},
	    [REQUEST_WRITE] = {"'s restored timer is not written", "'s restored timer is written"},
	    [REQUEST_CLAIM] = {"'s claim is run: refused", "'s claim is run: OK"},
	    [REQUEST_SETTLE] = {"'s settle is run: refused", "'s settle is run: OK"},
	    [REQUEST_NEXT] = {"'s NEXT is run: refused", "'s NEXT is run: OK"},
	};

	return texts[request->kind][is_done];
}

void request_run(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	struct step *step = NULL;
	struct party *party = NULL;
	const struct data *data = NULL;

	if (!state->server.up || state->parties[i].stage != STAGE_SENT)
		return;
	step = step_of(i, state, "", steps);
	party = &step->after->parties[i];
	data = &step->after->server.data;
	party->stage = STAGE_RUN;
	party->reply = (uint8_t)run_request(model, step->after, i, &party->request);
	party->reply_seen = sight_of(data);
	party->reply_number = data->mark;
	party->reply_version =
	    party->request.kind == REQUEST_RENEW ? data->version : data->record.version;
	step->text = text_of(&party->request, party->reply == REPLY_OK);
}

void late_run(const struct model *model, const struct state *state, unsigned i, struct steps *steps)
{
	struct step *step = NULL;
	struct request late = state->parties[i].late;

	if (!state->server.up || !late.kind)
		return;
	step = step_of(i, state, "", steps);
	step->after->parties[i].late = (struct request){.kind = REQUEST_NONE};
	step->text = text_of(&late, run_request(model, step->after, i, &late) == REPLY_OK);
}
