#include "model/server.h"

#include <assert.h>

void server_put(struct state *state, uint8_t generation, uint8_t attempt)
{
	struct record *record = &state->server.record;
	bool open = record->kind == RECORD_CLAIMED || (record->kind && record->open);

	if (record->kind && record->generation != generation)
		server_end(state, record->generation);
	*record = (struct record){.kind = RECORD_PENDING,
				  .generation = generation,
				  .version = ++state->server.version,
				  .attempt = attempt,
				  .open = open};
}

void server_delete(struct state *state)
{
	server_end(state, state->server.record.generation);
	state->server.record = (struct record){.kind = RECORD_NONE};
}

/* claim raises the attempt once for a request, even if the request is run again. An owner that is
 * behind by one attempt has lost the reply to its claim. */
static enum reply claim(struct record *record, const struct request *request)
{
	if (!record->kind || record->version != request->version)
		return REPLY_GONE;
	if (record->kind == RECORD_PENDING || record->fence != request->fence) {
		if (record->kind == RECORD_CLAIMED)
			record->open = 1;
		record->kind = RECORD_CLAIMED;
		record->fence = request->fence;
		record->attempt++;
		return REPLY_OK;
	}
	if (record->attempt == request->attempt)
		record->attempt++;
	return record->attempt == request->attempt + 1 ? REPLY_OK : REPLY_GONE;
}

static enum reply settle(struct state *state, const struct request *request)
{
	const struct record *record = &state->server.record;

	if (record->kind != RECORD_CLAIMED || record->version != request->version ||
	    record->attempt != request->attempt || record->fence != request->fence)
		return REPLY_GONE;
	server_delete(state);
	return REPLY_OK;
}

static enum reply run(struct state *state)
{
	struct owner *owner = &state->owner;
	const struct request *request = &owner->request;
	struct record *record = &state->server.record;
	enum reply reply = REPLY_NONE;

	if (!state->server.lease || request->fence != state->server.lease)
		return REPLY_FENCED;
	state->server.mark = request->number;
	switch ((enum request_kind)request->kind) {
	case REQUEST_PUT:
		server_put(state, request->generation, 0);
		owner->reply_version = record->version;
		return REPLY_OK;
	case REQUEST_CLAIM:
		reply = claim(record, request);
		if (reply == REPLY_OK)
			owner->reply_attempt = record->attempt;
		return reply;
	case REQUEST_SETTLE:
		return settle(state, request);
	case REQUEST_NONE:
		break;
	}
	return REPLY_NONE;
}

void server_run(struct state *state)
{
	state->owner.reply_version = 0;
	state->owner.reply = (uint8_t)run(state);
}

void server_acquire(struct state *state)
{
	struct server *server = &state->server;

	if (state->owner.request.kind == REQUEST_PUT || state->owner.row.doubt_fence)
		state->owner.doubt_ended = 1;
	assert(server->fence + 1u < FENCES);
	if (server->fence)
		server->marks[server->fence] = (uint8_t)(server->mark + 1);
	server->lease = ++server->fence;
	server->mark = 0;
}
