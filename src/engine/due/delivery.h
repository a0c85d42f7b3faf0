/* One delivery: its handler starts, ends, and returns a verdict. */
#ifndef DW_ENGINE_DELIVERY_H
#define DW_ENGINE_DELIVERY_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

struct engine;
struct job;
struct timer;

struct delivery {
	struct timer *firing; /* the timer whose handler runs on this thread */
	dw_usec retry_in;     /* the delay that this handler has set with dw_retry_in() */
	uint64_t on_workers;  /* timers in the jobs that workers have */
	struct job *out;      /* the list of the jobs that workers have */
	bool paused;
	bool is_busy; /* valid while paused: during this pause the program has held deliveries */
	/* Wall clock; when the last pause on purpose ended; 0: there was none. */
	dw_usec held_until;
};

/* delivery_may_start returns true if handlers may start at this moment. It does not look at the
 * shards of timers. */
bool delivery_may_start(const struct engine *);

/* delivery_is_late returns true if the timer is later than its late_after. delivery_bury_late makes
 * it a dead letter. */
bool delivery_is_late(const struct timer *, dw_usec now);
void delivery_bury_late(struct engine *, struct timer *);

/* delivery_firing makes the dw_firing that the handler gets, and its token. It does not set the
 * field `now`. */
dw_firing delivery_firing(struct engine *, const struct timer *, dw_token *ret_token);

/* delivery_begin is called when the timer's handler is about to start. delivery_judge takes the
 * verdict that the handler has returned; a negative retry_in means the delay of the retry
 * policy. */
void delivery_begin(struct engine *, struct timer *, dw_usec now, bool on_worker);
void delivery_judge(struct engine *, struct timer *, dw_verdict, dw_usec retry_in);

/* delivery_unbegin is called when the message of the timer has not entered its queue. So no
 * delivery has started. */
void delivery_unbegin(struct engine *, struct timer *);

/* delivery_tell calls options.on_firing_done for a handler that has ended. */
void delivery_tell(struct engine *, const dw_firing *, dw_verdict, dw_usec took);

/* delivery_end ends the delivery, and sends the verdict to the store. */
void delivery_end(struct engine *, struct timer *, dw_verdict, dw_usec retry_in);

/* delivery_run calls the timer's handler on this thread. */
void delivery_run(struct engine *, struct timer *, dw_usec now);

#endif
