/* Writes timers again from memory when the store has lost data that it had confirmed, because it
 * was emptied or set back. The engine does this in bounded steps. The next LOSS tells the store
 * that all timers are written. Until then, the store does nothing else in the lost shards. A handle
 * that closes finishes this work first, because nobody else knows these timers. */
#include "engine/heal/restore.h"

#include "engine/core.h"
#include "engine/heal/learn.h"
#include "port/driven.h"

#define WRITES_A_TURN 256u
#define WRITES_MAX 1024u /* at most this many writes are under way */

static void ask(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_LOSS, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	engine->restore.asked = true;
	submit_push(&engine->submit, op, false);
}

void restore_asked(struct engine *engine, const dw_op *op)
{
	engine->restore.asked = false;
	if (op->status != DW_OK || !ownership_is_current(&engine->ownership, op))
		return;
	engine->restore.writing = true;
	engine->restore.bucket = 0;
	engine->restore.written = 0;
	engine->restore.again_at = 0;
}

static void write_again(struct engine *engine, struct timer *timer)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_REPUSH, timer->id, timer->body, timer->body_size);

	if (!op) {
		engine->restore.again = true;
		return;
	}
	op->head = timer->head;
	op->head.state = timer->state == TIMER_PENDING ? DW_PENDING : DW_CLAIMED;
	engine->restore.under_way++;
	engine->restore.written++;
	/* Urgent, so that it overtakes the operations that wait until the store is whole again. */
	submit_push(&engine->submit, op, true);
}

static void restore_timer(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (timer->state != TIMER_ABSENT && !timer->storing && !timer->deleted &&
	    engine->shards.all[timer->shard].owned && driven_is_lost(engine->store, timer->id))
		write_again(engine, timer);
}

void restore_written(struct engine *engine, const dw_op *op)
{
	if (!ownership_is_current(&engine->ownership, op))
		return;
	engine->restore.under_way--;
	if (!shards_is_current(&engine->shards, driven_shard_of(engine->store, op->id), op))
		return;
	if (op->status == DW_ESTALE)
		learn_rows(engine, op->rows);
	else if (shards_refuse(engine, op->id))
		; /* the store asks for the timer again when the shard is in use again */
	else if (op->status != DW_OK &&
		 op->status != DW_ELIMIT && /* reported: the server stores no timer of this size */
		 op->status != DW_ENOENT) /* the inbox reports a timer that has ended or changed */
		engine->restore.again = true;
}

static void finish(struct engine *engine)
{
	dw_event event = {
	    .kind = DW_EVENT_LOSS, .status = DW_ESTORE, .count = engine->restore.written};

	engine->restore.writing = false;
	shards_read_all_again(engine); /* other processes may have written since the loss */
	if (engine->restore.written == 0)
		return;
	event_raise(engine, &event,
		    "the store was emptied or set back: %llu timer%s restored from memory",
		    (unsigned long long)engine->restore.written,
		    engine->restore.written == 1 ? " was" : "s were");
}

/* write_round writes some of the lost timers. If some fail, another round writes all of them again
 * later. */
static void write_round(struct engine *engine, dw_usec now)
{
	struct restore *restore = &engine->restore;
	uint64_t until = restore->written + WRITES_A_TURN;

	if (now < restore->again_at)
		return;
	while (restore->written < until && restore->under_way < WRITES_MAX &&
	       index_visit(&engine->timers.index, restore->bucket, restore_timer, engine))
		restore->bucket++;
	if (restore->bucket < engine->timers.index.timers.bucket_count || restore->under_way > 0)
		return;
	if (restore->again) {
		restore->again = false;
		restore->bucket = 0;
		restore->written = 0;
		restore->again_at = usec_add(now, RETRY_STORE);
		return;
	}
	finish(engine);
}

void restore_round(struct engine *engine, dw_usec now)
{
	if (engine->ownership.role != DW_OWNER || !driven_may_lose(engine->store))
		return;
	if (engine->restore.writing)
		write_round(engine, now);
	if (!engine->restore.writing && !engine->restore.asked)
		ask(engine);
}

dw_usec restore_wake(const struct engine *engine, dw_usec now)
{
	const struct restore *restore = &engine->restore;

	if (!restore->writing || restore->under_way >= WRITES_MAX ||
	    (restore->bucket >= engine->timers.index.timers.bucket_count && restore->under_way > 0))
		return DW_NEVER;
	return usec_max(now, restore->again_at);
}

void restore_stop(struct restore *restore)
{
	*restore = (struct restore){.asked = restore->asked};
}
