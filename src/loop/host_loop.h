/* Runs a handle on the caller's libev loop, by one ev_io on the descriptor of the handle's own
 * loop. */
#ifndef DW_LOOP_HOST_LOOP_H
#define DW_LOOP_HOST_LOOP_H

#include "base/alloc.h"

struct ev_loop;
struct host_loop;

/* Called when the descriptor is readable. If it returns an error, the watcher stops. */
typedef int (*host_loop_turn_fn)(void *user);

/* host_loop_new returns NULL if out of memory. It does not touch the libev loop yet. */
struct host_loop *host_loop_new(const struct alloc *, host_loop_turn_fn, void *user);

/* host_loop_enter starts the watcher. libev aborts the process if it has no memory for the
 * watcher. */
void host_loop_enter(struct host_loop *, struct ev_loop *, int fd);

/* host_loop_free stops the watcher first. NULL is allowed. */
void host_loop_free(struct host_loop *);

#endif
