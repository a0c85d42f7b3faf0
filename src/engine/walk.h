/* A walk through all timers in memory, some of them a turn, so that no turn takes long even with a
 * million of them. While a walk is on, a turn does nothing else: no answer is taken and nothing is
 * claimed or started. */
#ifndef DW_ENGINE_WALK_H
#define DW_ENGINE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct timer;

/* Who begins a walk. A timer may be visited twice. visit may free it. */
struct walker {
	void (*visit)(struct timer *, void *engine);
	void (*end)(struct engine *); /* all were visited; NULL: nothing is to be done */
};

struct walk {
	const struct walker *walker; /* NULL: there is no walk */
	uint32_t bucket;             /* of the index: the next one */
	bool holds_up;               /* the turn has not done its other steps since */
};

/* walk_begin: there is no other walk. walk_round goes on; walk_finish goes to the end. */
void walk_begin(struct engine *, const struct walker *);
void walk_round(struct engine *);
void walk_finish(struct engine *);

/* walk_meets visits the id's timer now, because a call is about it. */
void walk_meets(struct engine *, const char *id);

static inline bool walk_is_on(const struct walk *walk)
{
	return walk->walker != NULL;
}

#endif
