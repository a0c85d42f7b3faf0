/* journal: what the owner writes to its own disk while Redis is away, and the replay. */
#include "model/owner.h"
#include "model/replay.h"
#include "model/steps.h"

/* may_supersede: J14 keeps the row of a put in doubt as it is. */
static bool may_supersede(const struct model *model, const struct row *row)
{
	return row->kind == ROW_PUT && (!row->doubt_fence || !holds(model, RULE_DOUBT_ALONE));
}

void journal_doubt(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	const struct request *request = &owner->request;
	struct state *after = NULL;

	if (model->unknown || !owner_is_lost(state) || !owner_is_in_doubt(owner) ||
	    request->kind != REQUEST_PUT || request->journaled || owner->row.kind)
		return;
	after = steps_add(steps, state, "A journals the put in doubt: JOURNALED")->after;
	owner_write_row(after, ROW_PUT, request->generation, 0, 0);
	after->owner.row.fence = after->owner.row.doubt_fence = request->fence;
	after->owner.row.doubt_number = request->number;
	after->owner.request.journaled = 1;
	after->history[request->generation].confirmed = CONFIRMED_JOURNALED;
}

/* may_replay_as_client: a client replays, too, while another process is the owner, or seems so. */
static bool may_replay_as_client(const struct model *model, const struct state *state)
{
	const struct standby *standby = &state->standby;
	bool is_owned = standby->owns && standby->fence == state->server.lease;

	return !state->owner.role && (is_owned || model->stranger || !holds(model, RULE_OWN_FIRST));
}

/* A timer that is running, or claimed in the journal, is replayed by journal_realize. */
void journal_replay(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	bool as_owner = owner_has_lease(state);
	struct step *step = NULL;
	struct step *killed = NULL;

	if (!owner_reaches_redis(state) || !owner->row.kind ||
	    (!as_owner && !may_replay_as_client(model, state)) || owner_is_in_doubt(owner) ||
	    owner->timer.kind >= TIMER_RUNNING ||
	    (owner->timer.kind == TIMER_CLAIMED && owner->timer.local) ||
	    (holds(model, RULE_DOUBT_ENDED) && owner->row.doubt_fence && !owner->doubt_ended))
		return;
	step = steps_add(steps, state,
			 as_owner ? "A replays its row and deletes it"
				  : "A replays its row as a client and deletes it");
	step->broken = replay_row(model, step->after, as_owner);
	if (moves_may_fail(model, state)) {
		killed = steps_add(steps, step->after,
				   "A replays its row and is killed before it deletes the row");
		killed->broken = step->broken;
		killed->after->spent.faults++;
		owner_die(&killed->after->owner);
	}
	owner_drop_row(&step->after->owner);
	if (as_owner && owner->role == ROLE_OWNER)
		owner_learn(model, step->after);
}

/* realize_claim: the record is claimed by the owner now, or the local claim is not valid. */
static void realize_claim(const struct model *model, struct state *state)
{
	const struct record *record = &state->server.record;
	struct owner *owner = &state->owner;

	if (holds(model, RULE_LATE) &&
	    !(record->kind == RECORD_CLAIMED && record->fence == owner->fence &&
	      record->generation == owner->timer.generation))
		state->client.waits = 0; /* DW_ELATE */
}

/* realize_timer: the put is replayed, and claimed at once with the attempt that the journal has. */
static void realize_timer(const struct model *model, struct state *state)
{
	struct record *record = &state->server.record;
	struct owner *owner = &state->owner;

	if (record->kind && record->generation == owner->timer.generation) {
		record->kind = RECORD_CLAIMED;
		record->fence = owner->fence;
		record->attempt = owner->timer.attempt;
		owner->timer.version = record->version;
	} else if (holds(model, RULE_LATE)) {
		state->client.waits = 0; /* DW_ELATE */
	}
}

void journal_realize(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	bool claim = owner->timer.local == LOCAL_CLAIM && owner->row.kind == ROW_START;
	bool timer = owner->timer.local == LOCAL_TIMER && owner->row.kind == ROW_PUT;
	struct step *step = NULL;

	if (!owner_reaches_redis(state) || !owner_has_lease(state) || owner->role != ROLE_OWNER ||
	    owner_is_in_doubt(owner) || owner->timer.kind < TIMER_CLAIMED || (!claim && !timer))
		return;
	step = steps_add(steps, state, "A replays its local claim as a claim in Redis");
	step->broken = replay_row(model, step->after, true);
	owner_drop_row(&step->after->owner);
	step->after->owner.timer.local = LOCAL_NO;
	if (claim)
		realize_claim(model, step->after);
	else
		realize_timer(model, step->after);
}

static bool may_claim(const struct model *model, const struct state *state)
{
	const struct owner *owner = &state->owner;

	return model->fire && owner_is_lost(state) && owner->role == ROLE_OWNER &&
	       (owner->lease || !holds(model, RULE_LEASE));
}

/* A claim whose reply is missing is taken for lost: the local one has the same attempt. */
void journal_claim(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *before = &state->owner;
	struct step *step = NULL;
	struct owner *owner = NULL;

	if (!may_claim(model, state) || before->timer.kind != TIMER_PENDING ||
	    (before->stage && before->request.kind != REQUEST_CLAIM) ||
	    (before->row.kind && !may_supersede(model, &before->row)))
		return;
	step = steps_add(steps, state, "A claims in the journal");
	owner = &step->after->owner;
	owner->timer.kind = TIMER_CLAIMED;
	owner->timer.attempt++;
	step->generation = owner->timer.generation;
	step->attempt = owner->timer.attempt;
	if (owner->row.kind == ROW_PUT) {
		owner->timer.local = LOCAL_TIMER;
		owner->row.attempt = owner->timer.attempt;
		owner->row.number = ++owner->rows;
	} else {
		owner->timer.local = LOCAL_CLAIM;
		owner_write_row(step->after, ROW_START, step->generation, owner->timer.version,
				step->attempt);
	}
	if (owner->request.kind == REQUEST_CLAIM)
		owner->request.moot = 1;
}

/* end_in_journal: the row of a timer that only the journal has becomes one that deletes what it has
 * replaced (J7). Redis may have one that the owner does not know: a client's, of which the inbox
 * that it has not read tells (J17). floor: what is later stays. */
static void end_in_journal(const struct model *model, struct state *state, uint8_t generation,
			   uint8_t floor)
{
	struct owner *owner = &state->owner;
	uint8_t base = owner->row.base;

	if (!(base && holds(model, RULE_BASE)) && !(!base && holds(model, RULE_ABSENT))) {
		owner_drop_row(owner);
		return;
	}
	owner_write_row(state, ROW_CANCEL, generation, base, 0);
	owner->row.floor = floor;
}

/* end_before: what was put before, by whomever, does not start here any more. */
static void end_before(struct state *state, uint8_t generation)
{
	for (uint8_t i = 1; i < generation; i++) {
		state->history[i].ended = 1;
		if (!state->history[i].cancelled)
			state->history[i].cancelled = CANCELLED_UNKNOWN;
	}
}

/* journal_settle: of a local claim. */
void journal_settle(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	const struct timer *timer = &owner->timer;
	struct step *step = NULL;

	if (!owner->up || timer->kind != TIMER_DONE || !timer->local ||
	    (!owner->cut && owner->role == ROLE_OWNER && owner_has_lease(state)))
		return;
	step = steps_add(steps, state, "A journals the settle: JOURNALED");
	step->generation = timer->generation;
	if (timer->local == LOCAL_CLAIM)
		owner_write_row(step->after, ROW_SETTLE, timer->generation, timer->version,
				timer->attempt);
	else
		end_in_journal(model, step->after, timer->generation, owner->row.floor);
	step->after->history[timer->generation].settled_journal = 1;
	if (timer->local == LOCAL_TIMER) {
		step->after->history[timer->generation].ended = 1;
		end_before(step->after, timer->generation);
	}
	owner_forget(&step->after->owner);
}

void journal_settle_stored(const struct model *model, const struct state *state,
			   struct steps *steps)
{
	const struct owner *owner = &state->owner;
	const struct timer *timer = &owner->timer;
	struct step *step = NULL;

	(void)model;
	if (!owner_is_lost(state) || timer->kind != TIMER_DONE || timer->local || owner->row.kind ||
	    (owner->stage && owner->request.kind != REQUEST_SETTLE))
		return;
	step = steps_add(steps, state, "A journals the settle of a claim in Redis: JOURNALED");
	step->generation = timer->generation;
	owner_write_row(step->after, ROW_SETTLE, timer->generation, timer->version, timer->attempt);
	step->after->history[timer->generation].settled_journal = 1;
	owner_forget(&step->after->owner);
	if (step->after->owner.request.kind == REQUEST_SETTLE)
		step->after->owner.request.moot = 1;
}

/* base_of_put: the version in Redis that a put supersedes now (J7). */
static uint8_t base_of_put(const struct model *model, const struct owner *owner)
{
	if (owner->row.kind == ROW_PUT)
		return owner->row.base;
	if (owner->timer.kind == TIMER_PENDING)
		return owner->timer.version;
	return holds(model, RULE_BASE) && owner->row.kind >= ROW_SETTLE ? owner->row.base : 0;
}

/* end_known: the owner promises nothing more about what it knows of the id. */
static void end_known(struct state *state)
{
	const struct owner *owner = &state->owner;

	if (owner->timer.kind)
		state->history[owner->timer.generation].ended = 1;
	if (owner->row.kind == ROW_PUT)
		state->history[owner->row.generation].ended = 1;
}

void user_put_journaled(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *before = &state->owner;
	const struct row *row = &before->row;
	struct step *step = NULL;

	if (!moves_may_put(model, state, state->spent.puts, model->limits.puts) ||
	    !owner_is_lost(state) || before->timer.kind >= TIMER_CLAIMED ||
	    (before->stage && !before->request.moot) ||
	    (row->kind && row->kind < ROW_SETTLE && !may_supersede(model, row)))
		return;
	step = steps_add(steps, state, "A's user puts: JOURNALED");
	step->after->spent.puts++;
	step->generation = ++step->after->generations;
	end_known(step->after);
	owner_write_row(step->after, ROW_PUT, step->generation, base_of_put(model, before), 0);
	step->after->history[step->generation].confirmed = CONFIRMED_JOURNALED;
	if (before->role == ROLE_OWNER)
		step->after->owner.timer = (struct timer){
		    .kind = TIMER_PENDING, .generation = step->generation, .local = LOCAL_TIMER};
}

/* The cancel of what only the journal has is exact (J2). Otherwise another process may have claimed
 * the timer, so the answer is DW_EUNKNOWN (J3). */
void user_cancel_journaled(const struct model *model, const struct state *state,
			   struct steps *steps)
{
	const struct owner *before = &state->owner;
	const struct row *row = &before->row;
	bool in_row = row->kind == ROW_PUT;
	struct step *step = NULL;

	if (model->quiet || state->spent.cancels >= model->limits.cancels ||
	    !owner_is_lost(state) || before->stage || before->timer.kind >= TIMER_CLAIMED ||
	    (in_row ? !may_supersede(model, row) : before->timer.kind != TIMER_PENDING))
		return;
	step = steps_add(steps, state, "A's user cancels what only the journal has: DW_OK");
	step->after->spent.cancels++;
	step->generation = in_row ? row->generation : before->timer.generation;
	if (in_row && !row->base && !(row->sent && holds(model, RULE_SENT))) {
		step->after->history[step->generation].cancelled = CANCELLED_LOCAL;
		step->after->history[step->generation].ended = 1;
		end_before(step->after, (uint8_t)(state->generations + 1));
		end_in_journal(model, step->after, step->generation, state->server.version);
	} else {
		step->text = "A's user cancels what Redis may have: DW_EUNKNOWN, JOURNALED";
		step->after->history[step->generation].cancelled = CANCELLED_UNKNOWN;
		end_known(step->after);
		owner_write_row(step->after, ROW_CANCEL, step->generation,
				in_row ? row->base : before->timer.version, 0);
	}
	owner_forget(&step->after->owner);
}
