#include "engine/core.h"

#include "port/driven.h"

void submit_push(struct submit *submit, dw_op *op, bool urgent)
{
	ticket_of(op)->urgent = urgent;
	op_queue_push(urgent ? &submit->urgent : &submit->ordinary, op);
}

void submit_round(struct engine *engine)
{
	struct op_queue batch = {0};
	size_t window = driven_window(engine->store);
	dw_usec steady = engine_steady(engine);
	uint64_t urgent_count = engine->submit.urgent.count;

	if (!submit_owes_answers(&engine->submit))
		engine->submit.progress_at = steady;
	engine->submit.urgent_inflight += (uint32_t)urgent_count;
	op_queue_append(&batch, op_queue_take(&engine->submit.urgent));
	while (engine->submit.ordinary.count > 0 && engine->submit.ordinary_inflight < window) {
		dw_op *op = op_queue_pop(&engine->submit.ordinary);

		/* A long poll is not counted, because its answer may take for ever. */
		engine->submit.ordinary_inflight += !op_is_parked(op);
		op_queue_push(&batch, op);
	}
	if (batch.count == 0)
		return;
	for (dw_op *op = batch.first; op; op = op->next) {
		struct ticket *ticket = ticket_of(op);

		ticket->sent = steady;
		ticket->term = engine->shards.terms;
		ticket->batch = urgent_count;
	}
	engine->stats.store_operations += batch.count;
	engine->store->type->submit(engine->store, batch.first);
}

void submit_collect(struct engine *engine)
{
	op_queue_append(&engine->submit.answers, engine->store->type->collect(engine->store));
}

void submit_answered(struct engine *engine, const dw_op *op)
{
	struct submit *submit = &engine->submit;
	const struct ticket *ticket = ticket_of_const(op);

	submit->progress_at = engine_steady(engine);
	late_answered(&submit->late, ticket->late);
	if (ticket->urgent)
		submit->urgent_inflight--;
	else if (!op_is_parked(op))
		submit->ordinary_inflight--;
	if (ticket->urgent && op->status == DW_OK)
		lead_learn(&engine->lead, submit->progress_at - ticket->sent, ticket->batch);
}

bool submit_has_room(const struct engine *engine)
{
	return engine->submit.ordinary_inflight < driven_window(engine->store);
}

dw_usec submit_lead(const struct engine *engine)
{
	uint64_t claimed = engine->timers.claimed + engine->submit.urgent_inflight;

	/* Timers that wait for a worker are claimed and already due. */
	if (timers_have_work(&engine->timers))
		claimed -= schedule_count(&engine->timers.work);
	return lead_now(&engine->lead, claimed);
}

/* ---- Refusing ------------------------------------------------------------------------------ */

/* is_owners returns true if only an owner may ask for this operation. */
static bool is_owners(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_CLAIM:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
	case DW_OP_BURY:
	case DW_OP_NEXT:
	case DW_OP_DISOWN:
	case DW_OP_INBOX:
	case DW_OP_ACK:
	case DW_OP_REPORT:
	case DW_OP_TOPIC_COUNT:
	case DW_OP_PURGE:
	case DW_OP_LOSS:
	case DW_OP_REPUSH:
	case DW_OP_AUDIT:
	case DW_OP_GIVE:
		return true;
	case DW_OP_SCAN:
	case DW_OP_TOPIC_LIST:
		return !ticket_of_const(op)->call;
	default:
		return false;
	}
}

/* refuse answers the queued operations on this shard, or on all, that only an owner may ask for.
 * The answers belong to the term that has ended. */
static void refuse(struct engine *engine, struct op_queue *queue, uint32_t *inflight, int shard)
{
	struct submit *submit = &engine->submit;
	dw_op *op = op_queue_take(queue);

	while (op) {
		dw_op *next = op->next;

		bool is_meant = shard < 0 || (op->id && driven_shard_of(engine->store, op->id) ==
							    (unsigned)shard);

		if (is_meant)
			op->flags &= ~(DW_OP_CLAIMED | DW_OP_WITHDRAWN);
		if (is_meant && is_owners(op)) {
			op->status = DW_EFENCED;
			ticket_of(op)->term = 0;
			*inflight +=
			    !op_is_parked(op); /* counted as if submitted: see submit_answered() */
			op_queue_push(&submit->answers, op);
		} else {
			op_queue_push(queue, op);
		}
		op = next;
	}
}

void submit_refuse_all(struct engine *engine)
{
	refuse(engine, &engine->submit.urgent, &engine->submit.urgent_inflight, -1);
	refuse(engine, &engine->submit.ordinary, &engine->submit.ordinary_inflight, -1);
}

void submit_refuse_shard(struct engine *engine, unsigned shard)
{
	refuse(engine, &engine->submit.urgent, &engine->submit.urgent_inflight, (int)shard);
	refuse(engine, &engine->submit.ordinary, &engine->submit.ordinary_inflight, (int)shard);
}

static void free_ops(struct alloc *alloc, dw_op *op)
{
	while (op) {
		dw_op *next = op->next;

		op_free(alloc, op);
		op = next;
	}
}

void submit_free(struct engine *engine)
{
	free_ops(&engine->alloc, engine->submit.urgent.first);
	free_ops(&engine->alloc, engine->submit.ordinary.first);
	free_ops(&engine->alloc, engine->submit.answers.first);
}
