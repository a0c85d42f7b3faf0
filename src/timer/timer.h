/* One timer in the engine's memory: one generation of an id.
 *
 *	ABSENT --put--> PENDING --claim--> CLAIMED --due--> FIRING --verdict--> VERDICT --> ABSENT
 *	                   ^                                  |  HOLD: HELD --settle--^     |
 *	                   '------------------- retry, hold time-out ----------------------'
 *
 * An operation under way in the store (busy) does not change the state; its answer does. There is
 * at most one such operation for each id. Calls that come meanwhile wait in `calls`, in order. */
#ifndef DW_TIMER_TIMER_H
#define DW_TIMER_TIMER_H

#include <stdbool.h>

#include "base/linear.h"
#include "durawheel/store.h"
#include "durawheel/wheel.h"

struct topic;
struct call;
struct record;

/* A text or a result that a handler has said about its delivery, in a block of its own. */
struct said {
	size_t size;
	char bytes[]; /* size bytes and a NUL */
};

enum timer_state {
	TIMER_ABSENT, /* no timer; the object is a place for operations or calls on the id */
	TIMER_PENDING,
	TIMER_CLAIMED,
	TIMER_FIRING, /* its handler runs, on this thread or a worker's */
	TIMER_HELD,
	TIMER_VERDICT /* delivered; the verdict is not in the store yet */
};

/* The schedule or list that holds the timer. */
enum timer_place {
	PLACE_NONE,
	PLACE_CLAIM,
	PLACE_FIRE,
	PLACE_WORK,
	PLACE_WAITING,     /* waits until its topic has a handler, or its queue has space */
	PLACE_UNSCHEDULED, /* no schedule had memory for it */
	PLACE_SUSPENDED,   /* its shard may not start it now */
	PLACE_OVERDUE      /* due while the handle is paused */
};

struct timer {
	struct linear_node node;   /* link in the index; must be first */
	struct timer *prev, *next; /* links in the list of its place, or of its topic */
	struct topic *topic;       /* NULL if there is no timer (ABSENT) */
	struct call *calls;        /* calls that wait for the operation under way */
	/* The dw_settle call that has the verdict, or that waits for the hold. */
	struct call *settling;
	dw_head head;
	/* Place in the wheel of its schedule, or in the crowd (engine/due/crowd.h). */
	dw_wheel_handle slot;
	dw_usec slot_time; /* when the timer comes out of the schedule that holds it */
	dw_usec late_after;
	/* Delay that DW_RETRY asks for; negative: the delay of the retry policy. */
	dw_usec retry_in;
	/* Deadline of the retry, which stays if the retry is sent again; 0: not yet known. */
	dw_usec retry_at;
	const char *id;
	struct said *why;    /* what dw_set_why() has said about this delivery, or NULL */
	struct said *result; /* what dw_set_result() has said about this delivery, or NULL */
	/* Wall clock when its handler last started. 0: as far as is known, no handler has
	 * started. */
	dw_usec started;
	const unsigned char *body;
	size_t body_size;
	const void *data;
	uint32_t data_size;
	/* How long the delivery under way waited on purpose, in a pause or for its batch; us. */
	float waited;
	uint16_t failures; /* failures of the store in a row */
	uint8_t shard;     /* number of the store's shard that has the id */
	uint8_t state;
	uint8_t place;
	uint8_t verdict;
	uint8_t kept;     /* the topic_keep under which its topic counts the timer */
	uint8_t reason;   /* a dw_reason: why it becomes a dead letter; 0: it does not */
	bool busy;        /* an operation on this id is under way */
	bool judging;     /* the operation under way stores the verdict */
	bool storing;     /* not stored yet: the timer belongs to the call of its put */
	bool backing_off; /* the timer waits in the fire schedule to try an operation again */
	bool pushes;      /* in state VERDICT: when it ends, it becomes a message */
	bool uncounted;   /* its DW_RETRY does not come from a handler, so it is not counted */
	bool no_retry; /* the timer was cancelled during its delivery, so a DW_RETRY is dropped */
	bool deleted;  /* the timer is no longer in the store, but its delivery has not ended */
	/* The journal has chosen the generation, and Redis may store another one. */
	bool provisional;
	bool claiming; /* its topic counts it as due, and its claim is under way */
	bool trying;   /* its queue is full, and its topic counts it as claimed or pushed */
	bool crowded;  /* its schedule has taken it out of the wheel, and sorts it */
	bool gathered; /* the timer waits for a batch: in its topic's list, and in FIRE or WORK */
	bool ready; /* the timer is claimed or held, and not started; it is in its topic's list */
	bool unstarted; /* in state HELD: the program has not begun its work */
	bool on_worker; /* in state FIRING: a worker runs the handler, not this thread */
	bool recurs;    /* the timer has a rule */
	/* Its unknown zone was counted when it was loaded, and it has not been due since. */
	bool zone_noted;
	bool skips;   /* in state VERDICT: no handler ran, because the occurrence was missed */
	bool refused; /* its message was too large; the DW_RETRY because of that is under way */
	bool unsure;  /* the stored timer may differ, or the inbox may still name it */
};

/* timer_new makes a timer with a copy of the body, which decodes to the record. The caller sets the
 * topic. timer_new_place makes only a place for the id. Both return NULL if there is no memory. */
struct timer *timer_new(const struct alloc *, const struct record *, const void *body);
struct timer *timer_new_place(const struct alloc *, const char *id);

/* said_replace keeps a copy of the bytes instead of what was said before. Size 0 keeps nothing. If
 * it returns DW_ENOMEM, what was said before stays. timer_forget_said frees all that was said. */
int said_replace(struct said **, const struct alloc *, const void *bytes, size_t size);
void timer_forget_said(struct timer *, const struct alloc *);

/* timer_is_before compares two timers in the order of (deadline, insertion). */
static inline bool timer_is_before(const struct timer *a, const struct timer *b)
{
	return a->head.due != b->head.due ? a->head.due < b->head.due
					  : a->head.generation < b->head.generation;
}

/* timer_free frees the timer and what it points to. */
void timer_free(const struct alloc *, struct timer *);

/* timer_renew gives the timer the body of its next occurrence, which has the same size. */
void timer_renew(struct timer *, const void *body);

#endif
