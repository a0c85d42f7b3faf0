#include "engine/heal/learn.h"

#include "engine/core.h"
#include "engine/heal/damaged.h"
#include "engine/call/lifecycle.h"
#include "engine/rule/zones.h"
#include "port/driven.h"
#include "timer/record.h"

/* learn_gone is called when a client has cancelled the timer, or a newer durawheel has replaced it.
 * If the timer is busy or has started, the answer to its own operation will say so. */
static void learn_gone(struct engine *engine, struct timer *timer, const dw_row *row)
{
	if (!timer || timer->head.generation >= row->head.generation)
		return;
	timer->deleted = true; /* so that a settle reads the stored timer */
	if (timer->busy || (timer->state != TIMER_PENDING && timer->state != TIMER_CLAIMED))
		return;
	timer_drop(engine, timer);
	lifecycle_resume(engine, timer);
}

static void read_again(struct engine *engine, const dw_row *row)
{
	shards_read_again(engine, driven_shard_of(engine->store, row->id));
}

/* note_newer notes a row that a newer durawheel has written. Therefore the turn will give the
 * ownership back. */
static void note_newer(struct engine *engine, const dw_row *row)
{
	if (!engine->recovery.newer)
		engine->recovery.newer =
		    op_new(&engine->alloc, DW_OP_DISOWN, row->id, row->body, row->body_size);
	if (!engine->recovery.newer)
		read_again(engine, row); /* without memory the next scan finds the row again */
}

/* note_difference compares a row with the timer of the same generation in memory. The two differ if
 * an earlier owner that was fenced has written the row again. */
static void note_difference(struct timer *known, const dw_row *row)
{
	if (row->head.attempt != known->head.attempt || row->head.open != known->head.open)
		known->unsure = true;
}

/* look_at_zone checks the zone of a recurring timer. The occurrence may have been computed by other
 * rules of the zone, or this machine may not know the zone. */
static void look_at_zone(struct engine *engine, const char *id)
{
	struct timer *timer = index_find(&engine->timers.index, id);

	if (timer && timer->recurs)
		zones_learnt(engine, timer);
}

/* learn_timer makes the row's timer the current timer of its id. */
static int learn_timer(struct engine *engine, struct timer *old, const dw_row *row,
		       const struct record *record)
{
	struct timer *timer = NULL;
	int status = timer_adopt(engine, record, row->body, &timer);

	if (status == DW_OK && old)
		timer->shard = old->shard;
	else if (status == DW_OK)
		timer_find_shard(engine, timer);
	if (status == DW_OK && !old)
		status = index_add(&engine->timers.index, timer);
	if (status != DW_OK) {
		if (timer)
			timer_release(engine, timer);
		return status;
	}
	if (old)
		call_answer_stale(engine, timer_replace(engine, old, timer));
	timer->head = row->head;
	/* A row that is read outside of a scan was written by a client. */
	timer->unsure = engine->recovery.scan_of[timer->shard] == 0;
	engine->recovery.learnt++;
	timer_set_state(engine, timer, TIMER_PENDING); /* this owner has not claimed it */
	lifecycle_resume(engine, timer);
	if (record->blocks_size > 0)
		look_at_zone(engine, row->id);
	return DW_OK;
}

int learn_row(struct engine *engine, const dw_row *row)
{
	struct timer *old = index_find(&engine->timers.index, row->id);
	struct record record;
	int status;

	if (row->gone) {
		learn_gone(engine, old, row);
		return DW_OK;
	}
	status = record_of_row(row, &record);
	if (status == DW_ENEWER) {
		note_newer(engine, row);
		learn_gone(engine, old, row); /* memory drops the timer that was replaced */
		return status;
	}
	if (row->deleted && old && old->state != TIMER_ABSENT)
		return DW_OK; /* the store asks later that the timer is written again */
	if (status != DW_OK) {
		damaged_row(engine, row);
		return DW_OK;
	}
	if (old && !old->storing && old->head.generation >= row->head.generation) {
		note_difference(old, row);
		return DW_OK;
	}
	return learn_timer(engine, old, row, &record);
}

void learn_rows(struct engine *engine, const dw_row *row)
{
	for (; row; row = row->next)
		if (learn_row(engine, row) != DW_OK)
			read_again(engine, row); /* without memory the next scan reads the row */
}
