/* What the servers of the store say of themselves: the question of dw_facts() and its answer. */
#ifndef DW_ENGINE_FACTS_H
#define DW_ENGINE_FACTS_H

#include "durawheel/facts.h"

struct call;
struct engine;

/* The callback that gets the facts, and its argument. */
struct fact_asker {
	dw_facts_fn fn;
	void *user;
};

int engine_facts(struct engine *, dw_facts_fn, void *user);
void facts_show(struct engine *, const struct call *);

#endif
