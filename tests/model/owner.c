#include "model/owner.h"

void owner_forget(struct owner *owner)
{
	owner->timer = (struct timer){.kind = TIMER_NONE};
}

static void learn_row(struct owner *owner)
{
	const struct row *row = &owner->row;

	if (row->kind == ROW_PUT)
		owner->timer = (struct timer){.kind = TIMER_PENDING,
					      .generation = row->generation,
					      .attempt = row->attempt,
					      .local = LOCAL_TIMER};
	else if (row->kind != ROW_START)
		owner_forget(owner);
}

void owner_learn(const struct model *model, struct state *state)
{
	struct owner *owner = &state->owner;
	const struct record *record = &state->server.record;

	if (owner->timer.kind >= TIMER_RUNNING)
		return;
	if (holds(model, RULE_REPLAY_FIRST) && holds(model, RULE_ROW_FIRST) && owner->row.kind) {
		learn_row(owner);
		return;
	}
	owner_forget(owner);
	if (record->kind)
		owner->timer = (struct timer){.kind = TIMER_PENDING,
					      .generation = record->generation,
					      .version = record->version,
					      .attempt = record->attempt};
}

void owner_lose(struct owner *owner)
{
	owner->role = ROLE_CLIENT;
	owner->fence = owner->lease = 0;
	if (owner->timer.kind != TIMER_RUNNING)
		owner_forget(owner);
}

void owner_die(struct owner *owner)
{
	owner->up = owner->role = owner->fence = owner->lease = 0;
	owner_forget(owner);
	owner->request = (struct request){.kind = REQUEST_NONE};
	owner->stage = STAGE_IDLE;
	owner->reply = owner->reply_version = owner->reply_attempt = owner->request_late = 0;
}

void owner_drop_row(struct owner *owner)
{
	owner->row = (struct row){.kind = ROW_NONE};
	owner->doubt_ended = 0;
}

void owner_write_row(struct state *state, enum row_kind kind, uint8_t generation, uint8_t base,
		     uint8_t attempt)
{
	struct owner *owner = &state->owner;

	owner->row = (struct row){.kind = (uint8_t)kind,
				  .generation = generation,
				  .base = base,
				  .attempt = attempt,
				  .floor = state->server.version,
				  .number = ++owner->rows,
				  .fence = owner->fence ? owner->fence : owner->row.fence,
				  .sent = owner->row.sent};
}
