/* request: how it is sent, run and answered. Either way it may travel for any time. */
#include "model/failover/named.h"
#include "model/failover/steps.h"

bool is_at_work(const struct model *model, const struct state *state, unsigned i)
{
	const struct party *party = &state->parties[i];

	return is_idle(state, i) && promises_owns(model, state, i) &&
	       party->lease.server == party->at;
}

static const char *text_of(const struct request *request)
{
	static const char *const texts[REQUEST_COUNT][REPLY_COUNT] = {
	    [REQUEST_ACQUIRE] = {"sends an acquisition", "acquires the shard", "may not acquire",
				 "is told that the shard is another's"},
	    [REQUEST_RENEW] = {"sends a renewal", "renews its lease", "may not renew",
			       "is told that its lease is over"},
	    [REQUEST_CLAIM] = {"sends a claim", "claims", "may not claim",
			       "is told that the timer is another one"},
	    [REQUEST_SETTLE] = {"sends a settle", "settles", "may not settle",
				"is told that the timer is gone"},
	    [REQUEST_CANCEL] = {"sends a cancel", "is told that its cancel is done",
				"may not cancel", "is told that it is too late"},
	    [REQUEST_PUT] = {"sends a put", "is told that its put is done", "may not put",
			     "is told that it must wait"},
	};

	return texts[request->kind][request->reply];
}

static void take(const struct model *model, struct step *step, unsigned i)
{
	struct party *party = &step->after->parties[i];
	struct request request = party->request;

	party->request = (struct request){.kind = REQUEST_NONE};
	step->text = text_of(&request);
	step->generation = request.kind >= REQUEST_CANCEL ? request.generation : 0;
	if (i == CLIENT)
		take_client(model, step, i, &request);
	else
		take_owner(model, step, i, &request);
}

/* run: and the reply comes at once, or travels. */
static void run(const struct model *model, const struct state *state, unsigned i,
		const struct request *request, struct steps *steps)
{
	for (unsigned later = 0; later < (may_delay(model, state) ? 2 : 1); later++) {
		struct step *step = step_of(i, state, "'s request is run", steps);
		struct party *party = &step->after->parties[i];

		party->request = *request;
		run_request(step->after, i);
		step->after->spent.delays = (uint8_t)(state->spent.delays + later);
		party->request.stage = STAGE_RUN;
		if (!later)
			take(model, step, i);
	}
}

void request_send(const struct model *model, const struct state *state, unsigned i,
		  struct request request, struct steps *steps)
{
	request.server = state->parties[i].at;
	request.stage = STAGE_SENT;
	run(model, state, i, &request, steps);
	if (may_delay(model, state)) {
		struct state *after = step_of(i, state, text_of(&request), steps)->after;

		after->spent.delays++;
		after->parties[i].request = request;
	}
}

void request_go(const struct model *model, const struct state *state, unsigned i,
		struct steps *steps)
{
	const struct request *request = &state->parties[i].request;

	if (request->stage == STAGE_SENT)
		run(model, state, i, request, steps);
	else if (request->stage == STAGE_RUN)
		take(model, step_of(i, state, "", steps), i);
}
