#include "engine/heal/damaged.h"

#include "engine/core.h"
#include "port/driven.h"

const char *damaged_flaw(const dw_row *row, char room[RECORD_WORDS_SIZE])
{
	if (record_breaks_limit(row->body, row->body_size, room))
		return room;
	return row->deleted ? "was deleted by another program, and its entry was not"
			    : "does not match its checksum, or is in another's place";
}

/* bury makes a dead letter of a damaged row. Memory has no timer for the row, so nothing waits for
 * the answer. If the operation fails, the next scan tries again. */
static void bury(struct engine *engine, const char *id, uint64_t generation)
{
	dw_op *op;

	if (!engine->shards.all[driven_shard_of(engine->store, id)].owned || engine->drive.closing)
		return;
	op = op_new(&engine->alloc, DW_OP_BURY, id, NULL, 0);
	if (!op)
		return;
	op->head.generation = generation;
	op->reason = DW_REASON_CORRUPT;
	submit_push(&engine->submit, op, false);
}

void damaged_row(struct engine *engine, const dw_row *row)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT, .status = DW_ECORRUPT, .id = row->id};
	char words[RECORD_WORDS_SIZE];

	engine->stats.corrupt++;
	event_raise(engine, &event, "%s %s: it is not fired", row->id, damaged_flaw(row, words));
	if (!row->deleted)
		bury(engine, row->id, row->head.generation);
}

void damaged_timer(struct engine *engine, const struct timer *timer)
{
	dw_event event = {.kind = DW_EVENT_CORRUPT,
			  .status = DW_ECORRUPT,
			  .id = timer->id,
			  .topic = timer->topic ? timer->topic->name : NULL};

	engine->stats.corrupt++;
	event_raise(engine, &event, "%s does not match its checksum: it is not fired", timer->id);
	bury(engine, timer->id, timer->head.generation);
}

void damaged_buried(struct engine *engine, const dw_op *op)
{
	dw_event event = {.kind = DW_EVENT_DEAD, .status = DW_ECORRUPT, .id = op->id};

	if (op->status != DW_OK)
		return;
	engine->stats.dead++;
	event_raise(engine, &event, "%s is dead: %s", op->id, dw_reason_name(op->reason));
	damaged_dropped(engine, op);
}

void damaged_dropped(struct engine *engine, const dw_op *op)
{
	dw_event event = {.kind = DW_EVENT_DEAD_FORGOTTEN, .count = op->count};

	if (op->status == DW_OK && op->count > 0)
		event_raise(engine, &event,
			    "%llu dead letters are dropped: over %d, or older than %d days",
			    (unsigned long long)op->count, DW_DEAD_MAX, DW_DEAD_DAYS);
}
