/* script: what a server runs. */
#include "model/failover/steps.h"

static bool is_held_by(const struct data *data, unsigned i, uint8_t fence)
{
	return data->holder == i + 1 && data->fence == fence;
}

static uint8_t acquire(struct data *data, unsigned i, struct request *request)
{
	if (data->holder != request->seen || data->fence != request->seen_fence ||
	    (data->holder && data->holder != i + 1 && data->left))
		return REPLY_GONE;
	data->fence = (uint8_t)((data->fence > request->fence ? data->fence : request->fence) + 1);
	data->holder = (uint8_t)(i + 1);
	data->left = request->generation; /* the lease that is asked for */
	request->fence = data->fence;
	return REPLY_OK;
}

static uint8_t renew(struct data *data, unsigned i, const struct request *request)
{
	if (!is_held_by(data, i, request->fence))
		return REPLY_GONE;
	data->left = request->generation;
	return REPLY_OK;
}

static uint8_t claim(struct data *data, unsigned i, const struct request *request)
{
	struct record *record = &data->record;

	if (!is_held_by(data, i, request->fence) || !record->kind ||
	    record->version != request->version)
		return REPLY_GONE;
	record->kind = RECORD_CLAIMED;
	record->fence = request->fence;
	record->party = (uint8_t)(i + 1);
	return REPLY_OK;
}

static uint8_t settle(struct data *data, unsigned i, const struct request *request)
{
	const struct record *record = &data->record;

	if (record->kind != RECORD_CLAIMED || record->version != request->version ||
	    record->fence != request->fence || record->party != i + 1)
		return REPLY_GONE;
	data->record = (struct record){.kind = RECORD_NONE};
	return REPLY_OK;
}

static uint8_t cancel(struct state *state, struct request *request)
{
	struct data *data = &state->servers[request->server].data;

	if (data->record.kind == RECORD_CLAIMED)
		return REPLY_GONE;
	request->is_new = !data->record.kind;
	request->generation = data->record.generation;
	if (request->is_new)
		return REPLY_OK;
	data->record = (struct record){.kind = RECORD_NONE};
	data->version = ++state->versions;
	promises_changed(state, request->generation, request->server);
	return REPLY_OK;
}

/* put: what is claimed may start yet. So nothing is promised of it. */
static uint8_t put(struct state *state, struct request *request)
{
	struct data *data = &state->servers[request->server].data;
	uint8_t former = data->record.generation;

	if (data->record.kind && !request->may_replace)
		return REPLY_GONE;
	request->is_new = !data->record.kind;
	request->seen = data->record.kind == RECORD_PENDING ? former : 0;
	data->version = ++state->versions;
	data->record = (struct record){RECORD_PENDING, request->generation, data->version, 0, 0};
	if (request->seen)
		promises_changed(state, former, request->server);
	return REPLY_OK;
}

static uint8_t reply_to(struct state *state, unsigned i, struct request *request)
{
	struct data *data = &state->servers[request->server].data;

	switch ((enum request_kind)request->kind) {
	case REQUEST_ACQUIRE:
		return acquire(data, i, request);
	case REQUEST_RENEW:
		return renew(data, i, request);
	case REQUEST_CLAIM:
		return claim(data, i, request);
	case REQUEST_SETTLE:
		return settle(data, i, request);
	case REQUEST_CANCEL:
		return cancel(state, request);
	default:
		return put(state, request);
	}
}

void run_request(struct state *state, unsigned i)
{
	struct request *request = &state->parties[i].request;

	request->reply =
	    state->servers[request->server].is_master ? reply_to(state, i, request) : REPLY_REFUSED;
}
