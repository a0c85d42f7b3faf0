#include "engine/call/maintenance.h"

#include "base/scope.h"
#include "engine/core.h"
#include "engine/call/lifecycle.h"

/* ---- Purge --------------------------------------------------------------------------------- */

/* is_read_later returns true if the shard of the timer was lost and gained after the purge was
 * sent. Then the timer was read after the purge. Therefore it stays. */
static bool is_read_later(const struct engine *engine, const struct timer *timer)
{
	return engine->shards.all[timer->shard].term > engine->maintenance.term;
}

/* purge_forget drops a timer that the purge has deleted in the store, unless it is being delivered.
 * If the timer has an operation under way, its answer comes after the purge and will change the
 * timer. If that answer is a failure, the timer must be claimed before it may start, and the claim
 * finds it gone. A purged timer is never written again after a loss. */
static void purge_forget(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (is_read_later(engine, timer))
		return;
	timer->deleted = timer->state != TIMER_ABSENT;
	if (timer->state != TIMER_PENDING && timer->state != TIMER_CLAIMED)
		return;
	if (timer->busy) {
		timer_disarm(engine, timer);
		timer_set_state(engine, timer, TIMER_PENDING);
		return;
	}
	timer_drop(engine, timer);
	lifecycle_resume(engine, timer);
}

/* purge_doubt is called when nobody knows whether the purge was done. Therefore a claimed timer
 * must be claimed again. */
static void purge_doubt(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (timer->state != TIMER_CLAIMED || is_read_later(engine, timer))
		return;
	timer_doubt(engine, timer);
	lifecycle_resume(engine, timer);
}

static void purge_forgotten(struct engine *engine)
{
	struct call *call = engine->maintenance.purged;

	engine->maintenance.purging--;
	call_answer(engine, call, call->status);
}

void maintenance_purged(struct engine *engine, dw_op *op)
{
	static const struct walker forgetter = {purge_forget, purge_forgotten};
	static const struct walker doubter = {purge_doubt, purge_forgotten};
	struct call *call = ticket_of(op)->call;

	call->level = op->level;
	call->status = op->status;
	engine->maintenance.purged = call;
	engine->maintenance.term = ticket_of(op)->term;
	if (!ownership_is_current(&engine->ownership, op) ||
	    (op->status != DW_OK && op->status != DW_EUNKNOWN))
		purge_forgotten(engine);
	else
		walk_begin(&engine->walk, op->status == DW_OK ? &forgetter : &doubter);
}

int engine_purge(struct engine *engine, struct done done)
{
	struct call *call;
	int status;

	if (engine->ownership.role != DW_OWNER)
		return engine_fail(engine, DW_EROLE,
				   "only the owner of the store may empty it: open as DW_OWNER");
	if (engine->env.is_peer && engine->shards.owned < engine->shards.count)
		return engine_fail(engine, DW_EOWNED,
				   "other peers have %u of %u shards: stop them, or empty the "
				   "store when this one has them all",
				   engine->shards.count - engine->shards.owned,
				   engine->shards.count);
	status = call_new(engine, CALL_PURGE, "", &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	status = call_ask(engine, call, op_new(&engine->alloc, DW_OP_PURGE, NULL, NULL, 0));
	engine->maintenance.purging += status == DW_OK;
	return status;
}

/* ---- Check --------------------------------------------------------------------------------- */

/* The flaws that the check has found, in the form that the callback gets. */
struct flaws {
	struct engine *engine;
	dw_flaw *shown;
};

static void free_flaws(struct flaws *flaws)
{
	alloc_free(&flaws->engine->alloc, flaws->shown);
}

static dw_check_report report_of(const dw_op *op, dw_flaw *flaws)
{
	dw_check_report report = {.size = sizeof report,
				  .pending = op->store_status->pending,
				  .claimed = op->store_status->claimed,
				  .dead = op->store_status->dead,
				  .inbox = op->store_status->inbox,
				  .flaw_count = op->count,
				  .flaws = flaws};

	for (const dw_row *row = op->rows; row; row = row->next)
		flaws[report.flaws_shown++] =
		    (dw_flaw){.id = row->id, .generation = row->head.generation, .what = row->body};
	return report;
}

void maintenance_show_check(struct engine *engine, const struct call *call)
{
	struct flaws flaws AT_END(free_flaws) = {.engine = engine};
	dw_check_report report;
	int status = call->status;

	if (status == DW_OK)
		flaws.shown =
		    alloc_new(&engine->alloc, (call->op->row_count + 1) * sizeof *flaws.shown);
	if (status == DW_OK && !flaws.shown)
		status = DW_ENOMEM;
	if (status == DW_OK)
		report = report_of(call->op, flaws.shown);
	call->check_asker.fn(engine->env.handle, status, status == DW_OK ? &report : NULL,
			     call->check_asker.user);
}

int engine_check_store(struct engine *engine, dw_check_fn fn, void *user)
{
	struct call *call;
	int status = call_new(engine, CALL_CHECK, "", &call);

	if (status != DW_OK)
		return status;
	call->check_asker = (struct check_asker){fn, user};
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_CHECK, NULL, NULL, 0));
}
