/* request: one request of the owner at a time, its reply, and what a greeting finds out about a
 * request in doubt. */
#include "model/owner.h"
#include "model/server.h"
#include "model/steps.h"

static const char *text_of_run(const struct state *state)
{
	static const char *const texts[][4] = {
	    [REQUEST_PUT] = {"", "Redis runs A's put: done", "", "Redis runs A's put: fenced"},
	    [REQUEST_CLAIM] = {"", "Redis runs A's claim: done", "Redis runs A's claim: gone",
			       "Redis runs A's claim: fenced"},
	    [REQUEST_SETTLE] = {"", "Redis runs A's settle: done", "Redis runs A's settle: gone",
				"Redis runs A's settle: fenced"},
	};

	return texts[state->owner.request.kind][state->owner.reply];
}

void request_run(const struct model *model, const struct state *state, struct steps *steps)
{
	bool in_time = state->owner.stage == STAGE_SENT && owner_reaches_redis(state);
	bool late = state->owner.request_late && state->owner.stage == STAGE_DOUBT;
	struct step *step = NULL;

	(void)model; /* Redis does what it is asked, by whatever rule */
	if (!in_time && !late)
		return;
	step = steps_add(steps, state, NULL);
	server_run(step->after);
	step->text = text_of_run(step->after);
	step->after->owner.stage = in_time ? STAGE_RUN : STAGE_DOUBT_RUN;
	if (!in_time)
		step->after->owner.request_late = 0;
}

static void take_put(struct state *state, const struct request *request)
{
	struct owner *owner = &state->owner;

	state->history[request->generation].confirmed = CONFIRMED_STORED;
	if (owner->timer.kind < TIMER_CLAIMED)
		owner->timer = (struct timer){.kind = TIMER_PENDING,
					      .generation = request->generation,
					      .version = owner->reply_version};
}

static void take_claim(const struct model *model, struct state *state)
{
	struct owner *owner = &state->owner;

	if (owner->reply != REPLY_OK) {
		owner_learn(model, state);
		return;
	}
	owner->timer.kind = TIMER_CLAIMED;
	owner->timer.attempt = owner->reply_attempt;
	owner->timer.local = LOCAL_NO;
}

static void take_settle(const struct model *model, struct state *state,
			const struct request *request)
{
	if (state->owner.reply == REPLY_OK)
		state->history[request->generation].settled = 1;
	state->owner.timer.kind = TIMER_NONE;
	owner_learn(model, state);
}

void request_answer(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct request *request = &state->owner.request;
	struct state *after = NULL;

	if (state->owner.stage != STAGE_RUN || !owner_reaches_redis(state))
		return;
	after = steps_add(steps, state, "A gets the reply")->after;
	after->owner.stage = STAGE_IDLE;
	after->owner.request = (struct request){.kind = REQUEST_NONE};
	if (state->owner.reply == REPLY_FENCED)
		owner_lose(&after->owner);
	else if (request->kind == REQUEST_PUT)
		take_put(after, request);
	else if (request->kind == REQUEST_CLAIM)
		take_claim(model, after);
	else
		take_settle(model, after, request);
}

/* resolve: the greeting ends the earlier connection and says which request was the last. A put or
 * settle that was not run is sent again; a claim is asked for again by its timer. */
static void resolve(const struct model *model, struct state *state)
{
	struct owner *owner = &state->owner;
	const struct request request = owner->request;
	bool run = state->server.mark >= request.number;

	if (request.kind == REQUEST_PUT || owner->row.doubt_fence)
		owner->doubt_ended = 1;
	owner->stage = STAGE_IDLE;
	owner->request = (struct request){.kind = REQUEST_NONE};
	owner->lease = 1;
	if (request.moot)
		return;
	if (request.kind == REQUEST_PUT && run) {
		if (request.journaled && owner->row.kind == ROW_PUT && owner->row.doubt_fence)
			owner_drop_row(owner);
		if (owner->timer.kind < TIMER_CLAIMED)
			owner_learn(model, state);
	} else if (request.kind == REQUEST_PUT && !request.journaled) {
		owner->stage = STAGE_SENT;
		owner->request = request;
		owner->doubt_ended = 0;
	} else if (request.kind == REQUEST_CLAIM && owner->timer.kind < TIMER_CLAIMED) {
		owner->timer.kind = TIMER_PENDING;
	} else if (request.kind == REQUEST_SETTLE) {
		owner->stage = STAGE_SENT;
		owner->request = request;
	}
}

void request_greet(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct owner *owner = &state->owner;
	bool may_retake =
	    owner->role && !state->server.lease && owner->fence == state->server.fence;
	struct step *step = NULL;

	if (!owner_reaches_redis(state) || !owner_is_in_doubt(owner))
		return;
	if (!owner_has_lease(state) && may_retake)
		return; /* first the lease, then the greeting */
	step = steps_add(steps, state, "A greets Redis and learns what was run");
	step->after->owner.request_late = 0;
	if (owner_has_lease(state)) {
		resolve(model, step->after);
		return;
	}
	step->text = "A greets Redis and learns that another process owns the shard";
	step->after->owner.stage = STAGE_IDLE;
	step->after->owner.request = (struct request){.kind = REQUEST_NONE};
	owner_lose(&step->after->owner);
}
