/* The engine as a guest of the caller's libev loop: one ev_io on the loop's descriptor. */
#ifndef DW_LOOP_GUEST_H
#define DW_LOOP_GUEST_H

#include "base/alloc.h"

struct ev_loop;
struct guest;

/* What a guest does when its descriptor is readable; other than DW_OK: it leaves the loop. */
typedef int (*guest_turn_fn)(void *user);

/* guest_new: NULL: no memory. The loop is not touched yet. */
struct guest *guest_new(const struct alloc *, guest_turn_fn, void *user);

/* guest_enter: libev aborts the process when it has no memory for the watcher. */
void guest_enter(struct guest *, struct ev_loop *, int fd);

/* guest_free leaves the loop first. NULL is allowed. */
void guest_free(struct guest *);

#endif
