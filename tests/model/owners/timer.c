/* timer: what an owner does with the timer. */
#include "model/owners/steps.h"

void learn(struct state *state, unsigned i)
{

	struct party *party = &state->parties[i];
	struct data *data = &state->server.data;
	const struct record *record = &data->record;

	if (!record->kind && party->dead < data->version)
		party->dead = data->version;
	data->inbox = 0;
	party->seen = data->version;
	party->timer = (struct timer){.kind = TIMER_NONE};
	if (record->kind)
		party->timer = (struct timer){TIMER_PENDING, record->generation, record->version,
					      record->attempt};
}

static struct request request_of(const struct state *state, unsigned i, enum request_kind kind)
{
	const struct party *party = &state->parties[i];

	return (struct request){.kind = (uint8_t)kind,
				.token = token_of(state, i, party->fence),
				.generation = party->timer.generation,
				.version = party->timer.version,
				.attempt = party->timer.attempt,
				.number = party->mark};
}

void timer_claim(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct party *before = &state->parties[i];

	(void)model;
	if (!is_at_work(state, i) || before->timer.kind != TIMER_PENDING)
		return;
	send_request(&step_of(i, state, "claims", steps)->after->parties[i],
		     request_of(state, i, REQUEST_CLAIM));
}

void timer_start(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct party *before = &state->parties[i];
	struct step *step = NULL;

	(void)model;
	if (!before->up || !before->lease || before->restores ||
	    before->timer.kind != TIMER_CLAIMED)
		return;
	step = step_of(i, state, "STARTS", steps);
	step->generation = before->timer.generation;
	step->attempt = before->timer.attempt;
	step->broken = promises_start(step->after, i);
	step->after->parties[i].timer.kind = TIMER_RUNNING;
}

/* timer_end: the handler is done, or the timer recurs. */
void timer_end(const struct model *model, const struct state *state, unsigned i,
	       struct steps *steps)
{
	struct state *after = NULL;
	struct request request;

	if (!is_at_work(state, i) || state->parties[i].timer.kind != TIMER_RUNNING)
		return;
	request = request_of(state, i, REQUEST_SETTLE);
	send_request(&step_of(i, state, "settles", steps)->after->parties[i], request);
	if (model->quiet || state->spent.nexts >= model->limits.nexts ||
	    state->generations + 1u >= GENERATIONS)
		return;
	request.kind = REQUEST_NEXT;
	after = step_of(i, state, "sends NEXT", steps)->after;
	after->spent.nexts++;
	request.generation = ++after->generations;
	send_request(&after->parties[i], request);
}

void timer_inbox(const struct model *model, const struct state *state, unsigned i,
		 struct steps *steps)
{
	const struct record *record = &state->server.data.record;
	const struct timer *timer = &state->parties[i].timer;
	struct state *after = NULL;

	if (!is_at_work(state, i) || !state->server.data.inbox || timer->kind > TIMER_CLAIMED ||
	    state->server.data.mark != state->parties[i].mark ||
	    !same_token(state->server.data.lease, token_of(state, i, state->parties[i].fence)))
		return;
	after = step_of(i, state, "reads the inbox and acknowledges it", steps)->after;
	after->server.data.inbox = 0;
	if (model->limits.losses) { /* else nothing depends on the number of this command */
		after->server.data.mark++;
		after->parties[i].mark++;
	}
	if (timer->kind != TIMER_CLAIMED || record->version != timer->version)
		learn(after, i);
}

/* learn_again: memory was wrong. Who is not the owner any more, learns that with its renewal. */
static void learn_again(struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];

	party->timer = (struct timer){.kind = TIMER_NONE};
	if (same_token(state->server.data.lease, token_of(state, i, party->fence)))
		learn(state, i);
}

static void settled(struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];
	const struct request *request = &party->request;

	state->history[party->timer.generation].settled = 1;
	party->dead = party->timer.version;
	party->timer = (struct timer){.kind = TIMER_NONE};
	if (request->kind != REQUEST_NEXT)
		return;
	state->history[request->generation].confirmed = 1;
	party->seen = party->reply_version;
	party->timer = (struct timer){TIMER_PENDING, request->generation, party->seen, 0};
}

static void written(struct state *state, unsigned i)
{
	struct party *party = &state->parties[i];

	party->restores = party->writes = 0;
	party->seen = state->server.data.version;
	if (state->server.keeper == i + 1)
		state->server.keeper = state->server.stale = 0;
	if (party->reply == REPLY_GONE)
		learn_again(state, i);
}

void answer_timer(struct step *step, unsigned i)
{
	struct party *party = &step->after->parties[i];

	if (party->reply == REPLY_FENCED)
		return;
	if (party->reply_number > party->mark)
		party->mark = party->reply_number;
	if (party->request.kind == REQUEST_WRITE) {
		written(step->after, i);
	} else if (party->reply == REPLY_GONE) {
		learn_again(step->after, i);
	} else if (party->request.kind == REQUEST_CLAIM) {
		party->timer.kind = TIMER_CLAIMED;
		party->timer.attempt++;
	} else if (party->request.kind != REQUEST_RELEASE) {
		settled(step->after, i);
	}
}

void request_answer(const struct model *model, const struct state *state, unsigned i,
		    struct steps *steps)
{
	struct step *step = NULL;
	struct party *party = NULL;
	uint8_t kind = state->parties[i].request.kind;

	if (!state->parties[i].up || state->parties[i].stage != STAGE_RUN)
		return;
	step = step_of(i, state, "gets the reply", steps);
	party = &step->after->parties[i];
	party->stage = STAGE_IDLE;
	if (kind == REQUEST_ACQUIRE)
		answer_acquire(model, step, i);
	else if (kind == REQUEST_RENEW)
		answer_renew(model, step, i);
	else if (kind == REQUEST_GIVE)
		answer_give(model, step, i);
	else
		answer_timer(step, i);
	if (party->stage == STAGE_IDLE)
		party->request = (struct request){.kind = REQUEST_NONE};
	party->reply = party->reply_number = party->reply_version = 0;
	party->reply_seen = (struct sight){.fence = 0};
}

/* ---- The client ---------------------------------------------------------------------------- */

static uint8_t next_version(struct server *server)
{
	if (server->is_behind)
		++server->data.version;
	else
		server->data.version = ++server->versions;
	if (server->versions < server->data.version)
		server->versions = server->data.version;
	return server->data.version;
}

/* end_all: a put or a cancel of the id ends what was to start, also what the server has lost. */
static void end_all(struct state *state)
{
	for (unsigned i = 1; i < GENERATIONS; i++)
		state->history[i].ended = i <= state->generations;
}

void client_put(const struct model *model, const struct state *state, struct steps *steps)
{
	struct step *step = NULL;
	struct data *data = NULL;
	struct record *record = NULL;

	if (model->quiet || !state->server.up || state->spent.puts >= model->limits.puts ||
	    state->generations + 1u >= GENERATIONS)
		return;
	step = steps_add(steps, state, "the client puts");
	step->after->spent.puts++;
	end_all(step->after);
	step->generation = ++step->after->generations;
	data = &step->after->server.data;
	record = &data->record;
	*record = (struct record){.kind = RECORD_PENDING,
				  .generation = step->generation,
				  .version = next_version(&step->after->server),
				  .open = record->kind == RECORD_CLAIMED || record->open};
	data->inbox = record->version;
	/* If its clock is behind, what a client puts before the owner is back is lost. */
	step->after->history[step->generation].confirmed =
	    !(state->server.is_behind && state->server.stale == 1);
}

/* What was cancelled before an owner has noticed a loss, may have been claimed in what is lost. */
void client_cancel(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct record *record = &state->server.data.record;
	struct step *step = NULL;
	struct data *data = NULL;

	if (model->quiet || !state->server.up || record->kind != RECORD_PENDING ||
	    state->spent.cancels >= model->limits.cancels)
		return;
	step = steps_add(steps, state,
			 record->open ? "the client cancels: too late" : "the client cancels: OK");
	step->after->spent.cancels++;
	step->generation = record->generation;
	data = &step->after->server.data;
	end_all(step->after);
	step->after->history[record->generation].cancelled =
	    !record->open && state->server.stale != 1;
	data->inbox = next_version(&step->after->server);
	data->record = (struct record){.kind = RECORD_NONE};
}
