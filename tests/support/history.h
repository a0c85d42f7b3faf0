/* The history of a test, and the promises that it breaks. The history has every call to the store
 * with its caller and answer, every start and settle, and the times of faults.
 *
 * Timers are numbers. All times are those of one wall clock. The events of one process must be
 * added in their order. Events of different processes may be added in any order. A call without an
 * answer has an unknown outcome, because its process was killed. A timer is put once. It may be
 * moved and cancelled often. No handler asks for a retry. */
#ifndef DW_TESTS_HISTORY_H
#define DW_TESTS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

enum history_kind {
	HISTORY_PUT,
	HISTORY_MOVE,
	HISTORY_CANCEL,
	HISTORY_PUT_ANSWERED, /* the answers, in the order of the calls above */
	HISTORY_MOVE_ANSWERED,
	HISTORY_CANCEL_ANSWERED,
	HISTORY_START,
	HISTORY_SETTLED, /* the settlement was confirmed */
	HISTORY_KINDS
};

struct history_event {
	enum history_kind kind;
	unsigned process; /* each life of a process has its own number */
	size_t number;    /* the timer's number */
	dw_usec at;
	dw_usec due;         /* set for a put, a move and a start */
	uint64_t digest;     /* put, start: the digest of id, topic and data */
	uint64_t generation; /* for a start, a settlement, and a put or move answered with DW_OK. 0:
			      * the timer is in the journal of its process, and others see it
			      * later */
	uint32_t attempt;    /* for a start */
	int status;          /* the status of an answer */
	bool is_safe;        /* an answer or a settlement is on all servers that may be used next */
};

/* The broken promises, with their numbers. */
enum history_broken {
	HISTORY_EARLY,     /* I1: started before its deadline */
	HISTORY_LOST,      /* I2: confirmed, not cancelled, never started */
	HISTORY_CANCELLED, /* I3: started after a confirmed cancel */
	HISTORY_MOVED,     /* I3: started at its old deadline after a confirmed move */
	HISTORY_GONE,      /* I3: started after a call was answered that the timer does not exist */
	HISTORY_AGAIN,     /* I4: started after its settlement was confirmed */
	HISTORY_REPEATED,  /* I5: started again without a fault, or more often than faults allow */
	HISTORY_ATTEMPT,   /* I6: the attempt did not grow */
	HISTORY_PHANTOM,   /* I10: started, but never put, or its put had failed */
	HISTORY_DATA,      /* started with other bytes than those put */
	HISTORY_DEADLINE,  /* started for a deadline that was never set */
	HISTORY_ANSWERS,   /* an answer without a call, or a second answer */
	HISTORY_BROKEN_KINDS
};

struct history;

/* This is called once for each broken promise. `line` describes the timer and the fault. */
typedef void (*history_say_fn)(void *user, enum history_broken, size_t number, const char *line);

/* history_show prints all events of a timer, one on each line. Call history_check() first, which
 * sorts the events. */
void history_show(const struct history *, size_t number);

struct history *history_new(void);
void history_free(struct history *);
void history_add(struct history *, const struct history_event *);

/* history_fault adds a fault: a kill, a pause, or an unreachable server. A timer under way during a
 * fault may start once more. */
void history_fault(struct history *, dw_usec from, dw_usec until);

/* history_divide says to which part each timer belongs. history_fault_in adds a fault of some
 * parts: bit n is part n. */
#define HISTORY_ALL UINT64_MAX
void history_divide(struct history *, unsigned (*part_of)(size_t number));
void history_fault_in(struct history *, uint64_t parts, dw_usec from, dw_usec until);

/* history_replaced says that the server was replaced by a server which may lack what the first one
 * confirmed in this time. The effect of such a confirmation is unknown, unless it is safe. Call it
 * when all events are added. Returns the number of these confirmations. */
size_t history_replaced(struct history *, dw_usec from, dw_usec until);
size_t history_replaced_in(struct history *, uint64_t parts, dw_usec from, dw_usec until);

/* history_journals says that the processes have journals. An owner may then not know yet what
 * another process was told. */
void history_journals(struct history *);

/* history_check returns the number of broken promises. Call it at the end, when the store is
 * empty. */
size_t history_check(struct history *, history_say_fn, void *user);

/* history_count returns the number of events of a kind. */
size_t history_count(const struct history *, enum history_kind);
/* history_answers returns the number of answers of this kind with this status. */
size_t history_answers(const struct history *, enum history_kind, int status);
/* history_repeats returns the number of starts of timers that had started before. */
size_t history_repeats(struct history *);
/* history_slowest returns the longest time from a call to its answer. */
dw_usec history_slowest(struct history *);
/* history_latest returns how late the latest starts were, without the latest `thousandths` of all
 * starts. */
dw_usec history_latest(const struct history *, unsigned thousandths);
/* history_first_start returns the time of the first start at or after `after`, or DW_NEVER if there
 * is none. */
dw_usec history_first_start(const struct history *, dw_usec after);
/* The same for some parts. history_latest_in looks only at timers that were due from `from` to
 * `until`. */
dw_usec history_latest_in(const struct history *, uint64_t parts, dw_usec from, dw_usec until,
			  unsigned thousandths);
dw_usec history_first_start_in(const struct history *, uint64_t parts, dw_usec after);
/* history_changes returns how often, over all parts, a timer of a part was started by another
 * process than the timer before it. */
size_t history_changes(struct history *);

const char *history_broken_name(enum history_broken);

#endif
