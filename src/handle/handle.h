/* struct dw, and who may call: the handle's own thread of its own process, and for some calls any
 * thread. */
#ifndef DW_HANDLE_HANDLE_H
#define DW_HANDLE_HANDLE_H

#include <pthread.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "loop/host_loop.h"
#include "loop/loop.h"
#include "handle/options.h"
#include "handle/post_queue.h"
#include "handle/worker_pool.h"

struct dw {
	struct alloc alloc;
	struct clock clock;
	struct loop *loop;
	struct host_loop *host; /* on options.ev_loop, or NULL */
	struct engine *engine;
	dw_store *store;
	struct posts *posts;
	struct workers *workers; /* NULL: none */
	dw_options options;
	pthread_t thread;
	pid_t pid;
	int closing;
	int stopped; /* the store was, with stop_status */
	int stop_status;
};

int handle_is_own_thread(const dw *);

/* handle_refuse answers for a failure that the engine knows nothing of. It keeps why where the
 * engine keeps its own words, so that the last failure is the last one of both. */
int handle_refuse(const dw *, int status, const char *why);

/* handle_admit_look lets the handle's own thread of its own process in; handle_admit only when the
 * handle is not being closed; handle_admit_with only when, besides, the argument is not NULL;
 * handle_admit_driver only when it is not inside a callback, because what turns must not be called
 * from a callback of a turn. */
int handle_admit_look(const dw *);
int handle_admit(const dw *);
int handle_admit_with(const dw *, const void *argument, const char *why);
int handle_admit_driver(const dw *);

/* handle_ask does what any thread may ask for: at once on the handle's thread; from another one it
 * is left for that thread's next turn. */
int handle_ask(dw *, const struct request *);

/* handle_turn(dw *): one turn; DW_EFORK: a callback forked, and this is the child. */
int handle_turn(void *user);

/* handle_turn_until_settled: DW_OK; DW_ETIMEOUT after patience; DW_EFORK. */
int handle_turn_until_settled(dw *, dw_usec patience);

#endif
