#include "engine/heal/suspended.h"

#include "engine/call/lifecycle.h"
#include "engine/core.h"
#include "engine/heal/loss.h"
#include "port/driven.h"

#define RESUMED_A_TURN 512u

/* next_suspended returns the first suspended timer that may go on, in the order of deadlines over
 * all shards. */
static struct timer *next_suspended(const struct engine *engine)
{
	unsigned count = engine->shards.suspended > 0 ? driven_shards(engine->store) : 0;
	struct timer *first = NULL;

	for (unsigned i = 0; i < count; i++) {
		const struct engine_shard *shard = &engine->shards.all[i];
		struct timer *timer = shard->suspended.first;

		if (!timer || shard->refused || !lease_holds(engine, i))
			continue;
		if (!first || timer_is_before(timer, first))
			first = timer;
	}
	return first;
}

void suspended_round(struct engine *engine)
{
	struct timer *timer = next_suspended(engine);

	for (uint32_t i = 0; timer && i < RESUMED_A_TURN; i++) {
		if (!loss_meets(engine, timer)) {
			timer_disarm(engine, timer);
			lifecycle_resume(engine, timer);
		}
		timer = next_suspended(engine);
	}
	engine->shards.more = timer != NULL;
}
