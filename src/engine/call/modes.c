#include "engine/call/modes.h"

#include <string.h>

#include "engine/core.h"
#include "engine/call/lifecycle.h"
#include "timer/record.h"

enum { TRIES_MAX = 100 };

/* What the caller of a put with a mode has asked for. */
struct put_mode {
	unsigned flags; /* dw_timer.flags */
	unsigned tries;
	unsigned outcome; /* the outcome that the answer names if the put is done */
	dw_usec wait_max;
	dw_usec due;
	dw_usec asked; /* wall clock; when the put was accepted */
	size_t size;
	unsigned char body[];
};

/* The result of merging the stored timer and the put. */
struct merged {
	struct record record;
	dw_usec due;
	unsigned char blocks[RECORD_SERIES_SIZE + RECORD_KEEP_SIZE];
};

static struct put_mode *mode_of(const struct call *call)
{
	return call->kind == CALL_PUT ? call->extra : NULL;
}

unsigned modes_outcome(const struct call *call)
{
	const struct put_mode *mode = mode_of(call);

	return mode ? mode->outcome : 0;
}

/* ---- Making -------------------------------------------------------------------------------- */

int modes_make(struct engine *engine, const struct record *record, dw_usec due, struct call *call)
{
	size_t size = record_size(record);
	/* The operation owns its strings: the topic stands behind the body. */
	dw_op *op =
	    op_new(&engine->alloc, DW_OP_PUT, call->id, NULL, size + record->topic_size + 1u);
	char *topic;

	if (!op)
		return DW_ENOMEM;
	record_encode(record, op_room(op));
	if (timer_adopt(engine, record, op->body, &call->fresh) != DW_OK) {
		op_free(&engine->alloc, op);
		return DW_ENOMEM;
	}
	call->fresh->head.due = due;
	call->fresh->storing = true;
	topic = memcpy(op_room(op) + size, record->topic, record->topic_size);
	topic[record->topic_size] = '\0';
	op->head.due = due;
	op->body_size = size;
	op->topic = topic;
	call->op = op;
	return DW_OK;
}

int modes_begin(struct engine *engine, const dw_timer *timer, struct call *call)
{
	const dw_op *op = call->op;
	struct put_mode *mode = alloc_new(&engine->alloc, sizeof *mode + op->body_size);

	if (!mode)
		return DW_ENOMEM;
	*mode = (struct put_mode){.flags = timer->flags,
				  .outcome = DW_PUT_MADE,
				  .wait_max = timer->wait_max_us,
				  .due = timer->due,
				  .asked = engine_now(engine),
				  .size = op->body_size};
	memcpy(mode->body, op->body, op->body_size);
	call->extra = mode;
	call->op->flags |= DW_OP_EXACT;
	return DW_OK;
}

/* ---- Merging ------------------------------------------------------------------------------- */

/* may_take returns true if the put may take parts of the stored timer, because that timer still
 * waits. If the owner has claimed a timer that has not started, the put takes the claim back. A
 * client sees only claims of the owner, and before the deadline no timer has started. If claimed
 * timers were left out, each put that meets a claim would begin a new series, and a stream of puts
 * would outlive wait_max_us. */
static bool may_take(const struct engine *engine, const struct timer *head, const dw_row *row,
		     struct record *ret_record)
{
	struct record_rule rule;
	bool waits =
	    row->head.state == DW_PENDING ||
	    (head->state == TIMER_CLAIMED && head->head.generation == row->head.generation) ||
	    (!engine->shards.all[head->shard].owned && row->head.due > engine_now(engine));

	return waits && record_of_row(row, ret_record) == DW_OK && !record_rule(row->body, &rule);
}

static void write_blocks(struct merged *merged, dw_usec since, dw_usec keep)
{
	size_t size = since ? record_series_write(since, merged->blocks) : 0;

	if (keep)
		size += record_keep_write(keep, merged->blocks + size);
	merged->record.blocks = merged->blocks;
	merged->record.blocks_size = (uint16_t)size;
}

/* merge makes the timer of the next attempt: the put, with the parts of the stored timer that the
 * mode keeps. If stored is NULL, there is nothing to take. If the clock was far ahead when the
 * series began, and was set back since, the series begins now, and the stored deadline does not
 * count. */
static void merge(const struct put_mode *mode, const dw_row *stored, const struct record *was,
		  struct merged *merged)
{
	dw_usec since = stored ? record_series(stored->body) : 0;
	const void *keeps = stored && mode->flags & DW_DATA_FIRST ? stored->body : mode->body;
	bool was_ahead = since > usec_add(mode->asked, DERIVED_AGAIN);

	/* This engine made the body, so it is valid. */
	(void)record_decode(mode->body, mode->size, &merged->record);
	merged->due = mode->due;
	if (stored && mode->flags & DW_DUE_EARLIEST)
		merged->due = usec_min(merged->due, stored->head.due);
	if (stored && mode->flags & DW_DUE_LATEST && !was_ahead)
		merged->due = usec_max(merged->due, stored->head.due);
	if (stored && mode->flags & DW_DATA_FIRST)
		merged->record = *was;
	if (was_ahead || (since == 0 && mode->wait_max > 0))
		since = mode->asked;
	if (mode->wait_max > 0)
		merged->due = usec_min(merged->due, usec_add(since, mode->wait_max));
	write_blocks(merged, since, record_keep(keeps));
}

/* is_kept returns true if the put would change nothing in the store. */
static bool is_kept(const struct call *call, const dw_row *stored)
{
	return call->op->head.due == stored->head.due && call->op->body_size == stored->body_size &&
	       memcmp(call->op->body, stored->body, stored->body_size) == 0;
}

/* drop_fresh frees the timer that the previous attempt has made. If that timer is also the only
 * place for its id, the timer stays. */
static void drop_fresh(struct engine *engine, struct timer *head, struct call *call)
{
	if (call->fresh == head)
		head->storing = false;
	else if (call->fresh)
		timer_release(engine, call->fresh);
	call->fresh = NULL;
}

/* prepare makes the operation of the next attempt. It returns DW_EEXIST if the put would change
 * nothing. */
static int prepare(struct engine *engine, const struct timer *head, struct call *call,
		   const dw_row *row)
{
	struct put_mode *mode = mode_of(call);
	struct record was;
	struct merged merged;
	const dw_row *stored = row && may_take(engine, head, row, &was) ? row : NULL;
	int status;

	merge(mode, stored, &was, &merged);
	status = modes_make(engine, &merged.record, merged.due, call);
	if (status != DW_OK)
		return status;
	mode->outcome = row ? DW_PUT_REPLACED : DW_PUT_MADE;
	if (stored && is_kept(call, stored))
		return DW_EEXIST;
	if (row && !stored)
		return DW_OK; /* the stored timer is not kept in part, so this is a plain put */
	call->op->flags |= DW_OP_EXACT;
	call->op->head.generation = row ? row->head.generation : 0;
	return DW_OK;
}

/* finish answers the call without another attempt. */
static void finish(struct engine *engine, struct timer *head, struct call *call, int status)
{
	drop_fresh(engine, head, call);
	lifecycle_resume(engine, head);
	call_answer(engine, call, status);
}

bool modes_again(struct engine *engine, struct timer *head, struct call *call, const dw_op *op)
{
	struct put_mode *mode = mode_of(call);
	const dw_row *row = op->rows;
	int status = DW_EBUSY;

	if (!mode || !(op->flags & DW_OP_EXACT) ||
	    (op->status != DW_ESTALE && op->status != DW_ENOENT))
		return false;
	drop_fresh(engine, head, call);
	if (mode->tries++ < TRIES_MAX)
		status = prepare(engine, head, call, row);
	if (status == DW_OK) {
		call_charge_anew(&engine->calls, call, call->op, op);
		call->next = head->calls;
		head->calls = call;
		lifecycle_resume(engine, head);
		return true;
	}
	if (status == DW_EEXIST) {
		mode->outcome = DW_PUT_KEPT;
		call->generation = row->head.generation;
		call->due = row->head.due;
		call->level = DW_STORED;
		status = DW_OK;
	}
	finish(engine, head, call, status);
	return true;
}
