/* client: puts and cancels on another machine. */
#include "model/server.h"
#include "model/steps.h"

void client_put(const struct model *model, const struct state *state, struct steps *steps)
{
	struct step *step = NULL;
	struct server *server = NULL;

	if (!moves_may_put(model, state, state->spent.client_puts, model->limits.client_puts))
		return;
	step = steps_add(steps, state, "client puts: STORED");
	step->after->spent.client_puts++;
	step->generation = ++step->after->generations;
	server_put(step->after, step->generation, 0);
	step->after->history[step->generation].confirmed = CONFIRMED_STORED;
	server = &step->after->server;
	server->inbox = INBOX_PUT;
	server->inbox_version = server->record.version;
}

/* must_wait: the owner may have claimed the timer locally, so the cancel is certain only when the
 * owner has read the inbox (J16). An owner that has released starts nothing. */
static bool must_wait(const struct model *model, const struct server *server)
{
	return holds(model, RULE_CANCEL_WAITS) && server->fires &&
	       (server->lease || holds(model, RULE_UNRELEASED));
}

void client_cancel(const struct model *model, const struct state *state, struct steps *steps)
{
	const struct record *record = &state->server.record;
	struct step *step = NULL;

	if (model->quiet || state->spent.client_cancels >= model->limits.client_cancels ||
	    state->client.waits || record->kind != RECORD_PENDING)
		return;
	step = steps_add(steps, state, "client cancels: DW_OK");
	step->generation = record->generation;
	step->after->spent.client_cancels++;
	server_delete(step->after);
	step->after->server.inbox = INBOX_DELETED;
	step->after->server.inbox_version = ++step->after->server.version;
	if (record->open) {
		step->text = "client cancels: DW_ELATE, an earlier claim may start";
	} else if (must_wait(model, &state->server)) {
		step->text = "client cancels, and waits for the owner";
		step->after->client.waits = 1;
		step->after->client.generation = step->generation;
	} else {
		step->after->history[step->generation].cancelled = CANCELLED_DONE;
	}
}

void client_give_up(const struct model *model, const struct state *state, struct steps *steps)
{
	if (state->client.waits && !model->quiet)
		steps_add(steps, state, "client has waited too long: DW_EUNKNOWN")
		    ->after->client.waits = 0;
}
