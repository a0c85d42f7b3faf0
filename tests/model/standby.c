/* standby: takes the shard over when it has no owner. Its claims and starts are ordinary ones. */
#include "model/server.h"
#include "model/steps.h"

#define TAKEOVERS_MAX 2u
#define JUMP 16u /* more than an owner claims locally in one outage (J13) */

static bool owns(const struct state *state)
{
	return state->standby.owns && state->standby.fence == state->server.lease;
}

void standby_acquire(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;
	struct standby *standby = NULL;

	if (model->quiet || state->standby.owns || state->server.lease ||
	    state->standby.takeovers >= TAKEOVERS_MAX)
		return;
	after = steps_add(steps, state, "B acquires the shard")->after;
	server_acquire(after);
	standby = &after->standby;
	standby->takeovers++;
	after->server.fires = 0;
	after->client.waits = 0; /* DW_ELATE */
	standby->fence = after->server.fence;
	standby->owns = 1;
}

void standby_step_down(const struct model *model, const struct state *state, struct steps *steps)
{
	struct standby *standby = NULL;

	(void)model;
	if (!state->standby.owns || owns(state) || state->standby.stage == STANDBY_STARTED)
		return;
	standby = &steps_add(steps, state, "B steps down")->after->standby;
	standby->owns = 0;
	standby->stage = STANDBY_IDLE;
}

void standby_claim(const struct model *model, const struct state *state, struct steps *steps)
{
	bool jump = holds(model, RULE_JUMP) && model->fire && state->server.record.attempt < JUMP;
	struct step *step = NULL;
	struct record *record = NULL;
	struct standby *standby = NULL;

	if (!owns(state) || state->standby.stage || !state->server.record.kind)
		return;
	step = steps_add(steps, state, "B claims");
	record = &step->after->server.record;
	standby = &step->after->standby;
	if (record->kind == RECORD_CLAIMED)
		record->open = 1;
	record->kind = RECORD_CLAIMED;
	record->fence = standby->fence;
	record->attempt = (uint8_t)(record->attempt + (jump ? JUMP : 1));
	standby->stage = STANDBY_CLAIMED;
	standby->generation = step->generation = record->generation;
	standby->version = record->version;
	standby->attempt = step->attempt = record->attempt;
}

void standby_start(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct standby *standby = &state->standby;
	struct step *step = NULL;

	(void)model;
	if (!owns(state) || standby->stage != STANDBY_CLAIMED)
		return;
	step = steps_add(steps, state, "B STARTS");
	step->generation = standby->generation;
	step->attempt = standby->attempt;
	step->broken = promises_start(step->after, false, step->generation, step->attempt);
	step->after->standby.stage = STANDBY_STARTED;
}

void standby_acknowledge(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	(void)model;
	if (!owns(state) || state->standby.stage || !state->server.inbox)
		return;
	after = steps_add(steps, state, "B reads the inbox and acknowledges it")->after;
	after->server.inbox = after->server.inbox_version = 0;
}

void standby_close(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state *after = NULL;

	(void)model;
	if (!owns(state) || state->standby.stage || state->server.record.kind)
		return;
	after = steps_add(steps, state, "B closes and gives the lease back")->after;
	after->standby.owns = after->standby.fence = 0;
	after->server.lease = 0;
}

/* It settles even if it has lost the shard; then the record is not its own any more. */
void standby_settle(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct standby *standby = &state->standby;
	const struct record *record = &state->server.record;
	struct step *step = NULL;

	(void)model;
	if (standby->stage != STANDBY_STARTED)
		return;
	step = steps_add(steps, state, "B settles");
	step->generation = standby->generation;
	step->after->standby.stage = STANDBY_IDLE;
	if (standby->fence != state->server.lease || record->kind != RECORD_CLAIMED ||
	    record->version != standby->version || record->attempt != standby->attempt)
		return;
	server_delete(step->after);
	step->after->history[standby->generation].settled = 1;
}
