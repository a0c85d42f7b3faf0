#include "model/replay.h"

#include "model/server.h"

/* is_ours: a fence that is no later than the row's has the record claimed (J8): its process was
 * this one, or was fenced before. An owner's own fence is later than all others. */
static bool is_ours(const struct model *model, const struct state *state, bool as_owner)
{
	const struct record *record = &state->server.record;

	if (record->kind != RECORD_CLAIMED)
		return false;
	if (holds(model, RULE_FENCE))
		return record->fence <= (as_owner ? state->owner.fence : state->owner.row.fence);
	return record->fence == state->owner.row.fence ||
	       (as_owner && record->fence == state->owner.fence);
}

/* was_run: Redis has run the request that the row repeats. What nobody knows counts as run, because
 * to put a settled timer again is worse. */
static bool was_run(const struct model *model, const struct state *state)
{
	const struct row *row = &state->owner.row;
	const struct server *server = &state->server;

	if (!state->owner.doubt_ended)
		return true;
	if (server->fence == row->doubt_fence)
		return server->mark >= row->doubt_number;
	if (!holds(model, RULE_DOUBT_MARK) || !server->marks[row->doubt_fence])
		return true;
	return server->marks[row->doubt_fence] > row->doubt_number;
}

/* leave_word: the next owner learns from the inbox what a client has changed. */
static void leave_word(struct server *server, enum inbox_kind kind)
{
	server->inbox = (uint8_t)kind;
	server->inbox_version = kind == INBOX_DELETED ? ++server->version : server->record.version;
}

static enum promise replay_put(const struct model *model, struct state *state, bool as_owner)
{
	struct server *server = &state->server;
	const struct row *row = &state->owner.row;
	const struct record *record = &server->record;
	enum promise broken = PROMISE_KEPT;
	bool resolved = holds(model, RULE_DOUBT_RESOLVED);

	if (resolved && row->doubt_fence && was_run(model, state))
		return PROMISE_KEPT;
	if (resolved && record->kind && record->generation == row->generation &&
	    record->version != row->base)
		return PROMISE_KEPT; /* it is there */
	if (holds(model, RULE_ORDER) && ((record->kind && record->version > row->floor) ||
					 (server->inbox && server->inbox_version > row->floor))) {
		server_end(state, row->generation);
		return PROMISE_KEPT;
	}
	broken = promises_replay(state);
	server_put(state, row->generation, row->attempt);
	if (!as_owner)
		leave_word(server, INBOX_PUT);
	return broken;
}

/* replay_start: the claim of the journal becomes one of Redis if its fence still is the owner's.
 * Otherwise nobody starts that claim any more, and only its attempt counts (J15). */
static void replay_start(const struct model *model, struct state *state, bool as_owner)
{
	struct record *record = &state->server.record;
	const struct row *row = &state->owner.row;
	bool free = record->kind == RECORD_PENDING || is_ours(model, state, as_owner);

	if (!holds(model, RULE_START) || !record->kind || record->version != row->base)
		return;
	if (free && as_owner && state->owner.fence == row->fence) {
		record->kind = RECORD_CLAIMED;
		record->fence = state->owner.fence;
	}
	if (holds(model, RULE_START_RAISE) && record->attempt < row->attempt)
		record->attempt = row->attempt;
}

/* replay_end: a settle ends the version and attempts that it knows, a cancel all up to its floor.
 * Neither ends what another fence has claimed. */
static void replay_end(const struct model *model, struct state *state, bool as_owner)
{
	const struct record *record = &state->server.record;
	const struct row *row = &state->owner.row;
	bool known = row->kind == ROW_SETTLE
			 ? record->version == row->base && record->attempt <= row->attempt
			 : record->version <= row->floor;

	if (!record->kind || !known ||
	    !(record->kind == RECORD_PENDING || is_ours(model, state, as_owner)))
		return;
	server_delete(state);
	if (!as_owner)
		leave_word(&state->server, INBOX_DELETED);
}

enum promise replay_row(const struct model *model, struct state *state, bool as_owner)
{
	const struct row *row = &state->owner.row;

	if (holds(model, RULE_NUMBERED) && state->server.last_row >= row->number)
		return PROMISE_KEPT;
	state->server.last_row = row->number;
	switch ((enum row_kind)row->kind) {
	case ROW_PUT:
		return replay_put(model, state, as_owner);
	case ROW_START:
		replay_start(model, state, as_owner);
		break;
	case ROW_SETTLE:
	case ROW_CANCEL:
		replay_end(model, state, as_owner);
		break;
	case ROW_NONE:
		break;
	}
	return PROMISE_KEPT;
}
