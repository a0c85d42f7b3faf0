#include "engine/call/dead_letters.h"

#include <string.h>

#include "base/scope.h"
#include "engine/call/arguments.h"
#include "engine/core.h"
#include "engine/call/pages.h"
#include "timer/record.h"

static dw_dead letter_of(const dw_row *row, char *topic)
{
	dw_dead letter = {.size = sizeof letter,
			  .id = row->id,
			  .generation = row->head.generation,
			  .topic = topic,
			  .reason = row->reason,
			  .at = row->at,
			  .due = row->head.due,
			  .attempt = row->head.attempt,
			  .retries = row->head.retries,
			  .crashes = row->head.crashes,
			  .damaged = row->status == DW_ECORRUPT};
	struct record_rule rule;
	struct record record;
	int status = record_decode(row->body, row->body_size, &record);

	if (status == DW_ECORRUPT) {
		letter.damaged = 1;
		return letter;
	}
	letter.newer = status == DW_ENEWER && !letter.damaged;
	memcpy(topic, record.topic, record.topic_size);
	letter.late_after_us = record.late_after;
	letter.data = record.data;
	letter.data_size = record.data_size;
	letter.why = row->why;
	if (status == DW_OK && record_rule(row->body, &rule)) {
		letter.rule = rule.text;
		letter.occurrence = rule.occurrence;
	}
	return letter;
}

void dead_letters_show(struct engine *engine, const struct call *call)
{
	struct page page AT_END(page_free) = {.engine = engine};
	struct dead_lister lister = call->dead_lister;
	const dw_op *op = call->op;
	int status = call->status;
	dw_dead *letters;
	size_t count = 0;
	dw_cursor next;

	if (status == DW_OK)
		/* One item more, so that an empty page is not NULL. */
		status = page_new(&page, op->row_count + 1, sizeof *letters);
	if (status != DW_OK) {
		lister.fn(engine->env.handle, status, NULL, 0, NULL, lister.user);
		return;
	}
	letters = page.items;
	next = op->after;
	for (const dw_row *row = op->rows; row; row = row->next, count++)
		letters[count] = letter_of(row, page.topics[count]);
	next.lacks = (op->flags & DW_OP_LACKS) != 0;
	next.ended = op->id || (op->row_count < op->limit && !(op->flags & DW_OP_PART));
	lister.fn(engine->env.handle, DW_OK, letters, count, &next, lister.user);
}

/* ---- Asking -------------------------------------------------------------------------------- */

static dw_op *dead_scan_op(struct engine *engine, const dw_dead_select *select,
			   const dw_cursor *after, size_t limit)
{
	dw_op *op;

	if (select->id)
		op = op_new(&engine->alloc, DW_OP_DEAD_SCAN, select->id, NULL, 0);
	else
		op = page_op(&engine->alloc, DW_OP_DEAD_SCAN, select->topic, after, limit);
	if (op && select->id)
		op->limit = 1;
	if (op && select->partial)
		op->flags |= DW_OP_PARTIAL;
	return op;
}

int engine_dead_list(struct engine *engine, const dw_dead_select *select, const dw_cursor *after,
		     size_t limit, struct dead_lister lister)
{
	struct call *call;
	int status = page_limit(engine, limit, "dead letters");

	if (status == DW_OK)
		status = call_new(engine, CALL_DEAD_LIST, select->id ? select->id : "", &call);
	if (status != DW_OK)
		return status;
	call->dead_lister = lister;
	return call_ask(engine, call, dead_scan_op(engine, select, after, limit));
}

int engine_dead_drop(struct engine *engine, const char *id, uint64_t generation, struct done done)
{
	struct call *call;
	dw_op *op;
	int status = id ? arguments_letter(id, engine->events.error) : DW_OK;

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_DROP, id ? id : "", &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	op = op_new(&engine->alloc, DW_OP_DROP, id, NULL, 0);
	if (op)
		op->head.generation = generation;
	return call_ask(engine, call, op);
}
