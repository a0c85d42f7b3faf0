/* A walk through all timers in memory, some of them in each turn, so that no turn takes long even
 * with a million timers. While a walk is on, a turn does nothing else: it takes no answer, and
 * claims and starts nothing. */
#ifndef DW_ENGINE_WALK_H
#define DW_ENGINE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct timer;

/* What a walk does with each timer. A walk may visit a timer twice. visit may free the timer. */
struct walker {
	void (*visit)(struct timer *, void *engine);
	void (*end)(struct engine *); /* called after the last timer; may be NULL */
};

struct walk {
	const struct walker *walker; /* NULL: there is no walk */
	uint32_t bucket;             /* the next bucket of the index */
	bool holds_up;               /* since the walk began, no turn has done its other steps */
};

/* walk_begin starts a walk, and no other walk may be on. walk_round visits some timers. walk_finish
 * visits all timers that are left. */
void walk_begin(struct walk *, const struct walker *);
void walk_round(struct engine *);
void walk_finish(struct engine *);

/* walk_meets visits the timer of an id at once, because a call concerns it. */
void walk_meets(struct engine *, const char *id);

static inline bool walk_is_on(const struct walk *walk)
{
	return walk->walker != NULL;
}

#endif
