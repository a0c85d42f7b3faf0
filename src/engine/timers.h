/* The timers in memory, and the structures that hold them: index, topics, schedules. */
#ifndef DW_ENGINE_TIMERS_H
#define DW_ENGINE_TIMERS_H

#include "engine/rule/rules.h"
#include "engine/due/schedule.h"
#include "timer/index.h"

#define FETCHED_AHEAD 16 /* how many timers are loaded into the cache together */
#define RETRY_STORE                                                                                \
	DW_MILLISECONDS(                                                                           \
	    100) /* the first pause after a failure; each further one is twice as long */
#define RETRY_STORE_MAX DW_SECONDS(5)

struct engine;
struct call;
struct shards;

struct timer_list {
	struct timer *first, *last;
	uint64_t count;
};

struct timers {
	struct index index;
	/* Pending timers by deadline; each comes out at most two leads before its deadline. */
	struct schedule claim;
	/* Claimed timers by deadline; held timers and failed operations by time-out. */
	struct schedule fire;
	struct schedule work; /* due timers that wait for a worker; exists only with workers */
	/* Timers for which no schedule had memory; every turn tries again. */
	struct timer_list unscheduled;
	struct timer_list overdue; /* due timers of a paused handle, in order; not claimed */
	uint64_t claimed;          /* timers in state CLAIMED */
	struct rules rules;        /* the rules of recurring timers */
};

int timers_init(struct engine *);
void timers_free(struct engine *);

/* timers_fetch loads the timers of at most FETCHED_AHEAD ids into the cache, because they will soon
 * be looked up. */
void timers_fetch(const struct timers *, const char *const *ids, int count);

/* timers_have_work returns true if the engine has workers. Their due timers are in the work
 * schedule. */
static inline bool timers_have_work(const struct timers *timers)
{
	return timers->work.wheel != NULL;
}

/* timer_adopt makes a timer from a body and its record, and sets its topic. The timer is not in the
 * index yet, and its shard is not set. It returns DW_OK or DW_ENOMEM. */
int timer_adopt(struct engine *, const struct record *, const void *body, struct timer **ret_timer);

/* timer_place makes only a place for the id. It returns NULL if there is no memory. */
struct timer *timer_place(struct engine *, const char *id);

/* timer_find_shard sets the shard of the timer by its id. If memory has another timer of the id,
 * copying the shard of that timer is cheaper. */
void timer_find_shard(const struct engine *, struct timer *);

/* timer_release frees a timer that is not in the index. */
void timer_release(struct engine *, struct timer *);

void timer_arm_claim(struct engine *, struct timer *);
void timer_arm_fire(struct timers *, struct timer *, dw_usec at);
void timer_disarm(struct engine *, struct timer *);

/* timer_unstart notes that the handler's work on a held delivery has not begun. timer_start notes
 * that it has. timer_is_running returns true while a delivery that has begun is not settled. */
void timer_unstart(struct engine *, struct timer *);
void timer_start(struct engine *, struct timer *);
bool timer_is_running(const struct timer *);

/* timer_came_out is called when the timer has come out of its schedule. */
void timer_came_out(struct timer *);

void timer_set_state(struct engine *, struct timer *, enum timer_state);

/* timer_set_busy notes that an operation of the timer is under way, or that it was answered. */
void timer_set_busy(struct shards *, struct timer *, bool is_busy);

/* timer_drop disarms a timer that the store has deleted or changed, and makes it ABSENT. */
void timer_drop(struct engine *, struct timer *);

/* timer_doubt is called when the store may have taken the claim of this timer back. The timer
 * becomes PENDING and must be claimed again. A timer in another state stays as it is. */
void timer_doubt(struct engine *, struct timer *);

/* timer_await_limit lets a timer wait until `at`, because its message is too large for the store
 * now. */
void timer_await_limit(struct engine *, struct timer *, dw_usec at);

/* timer_suspend puts a timer into the list of timers that wait for their shard. */
void timer_suspend(struct engine *, struct timer *);

/* timer_await_resume puts a timer into the list of timers that came due during a pause. */
void timer_await_resume(struct engine *, struct timer *);

/* timer_await_zone puts a timer whose zone is not known into the schedule `fire`, and tries it
 * again at `until`. */
void timer_await_zone(struct engine *, struct timer *, dw_usec until);

/* timer_await_handler puts a timer into the list of timers that wait for a handler of their
 * topic. */
void timer_await_handler(struct engine *, struct timer *);

/* timer_await_worker puts a due timer into the schedule of timers that wait for a worker, at the
 * time `at`. */
void timer_await_worker(struct engine *, struct timer *, dw_usec at);

/* timer_gather adds a due timer to its topic's next batch, which must start at `at`. */
void timer_gather(struct engine *, struct timer *, dw_usec at);

/* timer_replace puts fresh in the place of old. timer_forget drops what memory knows of a timer,
 * but keeps its operation under way and the calls that wait for its id. Both return the dw_settle
 * whose verdict will not be sent any more, or NULL. The caller answers it DW_ESTALE. */
struct call *timer_replace(struct engine *, struct timer *old, struct timer *fresh);
struct call *timer_forget(struct engine *, struct timer *);

/* timer_retry_later tries the timer's operation again after a pause. */
void timer_retry_later(struct engine *, struct timer *);

#endif
