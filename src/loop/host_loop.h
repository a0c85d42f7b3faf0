/* A handle on the caller's libev loop: one ev_io on the descriptor of the handle's own loop. */
#ifndef DW_LOOP_HOST_LOOP_H
#define DW_LOOP_HOST_LOOP_H

#include "base/alloc.h"

struct ev_loop;
struct host_loop;

/* Called when the descriptor is readable. If it returns anything but DW_OK, the watcher stops. */
typedef int (*host_loop_turn_fn)(void *user);

/* host_loop_new: NULL: no memory. It does not touch the loop yet. */
struct host_loop *host_loop_new(const struct alloc *, host_loop_turn_fn, void *user);

/* host_loop_enter: libev aborts the process when it has no memory for the watcher. */
void host_loop_enter(struct host_loop *, struct ev_loop *, int fd);

/* host_loop_free leaves the loop first. NULL is allowed. */
void host_loop_free(struct host_loop *);

#endif
