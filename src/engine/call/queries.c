#include "engine/call/queries.h"

#include <string.h>

#include "base/scope.h"
#include "base/usec.h"
#include "engine/call/arguments.h"
#include "engine/core.h"
#include "engine/heal/damaged.h"
#include "engine/call/pages.h"
#include "timer/ended.h"
#include "timer/record.h"

/* show_row fills item `count` of the page. It returns false if the row is damaged; a damaged row
 * gets no item. */
static bool show_row(struct page *page, size_t count, const dw_row *row)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT, .id = row->id};
	struct engine *engine = page->engine;
	dw_info *info = (dw_info *)page->items + count;
	char words[RECORD_WORDS_SIZE];
	struct record_rule rule;
	struct record record;
	int status = record_of_row(row, &record);

	if (status == DW_ECORRUPT) {
		engine->stats.corrupt++;
		event_raise_now(engine, &event, "%s %s: it is not listed", row->id,
				damaged_flaw(row, words));
		return false;
	}
	memcpy(page->topics[count], record.topic, record.topic_size);
	*info = (dw_info){.size = sizeof *info,
			  .id = row->id,
			  .topic = page->topics[count],
			  .state = status == DW_ENEWER ? DW_NEWER : (dw_state)row->head.state,
			  .due = row->head.due,
			  .generation = row->head.generation,
			  .attempt = row->head.attempt,
			  .retries = row->head.retries,
			  .late_after_us = record.late_after,
			  .data = record.data,
			  .data_size = record.data_size,
			  .why = row->why};
	if (status == DW_OK && record_rule(row->body, &rule)) {
		info->rule = rule.text;
		info->occurrence = rule.occurrence;
		info->rule_end = rule.until;
		info->missed = rule.missed;
	}
	if (status == DW_OK)
		info->keep_us = record_keep(row->body);
	return true;
}

/* query_show_page takes the cursor from the store's answer, because a damaged row may contain
 * anything. */
void query_show_page(struct engine *engine, const struct call *call)
{
	struct page page AT_END(page_free) = {.engine = engine};
	const dw_op *op = call->op;
	int status = call->status;
	size_t count = 0;
	dw_cursor next;

	if (status == DW_OK)
		status = page_new(&page, op->row_count, sizeof(dw_info));
	if (status != DW_OK) {
		call->lister.fn(engine->env.handle, status, NULL, 0, NULL, call->lister.user);
		return;
	}
	next = op->after;
	for (const dw_row *row = op->rows; row; row = row->next)
		count += show_row(&page, count, row);
	next.lacks = (op->flags & DW_OP_LACKS) != 0;
	next.ended =
	    op->kind == DW_OP_GET || (op->row_count < op->limit && !(op->flags & DW_OP_PART));
	call->lister.fn(engine->env.handle, DW_OK, page.items, count, &next, call->lister.user);
}

void query_show_status(struct engine_env *env, const struct call *call)
{
	const dw_store_status *status = call->status == DW_OK ? call->op->store_status : NULL;

	call->on_status(env->handle, call->status, status, call->on_status_user);
}

/* query_show_due copies the counts, because the bytes of a row may stand at any address. */
void query_show_due(struct engine_env *env, const struct call *call)
{
	const dw_row *row = call->status == DW_OK ? call->op->rows : NULL;
	uint64_t counts[DW_DUE_BOUNDS_MAX - 1];
	dw_due_counts due = {.size = sizeof due, .counts = counts};

	if (row) {
		memcpy(counts, row->body, row->body_size);
		due.count = row->body_size / sizeof *counts;
		due.whole_to = call->op->after.due;
		memcpy(&due.from, call->op->body, sizeof due.from);
	}
	call->due_asker.fn(env->handle, call->status, row ? &due : NULL, call->due_asker.user);
}

void query_show_end(struct engine_env *env, const struct call *call)
{
	const dw_row *row = call->status == DW_OK ? call->op->rows : NULL;
	struct ended_names names;
	dw_ended ended;
	int status = call->status;

	if (row && !ended_read(row->body, row->body_size, &ended, &names))
		status = DW_ECORRUPT;
	ended.id = call->id;
	call->end_asker.fn(env->handle, status, status == DW_OK ? &ended : NULL,
			   call->end_asker.user);
}

/* ---- Asking -------------------------------------------------------------------------------- */

int engine_get(struct engine *engine, const char *id, struct lister lister)
{
	struct call *call;
	int status = arguments_id(id, engine->events.error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_LIST, id, &call);
	if (status != DW_OK)
		return status;
	call->lister = lister;
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_GET, id, NULL, 0));
}

int engine_ended(struct engine *engine, const char *id, struct end_asker asker)
{
	struct call *call;
	int status = arguments_id(id, engine->events.error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_ENDED, id, &call);
	if (status != DW_OK)
		return status;
	call->end_asker = asker;
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_ENDED, id, NULL, 0));
}

/* scan_op makes the operation that asks for a page of the selected timers. It returns NULL if there
 * is no memory. */
static dw_op *scan_op(struct alloc *alloc, const dw_select *select, const dw_cursor *after,
		      size_t limit)
{
	/* The cursor stands behind every generation of the deadline due_from - 1, so the page
	 * begins at due_from. */
	const dw_cursor from = {
	    .due = usec_sub(select->due_from, 1), .generation = INT64_MAX, .started = 1};
	const char *prefix = select->id_prefix ? select->id_prefix : "";
	/* The operation owns its strings: the topic is stored where an id would be. */
	dw_op *op = op_new(alloc, DW_OP_SCAN, select->topic, prefix, strlen(prefix));

	if (!op)
		return NULL;
	op->topic = op->id;
	op->id = NULL;
	op->limit = limit;
	op->head.due = select->due_to;
	op->head.state = (uint8_t)select->states;
	op->flags =
	    (select->recurring ? DW_OP_RECURRING : 0) | (select->partial ? DW_OP_PARTIAL : 0);
	if (after && after->started)
		op->after = *after;
	else if (select->due_from)
		op->after = from;
	return op;
}

int engine_list(struct engine *engine, const dw_select *select, const dw_cursor *after,
		size_t limit, struct lister lister)
{
	struct call *call;
	int status = page_limit(engine, limit, "timers");

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_LIST, "", &call);
	if (status != DW_OK)
		return status;
	call->lister = lister;
	return call_ask(engine, call, scan_op(&engine->alloc, select, after, limit));
}

int engine_count_due(struct engine *engine, const dw_usec *bounds, size_t count,
		     struct due_asker asker)
{
	struct call *call;
	int status = call_new(engine, CALL_DUE, "", &call);

	if (status != DW_OK)
		return status;
	call->due_asker = asker;
	return call_ask(engine, call,
			op_new(&engine->alloc, DW_OP_DUE, NULL, bounds, count * sizeof *bounds));
}

int engine_status(struct engine *engine, dw_status_fn fn, void *user)
{
	struct call *call;
	int status = call_new(engine, CALL_STATUS, "", &call);

	if (status != DW_OK)
		return status;
	call->on_status = fn;
	call->on_status_user = user;
	return call_ask(engine, call, op_new(&engine->alloc, DW_OP_STATUS, NULL, NULL, 0));
}
