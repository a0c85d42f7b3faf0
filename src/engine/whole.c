/* What is about the store as a whole: emptying it, and looking it through for damage. */
#include "engine/internal.h"

/* ---- Purge --------------------------------------------------------------------------------- */

/* forget drops a timer that is not being delivered: the store has it no more. One that something is
 * asked for at this moment goes by the answer, which comes after the purge; should that be a
 * failure, the timer must be claimed before it may start, and then it is found gone. None of them
 * is written again should the store lose something. */
static void forget(struct timer *timer, void *user)
{
	struct engine *engine = user;

	timer->purged = timer->state != TIMER_ABSENT;
	if (timer->state != TIMER_PENDING && timer->state != TIMER_CLAIMED)
		return;
	timer_disarm(engine, timer);
	if (timer->busy) {
		timer_set_state(engine, timer, TIMER_PENDING);
		return;
	}
	timer_set_state(engine, timer, TIMER_ABSENT);
	engine_resume(engine, timer);
}

/* doubt: perhaps it is gone, and so it must be claimed again before it may start. */
static void doubt(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (timer->state != TIMER_CLAIMED)
		return;
	timer_disarm(engine, timer);
	timer_set_state(engine, timer, TIMER_PENDING);
	engine_resume(engine, timer);
}

static void purged(struct engine *engine, const dw_op *op)
{
	engine->purging--;
	/* After the ownership was lost and won again memory knows what was read since. */
	if (op->status == DW_OK && own_is_current(engine, op))
		index_each(&engine->index, forget, engine);
	else if (op->status == DW_EUNKNOWN && own_is_current(engine, op))
		index_each(&engine->index, doubt, engine);
	call_answer(engine, op->call, op->status);
}

int engine_purge(struct engine *engine, struct done done)
{
	struct call *call;
	int status;

	if (engine->env.role != DW_OWNER)
		return engine_fail(engine, DW_EROLE,
				   "only the owner of the store may empty it: open as DW_OWNER");
	status = call_new(engine, CALL_PURGE, "", &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	status = call_ask(engine, call, op_new(&engine->alloc, DW_OP_PURGE, NULL, NULL, 0));
	engine->purging += status == DW_OK;
	return status;
}

/* ---- Check --------------------------------------------------------------------------------- */

static void checked(struct engine *engine, struct call *call, const dw_op *op)
{
	dw_check_fn fn = call->on_check;
	void *user = call->on_check_user;
	dw_flaw *flaws = alloc_new(&engine->alloc, (op->row_count + 1) * sizeof *flaws);
	dw_check_report report = {.size = sizeof report,
				  .pending = op->store_status->pending,
				  .claimed = op->store_status->claimed,
				  .dead = op->store_status->dead,
				  .inbox = op->store_status->inbox,
				  .flaw_count = op->count,
				  .flaws = flaws};

	if (!flaws) {
		call_answer(engine, call, DW_ENOMEM);
		return;
	}
	for (const dw_row *row = op->rows; row; row = row->next)
		flaws[report.flaws_shown++] =
		    (dw_flaw){.id = row->id, .generation = row->head.generation, .what = row->body};
	call_free(engine, call);
	engine->callback_depth++;
	fn(engine->env.handle, DW_OK, &report, user);
	engine->callback_depth--;
	alloc_free(&engine->alloc, flaws);
}

int engine_check_store(struct engine *engine, dw_check_fn fn, void *user)
{
	struct call *call;
	int status = call_new(engine, CALL_CHECK, "", &call);

	if (status != DW_OK)
		return status;
	call->on_check = fn;
	call->on_check_user = user;
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_CHECK, NULL, NULL, 0));
}

void whole_answer(struct engine *engine, dw_op *op)
{
	if (op->kind == DW_OP_PURGE)
		purged(engine, op);
	else if (op->status == DW_OK)
		checked(engine, op->call, op);
	else
		call_answer(engine, op->call, op->status);
}
