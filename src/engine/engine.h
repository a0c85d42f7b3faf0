/* The engine: timers in memory, driven by turns, kept in a store.
 *
 * A turn reads the wall clock once, takes the store's answers, claims what comes due, fires what is
 * due and claimed, submits the turn's operations as one batch and says when the next turn is
 * needed. Every step is bounded. The engine knows no thread, no descriptor and no file: its maker
 * hands over a store, clocks and a loop. So a simulation runs the same code as a service. */
#ifndef DW_ENGINE_ENGINE_H
#define DW_ENGINE_ENGINE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/select.h"
#include "durawheel/store.h"
#include "port/clock.h"
#include "port/job.h"
#include "port/loop.h"
#include "port/post.h"

struct engine;

/* The callback that gets the answer to a call, and its argument. */
struct done {
	dw_done_fn fn; /* may be NULL */
	void *user;
};

struct lister {
	dw_list_fn fn;
	void *user;
};

struct dead_lister {
	dw_dead_fn fn;
	void *user;
};

struct engine_env {
	dw *handle; /* the handle that callbacks get */
	struct alloc alloc;
	struct clock clock;
	struct loop_port loop;
	struct post_port posts;     /* may be zero */
	struct worker_port workers; /* may be zero */
	dw_role role;               /* DW_OWNER or DW_CLIENT */
	bool is_peer;               /* shares the shards of the store with other peers */
	bool standby;               /* a client that asks for the ownership */
	bool unseen; /* no other process sees the store, so reports for others are not written */
	bool fires_away; /* options.outage is DW_OUTAGE_FIRE */
	uint64_t seed;
	size_t timers_max;
	size_t data_max;
	dw_usec hold;
	void (*on_event)(dw *, const dw_event *, void *user);
	void *on_event_user;
	void (*on_log)(dw_log_level, const char *line, void *user); /* may be NULL */
	void *on_log_user;
	void (*on_firing_done)(dw *, const dw_firing_done *, void *user); /* may be NULL */
	void *on_firing_done_user;
};

/* engine_new makes an engine. It returns DW_OK or DW_ENOMEM. engine_attach gives the engine its
 * store, before any other call. */
int engine_new(struct engine **ret_engine, const struct engine_env *env);
void engine_attach(struct engine *, dw_store *);

/* engine_free frees everything but the store. It calls no callback. */
void engine_free(struct engine *);

/* The calls of the API. The arguments are those of the API, and already checked for NULL.
 * engine_error() explains a failure. */
int engine_on(struct engine *, const char *topic, dw_fire_fn, void *user);
int engine_on_worker(struct engine *, const char *topic, dw_fire_fn, void *user);
int engine_on_batch(struct engine *, const char *topic, const dw_batch_options *, dw_batch_fn,
		    void *user);
void engine_pause(struct engine *, bool paused);
/* engine_make_id writes a unique id into ret_id (DW_ID_SIZE bytes), and returns it. */
const char *engine_make_id(struct engine *, char *ret_id);
int engine_put(struct engine *, const dw_timer *, struct done);
/* engine_cancel cancels only this generation of the timer; 0 means any generation. */
int engine_cancel(struct engine *, const char *id, uint64_t generation, struct done);
int engine_move(struct engine *, const char *id, dw_usec due, struct done);
int engine_settle(struct engine *, const dw_token *, dw_verdict, dw_usec retry_in, struct done);
int engine_retry_in(struct engine *, dw_usec delay);
int engine_started(struct engine *, const dw_token *);
int engine_get(struct engine *, const char *id, struct lister);
/* engine_list and engine_dead_list take valid selections. */
int engine_list(struct engine *, const dw_select *, const dw_cursor *after, size_t limit,
		struct lister);
int engine_dead_list(struct engine *, const dw_dead_select *, const dw_cursor *after, size_t limit,
		     struct dead_lister);
int engine_dead_requeue(struct engine *, const char *id, uint64_t generation, dw_usec due,
			struct done);
int engine_dead_drop(struct engine *, const char *id, uint64_t generation, struct done);
int engine_purge(struct engine *, struct done);
int engine_check_store(struct engine *, dw_check_fn, void *user);
int engine_status(struct engine *, dw_status_fn, void *user);
void engine_stats(const struct engine *, dw_stats *ret_stats);
const char *engine_error(const struct engine *);

/* engine_fail keeps the formatted message for engine_error(), and returns status. */
int engine_fail(struct engine *, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* engine_refuse answers a call of another thread that was accepted but cannot be done; `what` names
 * the call, id may be NULL. engine_run calls fn as a callback. Call both only inside a turn, or
 * while closing. */
void engine_refuse(struct engine *, const char *what, const char *id, int status, struct done);
void engine_run(struct engine *, dw_post_fn fn, void *arg);

/* engine_finish takes a job of env.workers back, and frees it. Call it only inside a turn, or while
 * closing. */
void engine_finish(struct engine *, struct job *);

/* engine_turn does one bounded turn. It returns DW_OK, DW_EBUSY inside a callback, or DW_EFORK in a
 * forked child. */
int engine_turn(struct engine *);

/* engine_next_firing returns when the next handler may have to start, or DW_NEVER. */
dw_usec engine_next_firing(const struct engine *);

/* engine_clock_stepped asks for a turn that compares the clocks, because the wall clock was set. */
void engine_clock_stepped(struct engine *);

bool engine_is_owner(const struct engine *);
bool engine_in_callback(const struct engine *);

/* engine_settled returns true if every accepted operation is answered. */
bool engine_settled(const struct engine *);

/* engine_is_running returns true if workers have jobs that have not come back. */
bool engine_is_running(const struct engine *);

/* engine_take_failure returns the first failure of a call without a callback since
 * engine_take_failure was last called. It returns DW_OK if there was none. */
int engine_take_failure(struct engine *);

/* Closing: after engine_begin_close no handler starts, and claims are given back. The caller goes
 * on with turns until engine_settled(). Then it stops the store, and engine_abandon answers the
 * calls that are left. */
void engine_begin_close(struct engine *);
void engine_abandon(struct engine *);

/* engine_check checks the whole engine, for tests. It returns 0, or the number of the broken rule.
 * It takes O(n). */
int engine_check(const struct engine *);

#endif
