#include "engine/answers.h"

#include <assert.h>

#include "engine/due/batches.h"
#include "engine/core.h"
#include "engine/heal/damaged.h"
#include "engine/heal/loss.h"
#include "engine/queue/messages.h"
#include "engine/queue/registry.h"
#include "engine/queue/takes.h"

/* is_failure returns true if the store was not able to do the operation. A refusal by a full queue,
 * or a full list of peers, is a result and not a failure. */
static bool is_failure(const dw_op *op)
{
	return answers_failed(op->status) && op->status != DW_ECLOSED &&
	       !((op->kind == DW_OP_PUSH || op->kind == DW_OP_OWN) && op->status == DW_ELIMIT);
}

/* account counts the answer, and reports that the store fails or works again. */
static void account(struct engine *engine, const dw_op *op)
{
	bool failed = is_failure(op);

	submit_answered(engine, op);
	if (failed)
		event_note_error(engine, op->status);
	if (failed && !ticket_of_const(op)->call)
		trouble_failed(engine, op->status, op->id);
	else if (op->status == DW_OK || op->status == DW_EOWNED || op->status == DW_EFENCED ||
		 op->status == DW_ENEWER)
		trouble_over(&engine->trouble);
}

/* report_repair reports that the store has repaired itself, because the operator should look at the
 * disk. */
static void report_repair(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT};

	event_raise(engine, &event,
		    "the store was damaged and has been repaired from its timers: check the disk");
}

static void list_answered(struct engine *engine, dw_op *op)
{
	const struct call *call = ticket_of(op)->call;

	if (!call)
		registry_answered(engine, op);
	else if (call->kind == CALL_TAKE)
		takes_answered(engine, op);
	else
		call_answer_ask(engine, op);
}

/* topic_answered handles answers about topics and messages. It returns false if the answer is about
 * something else, or if a timer in memory waits for the answer. */
static bool topic_answered(struct engine *engine, dw_op *op)
{
	switch (op->kind) {
	case DW_OP_TOPIC_SET:
	case DW_OP_TOPIC_DROP:
		registry_changed(engine, op);
		return true;
	case DW_OP_TOPIC_LIST:
		list_answered(engine, op);
		return true;
	case DW_OP_AWAIT:
	case DW_OP_TAKE:
		takes_answered(engine, op);
		return true;
	case DW_OP_PUSH:
		if (op->id)
			return false;
		messages_pushed(engine, op);
		return true;
	case DW_OP_ANSWER:
	case DW_OP_LETTER:
		messages_answered(engine, op);
		return true;
	default:
		return false;
	}
}

/* store_answered handles answers that concern no timer in memory. It returns false if a timer in
 * memory waits for the answer. */
static bool store_answered(struct engine *engine, dw_op *op)
{
	switch (op->kind) {
	case DW_OP_SCAN:
		(ticket_of(op)->call ? call_answer_ask : recovery_scanned)(engine, op);
		return true;
	case DW_OP_AUDIT:
		recovery_audited(engine, op);
		return true;
	case DW_OP_INBOX:
		recovery_inbox_read(engine, op);
		return true;
	case DW_OP_GET:
	case DW_OP_ENDED:
	case DW_OP_DUE:
	case DW_OP_STATUS:
	case DW_OP_DEAD_SCAN:
	case DW_OP_DROP:
	case DW_OP_CHECK:
	case DW_OP_MEMBERS:
	case DW_OP_FACTS:
		call_answer_ask(engine, op);
		return true;
	case DW_OP_OWN:
	case DW_OP_DISOWN:
		ownership_answered(engine, op);
		return true;
	case DW_OP_PURGE:
		maintenance_purged(engine, op);
		return true;
	case DW_OP_REPORT:
		damaged_dropped(engine, op);
		return true;
	case DW_OP_LOSS:
		restore_asked(engine, op);
		return true;
	case DW_OP_GIVE:
		giving_answered(engine, op);
		return true;
	case DW_OP_REPUSH:
		restore_written(engine, op);
		return true;
	case DW_OP_TOPIC_COUNT:
	case DW_OP_ACK:
		return true;
	default:
		return topic_answered(engine, op);
	}
}

/* read_again_if_past reads the shard again if the answer belongs to an earlier term. The operation
 * may have changed the stored timer after this term's owner has read it. The function is called
 * before the answer changes the timer. */
static void read_again_if_past(struct engine *engine, const struct timer *timer, const dw_op *op)
{
	bool is_done = op->status == DW_OK || op->status == DW_EUNKNOWN;

	if (is_done && engine->shards.all[timer->shard].owned &&
	    !shards_is_current(&engine->shards, timer->shard, op))
		shards_read_again(engine, timer->shard);
}

static void answered(struct engine *engine, dw_op *op)
{
	struct timer *head;

	account(engine, op);
	if (op->flags & DW_OP_MENDED)
		report_repair(engine);
	if (op->status == DW_EFENCED)
		ownership_fenced(engine, op);
	if (store_answered(engine, op))
		return;
	if (op->kind == DW_OP_BURY && op->reason == DW_REASON_CORRUPT) {
		damaged_buried(engine, op);
		return;
	}
	head = index_find(&engine->timers.index, op->id);
	assert(head && head->busy);
	(void)loss_meets(engine, head); /* the timer is busy, so it stays */
	read_again_if_past(engine, head, op);
	timer_set_busy(&engine->shards, head, false);
	head->judging = false;
	if (head->claiming)
		batches_claimed(engine, head);
	if (answers_failed(op->status) && engine->trouble.declared)
		/* The store is away, so the waiting calls would also fail. */
		calls_fail(engine, head);
	if (op->kind == DW_OP_PUT)
		answers_put(engine, head, op);
	else if (op->kind == DW_OP_CANCEL)
		answers_cancel(engine, head, op);
	else if (op->kind == DW_OP_PUSH)
		messages_fired(engine, head, op);
	else if (op->kind == DW_OP_MOVE || op->kind == DW_OP_REQUEUE)
		answers_move(engine, head, op);
	else
		answers_delivery(engine, head, op);
}

void answers_fetch(const struct engine *engine)
{
	const dw_op *op = engine->submit.answers.first;
	const char *ids[FETCHED_AHEAD];
	int count = 0;

	for (int i = 0; op && i < FETCHED_AHEAD; i++, op = op->next)
		if (op->id)
			ids[count++] = op->id;
	timers_fetch(&engine->timers, ids, count);
}

bool answers_next(struct engine *engine)
{
	dw_op *op = op_queue_pop(&engine->submit.answers);

	if (!op)
		return false;
	answered(engine, op);
	if (!call_has(op))
		op_free(&engine->alloc, op);
	return true;
}
