/* The ledger of a run: the requests to the store, its confirmations and the starts of timers. It
 * checks the promises that follow from them.
 *
 * A life is an owner from its start to its end. Within a life every timer starts at most once. A
 * repeat can only come from the death between two lives, and each death gives at most one. A line
 * that is cut because its writer was killed does not count as a start: the timer was not settled,
 * so it must start again. Such a line is only checked for timers that must never start. */
#ifndef DW_TESTS_FAULTS_LEDGER_H
#define DW_TESTS_FAULTS_LEDGER_H

#include "faults/faults.h"
#include "faults/process.h"

enum cancel {
	CANCEL_NONE,
	CANCEL_ASKED, /* no answer yet, or none at all */
	CANCEL_DONE,
	CANCEL_LATE, /* it is being delivered: it must start */
	CANCEL_GONE  /* no such timer: it was settled, it must have started before */
};

struct entry {
	dw_usec due;
	dw_usec cancelled; /* when the command that asked for it had returned */
	dw_usec fired;     /* the last start */
	enum cancel cancel;
	bool asked;     /* it may be in the store */
	bool confirmed; /* it is */
	bool listed;
	unsigned starts;
	unsigned life;   /* of the last start */
	int64_t attempt; /* the same */
};

struct ledger {
	struct faults *faults;
	uint64_t seed; /* of the data */
	struct entry *entries;
	size_t count;
	bool claimed_again; /* the clock was set back: claims were given back, and count */
	bool is_ordered;    /* within a life, timers start in the order of (due, number) */
	unsigned life;      /* the owner of now, from 1 */
	dw_usec last_due;
	size_t last;
	size_t starts;
	size_t repeats;
	size_t cut; /* lines */
};

void ledger_init(struct ledger *ret_ledger, struct faults *, size_t count);
void ledger_free(struct ledger *);

/* ledger_begin_life: a new owner starts. */
void ledger_begin_life(struct ledger *);

/* ledger_read takes the whole lines that the owner has written. */
void ledger_read(struct ledger *, struct process *owner);

/* ledger_end_life: the same, and the cut line of an owner that has ended. */
void ledger_end_life(struct ledger *, struct process *owner);

/* ledger_list takes the lines of `durawheel list --json`. */
void ledger_list(struct ledger *, struct process *list);

/* ledger_check: in the end, when the store is empty. starts_max: of one timer. */
void ledger_check(struct ledger *, unsigned starts_max);

/* ledger_check_listed: each confirmed timer was in the list, and no cancelled one. */
void ledger_check_listed(struct ledger *);

#endif
