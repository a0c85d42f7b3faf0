/* client: its calls. */
#include "model/failover/named.h"
#include "model/failover/steps.h"

void client_cancel(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state called = *state;

	if (model->quiet || !is_idle(state, CLIENT) || !state->parties[CLIENT].trust ||
	    state->spent.cancels >= model->limits.cancels)
		return;
	called.spent.cancels++;
	request_send(model, &called, CLIENT, (struct request){.kind = REQUEST_CANCEL}, steps);
}

/* client_put: it may replace only if the server is in effect for sure. */
void client_put(const struct model *model, const struct state *state, struct steps *steps)
{
	struct state called = *state;
	const struct party *party = &state->parties[CLIENT];

	if (model->quiet || !is_idle(state, CLIENT) || state->spent.puts >= model->limits.puts ||
	    state->generations + 1u >= GENERATIONS || !named_left(model, state, CLIENT, party->at))
		return;
	called.spent.puts++;
	request_send(model, &called, CLIENT,
		     (struct request){.kind = REQUEST_PUT,
				      .generation = ++called.generations,
				      .may_replace = party->trust > 0,
				      .lapsed = !party->trust},
		     steps);
}

/* is_sure: the server was in effect from the sending of the request to now. */
static bool is_sure(const struct model *model, const struct state *state,
		    const struct request *request)
{
	const struct party *party = &state->parties[CLIENT];

	if (!party->trust)
		return !holds(model, RULE_REPLY);
	return !request->lapsed || !holds(model, RULE_LAPSED);
}

static void end_earlier(struct state *state, uint8_t generation, uint8_t server)
{
	for (uint8_t i = 1; i < generation; i++) {
		promises_changed(state, i, server);
		state->history[i].over = 2;
	}
}

/* take_client: a put that found nothing is confirmed while its server is named at all. */
void take_client(const struct model *model, struct step *step, unsigned i,
		 const struct request *request)
{
	struct state *after = step->after;
	bool sure = is_sure(model, after, request);

	if (request->reply != REPLY_OK)
		return;
	if (!sure && !(request->kind == REQUEST_PUT && request->is_new &&
		       named_left(model, after, i, request->server))) {
		step->text = "does not know what has become of its call";
		return;
	}
	if (sure)
		step->broken = promises_effect(after, request->server);
	if (request->kind == REQUEST_CANCEL && !request->is_new)
		after->history[request->generation].over = 1;
	else if (request->kind == REQUEST_CANCEL && model->absent && sure)
		end_earlier(after, GENERATIONS, request->server);
	else if (request->kind == REQUEST_PUT && !request->is_new && request->seen)
		after->history[request->seen].over = 2;
	else if (request->kind == REQUEST_PUT && request->is_new && (model->strict || sure))
		end_earlier(after, request->generation, request->server);
}
