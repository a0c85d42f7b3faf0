/* struct dw, and the checks of who may call: the handle's own thread in its own process, and for
 * some calls any thread. */
#ifndef DW_HANDLE_HANDLE_H
#define DW_HANDLE_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "loop/host_loop.h"
#include "loop/loop.h"
#include "handle/metrics.h"
#include "handle/options.h"
#include "handle/post_queue.h"
#include "handle/worker_pool.h"

struct dw {
	struct alloc alloc;
	struct clock clock;
	struct loop *loop;
	struct host_loop *host; /* the link to options.ev_loop, or NULL */
	struct engine *engine;
	dw_store *store;
	struct posts *posts;
	struct workers *workers; /* NULL: no workers */
	dw_options options;
	_Atomic dw_usec test_now; /* the time of a handle with DW_TEST_CLOCK */
	pthread_t thread;
	pid_t pid;
	int closing;
	int stopped; /* the store was stopped, with stop_status */
	int stop_status;
	atomic_int health;       /* an enum health, as after the last turn */
	struct metrics *metrics; /* NULL: nobody has asked */
};

int handle_is_own_thread(const dw *);
bool handle_has_test_clock(const dw *);

/* handle_refuse reports a failure that the engine does not know. It stores the words where the
 * engine stores its own, so that dw_last_error() shows the last failure of both. */
int handle_refuse(const dw *, int status, const char *why);

/* handle_admit_look admits the handle's own thread in its own process. The others also require:
 * handle_admit, that the handle is not being closed; handle_admit_with, besides, that the argument
 * is not NULL; handle_admit_driver, that no callback is running, because a turn must not start
 * inside a turn. */
int handle_admit_look(const dw *);
int handle_admit(const dw *);
int handle_admit_with(const dw *, const void *argument, const char *why);
int handle_admit_driver(const dw *);

/* handle_make_id writes a unique id (DW_ID_SIZE bytes), and returns it. Any thread. */
const char *handle_make_id(dw *, char *ret_id);

/* handle_ask does a call that any thread may make: at once on the handle's thread; from another
 * thread it queues the call for the next turn. */
int handle_ask(dw *, const struct request *);

/* handle_turn(dw *) does one turn. DW_EFORK: a callback forked, and this is the child. */
int handle_turn(void *user);

/* handle_patience_end returns when a patience that begins now ends, on the kernel's steady clock: a
 * caller waits in real time, even if the clock of its handle stands still. handle_patience_left
 * returns what is left until then. */
dw_usec handle_patience_end(dw_usec patience);
dw_usec handle_patience_left(dw_usec end);

/* handle_turn_until_settled turns until every operation is answered. DW_OK; DW_ETIMEOUT after
 * patience; DW_EFORK. */
int handle_turn_until_settled(dw *, dw_usec patience);

#endif
