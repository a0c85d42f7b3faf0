/* Callbacks that get the answer to a question about the whole store, and their arguments. */
#ifndef DW_ENGINE_ASKERS_H
#define DW_ENGINE_ASKERS_H

#include "durawheel/members.h"
#include "durawheel/select.h"

struct engine;

struct due_asker {
	dw_due_fn fn;
	void *user;
};

struct check_asker {
	dw_check_fn fn;
	void *user;
};

/* engine_count_due takes bounds in ascending order. */
int engine_count_due(struct engine *, const dw_usec *bounds, size_t count, struct due_asker);

#endif
