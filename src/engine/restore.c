/* The store has lost what it had confirmed: it was emptied, or set back to an earlier state. What
 * memory knows of the lost part is written again, in bounded steps; until the store has been told
 * that this is over, it carries nothing else out there. A handle that closes goes on with it,
 * because nobody else knows these timers. */
#include "engine/internal.h"

#include "port/driven.h"

#define PUSHES_A_TURN 256u
#define PUSHES_MAX 1024u /* under way */

static void ask(struct engine *engine)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_LOSS, NULL, NULL, 0);

	if (!op)
		return; /* asked in the next turn */
	engine->loss.asked = true;
	engine_submit(engine, op, false);
}

void loss_answered(struct engine *engine, const dw_op *op)
{
	engine->loss.asked = false;
	if (op->status != DW_OK || !own_is_current(engine, op))
		return;
	engine->loss.pushing = true;
	engine->loss.bucket = 0;
	engine->loss.pushed = 0;
	engine->loss.again_at = 0;
}

static void push(struct engine *engine, struct timer *timer)
{
	dw_op *op = op_new(&engine->alloc, DW_OP_REPUSH, timer->id, timer->body, timer->body_size);

	if (!op) {
		engine->loss.again = true;
		return;
	}
	op->head = timer->head;
	op->head.state = timer->state == TIMER_PENDING ? DW_PENDING : DW_CLAIMED;
	engine->loss.under_way++;
	engine->loss.pushed++;
	/* Ahead of what waits for the store to be whole again. */
	engine_submit(engine, op, true);
}

static void push_or_pass(struct timer *timer, void *user)
{
	struct engine *engine = user;

	if (timer->state != TIMER_ABSENT && !timer->storing && !timer->purged &&
	    driven_is_lost(engine->store, timer->id))
		push(engine, timer);
}

void loss_push_answered(struct engine *engine, const dw_op *op)
{
	if (!own_is_current(engine, op))
		return;
	engine->loss.under_way--;
	if (op->status == DW_ESTALE)
		recover_learn_rows(engine, op->rows);
	else if (op->status != DW_OK && op->status != DW_ENOENT) /* the inbox tells more */
		engine->loss.again = true;
}

static void finish(struct engine *engine)
{
	dw_event event = {.kind = DW_EVENT_LOSS, .status = DW_ESTORE, .count = engine->loss.pushed};

	engine->loss.pushing = false;
	engine->recover_again = true; /* what others have written since is there, too */
	if (engine->loss.pushed == 0)
		return;
	engine_event(engine, &event,
		     "the store was emptied or set back: %llu timers were written again",
		     (unsigned long long)engine->loss.pushed);
}

/* push_round writes some more of them; those that failed in another round, a little later. */
static void push_round(struct engine *engine, dw_usec now)
{
	struct loss *loss = &engine->loss;
	uint64_t until = loss->pushed + PUSHES_A_TURN;

	if (now < loss->again_at)
		return;
	while (loss->pushed < until && loss->under_way < PUSHES_MAX &&
	       index_visit(&engine->index, loss->bucket, push_or_pass, engine))
		loss->bucket++;
	if (loss->bucket < engine->index.timers.bucket_count || loss->under_way > 0)
		return;
	if (loss->again) {
		loss->again = false;
		loss->bucket = 0;
		loss->pushed = 0;
		loss->again_at = usec_add(now, RETRY_STORE);
		return;
	}
	finish(engine);
}

void loss_round(struct engine *engine, dw_usec now)
{
	if (engine->env.role != DW_OWNER || !driven_may_lose(engine->store))
		return;
	if (engine->loss.pushing)
		push_round(engine, now);
	if (!engine->loss.pushing && !engine->loss.asked)
		ask(engine);
}

dw_usec loss_wake(const struct engine *engine, dw_usec now)
{
	const struct loss *loss = &engine->loss;

	if (!loss->pushing || loss->under_way >= PUSHES_MAX ||
	    (loss->bucket >= engine->index.timers.bucket_count && loss->under_way > 0))
		return DW_NEVER;
	return usec_max(now, loss->again_at);
}

void loss_forget(struct engine *engine)
{
	engine->loss = (struct loss){.asked = engine->loss.asked};
}
