/* The history of a run, and the promises that it breaks. The history has every call to the store
 * with its caller and answer, every start and settle, and the times of faults.
 *
 * Timers are numbers. All times are those of one wall clock. The events of one process must be
 * added in their order; events of different processes may be added in any order. A call without an
 * answer has an unknown outcome, because its process was killed. A timer is put once. It may be
 * moved and cancelled often. No handler asks for a retry. */
#ifndef DW_TESTS_HISTORY_H
#define DW_TESTS_HISTORY_H

#include <stdint.h>

#include "durawheel/durawheel.h"

enum history_kind {
	HISTORY_PUT,
	HISTORY_MOVE,
	HISTORY_CANCEL,
	HISTORY_PUT_ANSWERED, /* in the order of the calls */
	HISTORY_MOVE_ANSWERED,
	HISTORY_CANCEL_ANSWERED,
	HISTORY_START,
	HISTORY_SETTLED, /* confirmed */
	HISTORY_KINDS
};

struct history_event {
	enum history_kind kind;
	unsigned process; /* each life of one has a number of its own */
	size_t number;    /* of the timer */
	dw_usec at;
	dw_usec due;         /* put, move, start */
	uint64_t digest;     /* put, start: of id, topic and data */
	uint64_t generation; /* start, settled, and in the answer DW_OK of a put and a move */
	uint32_t attempt;    /* start */
	int status;          /* of an answer */
};

/* What is broken; the numbers are those of the promises. */
enum history_broken {
	HISTORY_EARLY,     /* I1: started before its deadline */
	HISTORY_LOST,      /* I2: confirmed, not cancelled, never started */
	HISTORY_CANCELLED, /* I3: started after a confirmed cancel */
	HISTORY_MOVED,     /* I3: started at a deadline that was moved, and that was confirmed */
	HISTORY_GONE,      /* I3: started after somebody was told that there is no such timer */
	HISTORY_AGAIN,     /* I4: started after its settlement was confirmed */
	HISTORY_REPEATED,  /* I5: started again without a fault in between, or more often than
			      faults allow */
	HISTORY_ATTEMPT,   /* I6: the attempt did not grow */
	HISTORY_PHANTOM,   /* I10: started, and never put, or its put had failed */
	HISTORY_DATA,      /* started with other bytes than were put */
	HISTORY_DEADLINE,  /* started for a deadline that nobody asked for */
	HISTORY_ANSWERS,   /* an answer to nothing, or a second one */
	HISTORY_BROKEN_KINDS
};

struct history;

/* Called once for each broken promise; line says which timer, and what of it. */
typedef void (*history_say_fn)(void *user, enum history_broken, size_t number, const char *line);

/* history_show prints all that is known of a timer, one line an event. After a sort, thus after
 * history_check(). */
void history_show(const struct history *, size_t number);

struct history *history_new(void);
void history_free(struct history *);
void history_add(struct history *, const struct history_event *);

/* history_fault: a kill, a pause, a server that was away. What was under way at one of these
 * moments may be started once more. */
void history_fault(struct history *, dw_usec from, dw_usec until);

/* history_check: how many promises are broken, when all is over and the store is empty. */
size_t history_check(struct history *, history_say_fn, void *user);

/* Of all events added so far. */
size_t history_count(const struct history *, enum history_kind);
/* history_answers: answers of that kind with that status. */
size_t history_answers(const struct history *, enum history_kind, int status);
/* history_repeats: starts of a timer that had been started. */
size_t history_repeats(struct history *);
/* history_slowest: the longest time from a call to its answer. */
dw_usec history_slowest(struct history *);
/* history_first_start: the first start at or after that moment, DW_NEVER: none. */
dw_usec history_first_start(const struct history *, dw_usec after);

const char *history_broken_name(enum history_broken);

#endif
