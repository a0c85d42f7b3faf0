/* One timer in the engine's memory: one generation of an id.
 *
 *	ABSENT --put--> PENDING --claim--> CLAIMED --due--> FIRING --verdict--> VERDICT --> ABSENT
 *	                   ^                                  |  HOLD: HELD --settle--^     |
 *	                   '------------------- retry, hold time-out ----------------------'
 *
 * An operation under way in the store (busy) does not change the state; its answer does. There is
 * at most one for each id: calls that come meanwhile wait in `calls`, in order.
 */
#ifndef DW_TIMER_TIMER_H
#define DW_TIMER_TIMER_H

#include <stdbool.h>

#include "base/linear.h"
#include "durawheel/store.h"
#include "durawheel/wheel.h"

struct topic;
struct call;
struct record;

enum timer_state {
	TIMER_ABSENT, /* only a place for what is under way or waits */
	TIMER_PENDING,
	TIMER_CLAIMED,
	TIMER_FIRING, /* its handler is on the stack, here or of a worker */
	TIMER_HELD,
	TIMER_VERDICT /* delivered; the verdict is not in the store yet */
};

/* Which schedule holds the timer. */
enum timer_place {
	PLACE_NONE,
	PLACE_CLAIM,
	PLACE_FIRE,
	PLACE_WORK,
	PLACE_WAITING,     /* for a handler of its topic */
	PLACE_UNSCHEDULED, /* no schedule had memory for it */
	PLACE_SUSPENDED    /* its part of the store is cut off */
};

struct timer {
	struct linear_node node;   /* of the index; first */
	struct timer *prev, *next; /* of the list that PLACE_WAITING and those after it name, or
				    * of the gathered timers of the topic */
	struct topic *topic;       /* NULL while only a place */
	struct call *calls;        /* what waits for the operation under way */
	struct call *settling;     /* the dw_settle that brought the verdict, or will for a hold */
	dw_head head;
	dw_wheel_handle slot;
	dw_usec slot_time; /* when it comes out of the schedule that holds it */
	dw_usec late_after;
	dw_usec retry_in; /* of the verdict: below 0, the policy's */
	dw_usec retry_at; /* what that came to when the store was first asked, 0: not yet */
	const char *id;
	const unsigned char *body;
	size_t body_size;
	const void *data;
	uint32_t data_size;
	uint16_t failures; /* of the store in a row on this timer */
	uint8_t state;
	uint8_t place;
	uint8_t verdict;
	uint8_t reason;   /* of a bury: a dw_reason, 0: none */
	bool busy;        /* an operation on this id is under way */
	bool judging;     /* that operation is the verdict */
	bool storing;     /* a put's, not stored yet: owned by its call */
	bool backing_off; /* armed in the fire schedule to try an operation again */
	bool no_retry;    /* cancelled while it was delivered: a retry is dropped */
	bool purged;      /* the store does not have it any more; its delivery still ends */
	bool provisional; /* the journal has given the generation, and Redis may have another one */
	bool gathered;    /* waits for a batch: in its topic's list, and in FIRE or WORK */
	bool on_worker;   /* FIRING: a worker runs the handler, not this thread */
	bool unsure;      /* what is stored may be newer, or an inbox may name it still */
};

/* timer_new: a timer with a copy of the body, which decodes to the record. The topic is for the
 * caller to set. timer_new_place: only a place for the id. NULL: no memory. */
struct timer *timer_new(const struct alloc *, const struct record *, const void *body);
struct timer *timer_new_place(const struct alloc *, const char *id);

#endif
