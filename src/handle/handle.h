/* struct dw, and the functions that check who may call. Most calls are only for the handle's own
 * thread in its own process, some are for any thread. */
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

#define HEALTH_BITS 8

struct dw {
	struct alloc alloc;
	struct clock clock;
	struct loop *loop;
	struct host_loop *host; /* the link to options.ev_loop, or NULL */
	struct engine *engine;
	dw_store *store;
	struct posts *posts;
	struct workers *workers; /* NULL: the handle has no workers */
	dw_options options;
	_Atomic dw_usec test_now; /* the present time of a handle with DW_TEST_CLOCK */
	pthread_t thread;
	pid_t pid;
	int closing;
	int stopped; /* the store was stopped; stop_status is the result */
	int stop_status;
	/* The enum health after the last turn. The bits from HEALTH_BITS on are the number of the
	 * shard that it is about. */
	atomic_int health;
	struct metrics *metrics; /* NULL: nobody has called dw_metrics() yet */
};

int handle_is_own_thread(const dw *);
bool handle_has_test_clock(const dw *);

/* handle_refuse reports a failure that the engine does not know. It stores the words where the
 * engine stores its own, so that dw_last_error() shows the last failure of both. */
int handle_refuse(const dw *, int status, const char *why);

/* These functions admit or refuse a call. handle_admit_look admits the handle's own thread in its
 * own process. handle_admit also requires that the handle is not being closed. handle_admit_with
 * does the same, and requires that the argument is not NULL. handle_admit_driver does the same as
 * handle_admit, and requires that no callback is running, because a turn must not start inside a
 * turn. */
int handle_admit_look(const dw *);
int handle_admit(const dw *);
int handle_admit_with(const dw *, const void *argument, const char *why);
int handle_admit_driver(const dw *);

/* handle_make_id writes a unique id (DW_ID_SIZE bytes), and returns it. Any thread. */
const char *handle_make_id(dw *, char *ret_id);

/* handle_ask does a call that any thread may make. On the handle's thread it does the call at once.
 * From another thread it queues the call for the next turn. */
int handle_ask(dw *, const struct request *);

/* handle_turn does one turn; user is the dw *. It returns DW_EFORK if a callback has forked, and
 * this is the child. */
int handle_turn(void *user);

/* handle_patience_end returns when a patience that begins now ends. It uses the kernel's steady
 * clock, because a caller waits in real time even if the clock of its handle stands still.
 * handle_patience_left returns how much time is left until `end`. */
dw_usec handle_patience_end(dw_usec patience);
dw_usec handle_patience_left(dw_usec end);

/* handle_turn_until_settled does turns until every operation is answered. It returns DW_OK,
 * DW_EFORK, or DW_ETIMEOUT after patience. */
int handle_turn_until_settled(dw *, dw_usec patience);

#endif
