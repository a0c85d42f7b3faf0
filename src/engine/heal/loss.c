#include "engine/heal/loss.h"

#include <stdio.h>

#include "engine/call/lifecycle.h"
#include "engine/core.h"

/* A turn visits this many buckets, each with about one timer, in about a millisecond. */
#define BUCKETS_A_TURN 2048u

void loss_drop(struct engine *engine, struct timer *timer)
{
	call_answer_stale(engine, timer_forget(engine, timer));
	lifecycle_resume(engine, timer);
}

bool loss_meets(struct engine *engine, struct timer *timer)
{
	if (engine->shards.drops == 0 || !timer || !engine->shards.all[timer->shard].drops ||
	    timer->state == TIMER_ABSENT)
		return false;
	engine->shards.dropped += timer->state != TIMER_FIRING;
	loss_drop(engine, timer);
	return true;
}

void loss_meets_id(struct engine *engine, const char *id)
{
	if (engine->shards.drops > 0)
		(void)loss_meets(engine, index_find(&engine->timers.index, id));
}

static void loss_visit(struct timer *timer, void *user)
{
	(void)loss_meets(user, timer);
}

static void tell_dropped(struct engine *engine)
{
	char line[DW_MESSAGE_SIZE];

	(void)snprintf(line, sizeof line, "%s another process: %llu timers dropped from memory",
		       engine->env.is_peer ? "shards went to" : "lost shards to",
		       (unsigned long long)engine->shards.dropped);
	if (engine->env.on_log)
		engine->env.on_log(engine->env.is_peer ? DW_LOG_INFO : DW_LOG_WARN, line,
				   engine->env.on_log_user);
	engine->shards.dropped = 0;
}

/* finish is called when memory has no timer of a lost shard any more. */
static void finish(struct engine *engine)
{
	struct shards *shards = &engine->shards;

	shards->drops = 0;
	tell_dropped(engine);
	for (unsigned i = 0; i < shards->count; i++) {
		bool is_ours_again = shards->all[i].gained;

		shards->all[i].drops = shards->all[i].gained = false;
		if (!is_ours_again)
			continue;
		/* This refuses the operations that dropped timers have queued meanwhile. */
		submit_refuse_shard(engine, i);
		shards_gain(engine, i);
	}
}

void loss_round(struct engine *engine)
{
	struct shards *shards = &engine->shards;

	for (uint32_t i = 0; shards->drops > 0 && i < BUCKETS_A_TURN; i++) {
		if (index_visit(&engine->timers.index, shards->bucket, loss_visit, engine))
			shards->bucket++;
		else
			finish(engine);
	}
}
