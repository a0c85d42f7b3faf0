/* Dead letters: listing, requeueing, dropping them, and setting aside what is damaged. */
#include "engine/internal.h"

#include <string.h>

#include "base/scope.h"
#include "engine/arguments.h"
#include "timer/record.h"

/* ---- A page -------------------------------------------------------------------------------- */

/* One page as the callback sees it; topics are copied, as a body does not end them with NUL. */
struct page {
	struct engine *engine;
	dw_dead *letters;
	char (*topics)[DW_TOPIC_MAX + 1];
};

static void page_free(struct page *page)
{
	alloc_free(&page->engine->alloc, page->letters);
	alloc_free(&page->engine->alloc, page->topics);
}

static int page_new(struct page *page, size_t count)
{
	page->letters = alloc_new(&page->engine->alloc, count * sizeof *page->letters);
	page->topics = alloc_new(&page->engine->alloc, count * sizeof *page->topics);
	return page->letters && page->topics ? DW_OK : DW_ENOMEM;
}

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
	return letter;
}

void dead_tell_page(struct engine *engine, const struct call *call)
{
	struct page page AT_END(page_free) = {.engine = engine};
	struct dead_lister lister = call->dead_lister;
	const dw_op *op = call->op;
	int status = call->status;
	size_t count = 0;
	dw_cursor next;

	if (status == DW_OK)
		status = page_new(&page, op->row_count + 1);
	if (status != DW_OK) {
		lister.fn(engine->env.handle, status, NULL, 0, NULL, lister.user);
		return;
	}
	next = op->after;
	for (const dw_row *row = op->rows; row; row = row->next, count++)
		page.letters[count] = letter_of(row, page.topics[count]);
	next.ended = op->row_count < op->limit;
	lister.fn(engine->env.handle, DW_OK, page.letters, count, &next, lister.user);
}

/* ---- Asking -------------------------------------------------------------------------------- */

int engine_dead_list(struct engine *engine, const char *topic, const dw_cursor *after, size_t limit,
		     struct dead_lister lister)
{
	struct call *call;
	int status = look_limit(engine, limit, "dead letters");

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_DEAD_LIST, "", &call);
	if (status != DW_OK)
		return status;
	call->dead_lister = lister;
	return call_ask(engine, call, look_page(engine, DW_OP_DEAD_SCAN, topic, after, limit));
}

int engine_dead_requeue(struct engine *engine, const char *id, uint64_t generation, dw_usec due,
			struct done done)
{
	struct call *call;
	dw_op *op;
	int status = arguments_id(id, engine->error);

	if (status != DW_OK)
		return status;
	status = call_new(engine, CALL_REQUEUE, id, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	op = op_new(&engine->alloc, DW_OP_REQUEUE, id, NULL, 0);
	if (op) {
		op->flags = DW_OP_NEW; /* it replaces nothing */
		op->head.generation = generation;
		op->head.due = due;
	}
	return call_change(engine, call, op);
}

int engine_dead_drop(struct engine *engine, const char *id, uint64_t generation, struct done done)
{
	struct call *call;
	dw_op *op;
	int status = id ? arguments_id(id, engine->error) : DW_OK;

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

/* ---- What the store does on its own -------------------------------------------------------- */

void dead_forgotten(struct engine *engine, const dw_op *op)
{
	dw_event event = {.kind = DW_EVENT_DEAD_FORGOTTEN, .count = op->count};

	if (op->status == DW_OK && op->count > 0)
		engine_event(engine, &event,
			     "%llu dead letters are dropped: over %d, or older than %d days",
			     (unsigned long long)op->count, DW_DEAD_MAX, DW_DEAD_DAYS);
}

/* It is no timer of the engine's, so nothing waits for it. If it fails, the next scan tries. */
void dead_bury_damaged(struct engine *engine, const char *id, uint64_t generation)
{
	dw_op *op;

	if (engine->env.role != DW_OWNER || engine->closing)
		return;
	op = op_new(&engine->alloc, DW_OP_BURY, id, NULL, 0);
	if (!op)
		return;
	op->head.generation = generation;
	op->reason = DW_REASON_CORRUPT;
	engine_submit(engine, op, false);
}

void dead_damaged_buried(struct engine *engine, const dw_op *op)
{
	dw_event event = {.kind = DW_EVENT_DEAD, .status = DW_ECORRUPT, .id = op->id};

	if (op->status != DW_OK)
		return;
	engine->stats.dead++;
	engine_event(engine, &event, "%s is dead: %s", op->id, dw_reason_name(op->reason));
	dead_forgotten(engine, op);
}
