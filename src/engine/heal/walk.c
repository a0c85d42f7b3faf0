#include "engine/heal/walk.h"

#include <assert.h>

#include "engine/core.h"

/* a turn visits this many buckets, each with about one timer, in about a millisecond */
#define BUCKETS_A_TURN 2048u

void walk_begin(struct walk *walk, const struct walker *walker)
{
	assert(!walk_is_on(walk));
	*walk = (struct walk){.walker = walker, .holds_up = true};
}

void walk_round(struct engine *engine)
{
	struct walk *walk = &engine->walk;
	const struct walker *walker = walk->walker;

	for (uint32_t i = 0; i < BUCKETS_A_TURN; i++) {
		if (index_visit(&engine->timers.index, walk->bucket, walker->visit, engine)) {
			walk->bucket++;
			continue;
		}
		walk->walker = NULL;
		if (walker->end)
			walker->end(engine);
		return;
	}
}

void walk_finish(struct engine *engine)
{
	while (walk_is_on(&engine->walk))
		walk_round(engine);
}

void walk_meets(struct engine *engine, const char *id)
{
	struct timer *timer =
	    walk_is_on(&engine->walk) ? index_find(&engine->timers.index, id) : NULL;

	if (timer)
		engine->walk.walker->visit(timer, engine);
}
