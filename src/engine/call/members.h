/* Who shares the store: the question of dw_members() and its answer. */
#ifndef DW_ENGINE_MEMBERS_H
#define DW_ENGINE_MEMBERS_H

#include "durawheel/members.h"

struct call;
struct engine;

/* The callback that gets the list, and its argument. */
struct member_asker {
	dw_members_fn fn;
	void *user;
};

int engine_members(struct engine *, dw_members_fn, void *user);
int engine_owns(struct engine *, const char *id);
int engine_leave(struct engine *);

/* engine_node gets a server of the store. It returns DW_OK, or DW_ENOENT if there are no more. */
int engine_node(const struct engine *, size_t number, dw_node *ret_node);

void members_show(struct engine *, const struct call *);

#endif
