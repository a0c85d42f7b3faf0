/* The promises to callers, and whether they are kept. The simulation reports every call, answer,
 * start and applied operation to the promises. They read the store only to compare. */
#ifndef SIM_CORE_PROMISES_H
#define SIM_CORE_PROMISES_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "sim/core/losses.h"
#include "sim/core/order.h"

struct asked;
struct sim;

#define NAMES_MAX 512u
#define GENERATIONS_MAX 16384u

/* DEAD: it is a dead letter; DROPPED: it was one. */
enum fate { FATE_STORED, FATE_REPLACED, FATE_CANCELLED, FATE_SETTLED, FATE_DEAD, FATE_DROPPED };

/* One stored generation of an id. */
struct generation {
	uint64_t number;
	uint64_t was; /* before the server renumbered it, which its caller is told; 0: never */
	struct generation *before; /* the earlier one of the same id */
	struct name *name;
	const struct asked *asked; /* the put */
	dw_usec due;
	dw_usec due_before;   /* before its last retry */
	dw_usec occurrence;   /* of its rule; 0: it has none */
	uint32_t missed;      /* occurrences before this one */
	dw_usec moved_to;     /* by the move or requeue that made it, 0: a put did */
	dw_usec made_at;      /* steady */
	dw_usec since;        /* steady: of the put or the last start */
	dw_usec retry_floor;  /* a retry may not be due before */
	uint32_t floor_clock; /* clocks.set_count when that was so */
	enum fate fate;
	struct generation_loss loss;
	bool purged;
	bool claimed;  /* in the store */
	bool promised; /* once it is confirmed, no earlier one may start: an owner made it */
	bool started;
	bool retried;     /* by a verdict */
	bool ending;      /* a cancel has ended its rule */
	bool held;        /* its handler returned DW_HOLD or DW_HOLD_UNSTARTED */
	bool unstarted;   /* the latter, and its work has not begun */
	bool may_settle;  /* a verdict, a settle or a cancel allows that */
	bool may_retry;   /* a verdict, a settle or an expired hold allows that */
	bool licensed;    /* the retry is stored: it may start again */
	uint64_t life;    /* of the last start, 0: none */
	uint32_t attempt; /* of the last start */
	uint64_t dropped; /* the life in which a cancel ended its retries */
};

struct name {
	char id[40];
	uint32_t number;
	struct name *next;
	struct generation *last;
	struct generation *stored; /* in the store; NULL: none */
	uint64_t newer;            /* stored instead, by a newer version; 0: none */
	bool had_newer;            /* since the beginning */
	struct name_loss loss;
	struct readiness ready;
	uint64_t floor;        /* no generation up to this one may start any more */
	uint64_t cancel_floor; /* becomes the floor when the cancel is answered */
	uint64_t purge_floor;  /* becomes the floor when the purge is answered */
	uint32_t open;         /* unanswered calls */
	dw_usec touched_at;    /* steady: the last call was answered */
	bool unreported;       /* a call without a callback was made */
	struct {
		const struct generation *of; /* the last one whose end is kept; NULL: none is */
		dw_end end;
		bool unsure; /* the server has lost data: whatever it has is right */
	} kept;
};

struct promises {
	struct name names[NAMES_MAX];
	struct name *first;
	uint32_t name_count;
	struct generation generations[GENERATIONS_MAX];
	uint32_t generation_count;
	uint64_t start_count;
};

/* promises_name finds or makes the name of an id. promises_name_all makes the first ones. */
struct name *promises_name(struct sim *, const char *id);
void promises_name_all(struct sim *, uint32_t count);

/* promises_add: a new generation is stored. NULL: no room for it. */
struct generation *promises_add(struct sim *, struct generation);

/* promises_is: the generation has, or had, that number. */
/* promises_find, promises_dead (the last one with a dead letter), promises_made_by (the put; lost:
 * by the store): NULL: there is no such generation. After a set-back the server may give a number
 * again. Then promises_find returns the stored one, or else the last one. */
bool promises_is(const struct generation *, uint64_t number);
struct generation *promises_find(const struct name *, uint64_t number);
struct generation *promises_dead(const struct name *);
struct generation *promises_made_by(const struct name *, const struct asked *, bool lost);
uint64_t promises_last_number(const struct name *);

/* promises_raise: no generation up to that one may start any more. promises_lower: that one may
 * start, whatever was promised. */
void promises_raise(struct name *, uint64_t number);
void promises_lower(struct name *, uint64_t number);

/* ---- operations.c: what the store carries out, checked against what was asked for ---------- */

/* operation_applied: the store carried out the operation; wanted: its head before that. */
void operation_applied(struct sim *, const dw_op *, const dw_head *wanted, dw_role);

/* ---- ends.c: the ends that the store keeps -------------------------------------------------- */

/* ends_applied: an operation was carried out; was: what was stored under its id; NULL: nothing.
 * ends_lost: the server may have lost any end. */
void ends_applied(struct sim *, const dw_op *, struct name *, const struct generation *was);
void ends_lost(struct sim *);

/* operation_newer: a client of a newer version stored a timer of its own under that name. */
void operation_newer(struct sim *, struct name *, const dw_head *);

/* operation_purged: the store deleted all generations of that name. */
void operation_purged(struct sim *, struct name *);

/* ---- deliveries.c: what is started, and what its handler says ------------------------------ */

/* delivery_started, delivery_started_by_other (a second owner starts what it has claimed): the
 * generation that was started; NULL: there is no such one. */
struct generation *delivery_started(struct sim *, const dw_firing *);
struct generation *delivery_started_by_other(struct sim *, const dw_op *claim);

/* delivery_verdict: its handler has returned. delivery_expired: a hold has timed out. */
void delivery_verdict(struct sim *, struct generation *, dw_verdict, dw_usec retry_in);
void delivery_expired(struct sim *, const char *id);

/* deliveries_lost: the process at work lost the store, and with it all that it started and
 * claimed. deliveries_lost_of: it lost the shard of that name. */
void deliveries_lost(struct sim *);
void deliveries_lost_of(struct sim *, struct name *);

/* ---- compare.c: the store holds what the promises say -------------------------------------- */

void compare_all(struct sim *);

/* compare_is_over: no timer is stored, and no call is unanswered. compare_say_what_is_left reports
 * what is not over in time. */
bool compare_is_over(const struct sim *);
void compare_say_what_is_left(struct sim *);

#endif
