/* The ledger of a test: the requests to the store, its confirmations and the starts of timers. It
 * checks the promises that follow from them.
 *
 * A life is an owner from its start to its end. Within a life every timer starts at most once. A
 * repeat can only come from the death between two lives, and each death causes at most one repeat.
 * A line that is cut because its writer was killed does not count as a start: the timer was not
 * settled, so it must start again. Such a line is only checked for timers that must never start. */
#ifndef DW_TESTS_FAULTS_LEDGER_H
#define DW_TESTS_FAULTS_LEDGER_H

#include "faults/faults.h"
#include "faults/process.h"

enum cancel {
	CANCEL_NONE,
	CANCEL_ASKED, /* there is no answer yet, or there never will be one */
	CANCEL_DONE,
	CANCEL_LATE, /* the timer was being delivered, so it must start */
	CANCEL_GONE  /* there was no such timer, so it must have started and been settled before */
};

struct entry {
	dw_usec due;
	dw_usec cancelled; /* the time at which the cancelling command had ended */
	dw_usec fired;     /* the time of the last start */
	enum cancel cancel;
	bool asked;     /* the timer may be in the store */
	bool confirmed; /* the timer is in the store */
	bool listed;
	unsigned starts;
	unsigned life;   /* the life of the last start */
	int64_t attempt; /* the attempt of the last start */
};

struct ledger {
	struct faults *faults;
	uint64_t seed; /* the seed of the data */
	struct entry *entries;
	size_t count;
	bool claimed_again; /* the clock was set back, so claims that were returned count, too */
	bool is_ordered;    /* within a life, timers must start in the order of (due, number) */
	unsigned life;      /* the number of the current owner, from 1 */
	dw_usec last_due;
	size_t last;
	size_t starts;
	size_t repeats;
	size_t cut; /* the number of cut lines */
};

void ledger_init(struct ledger *ret_ledger, struct faults *, size_t count);
void ledger_free(struct ledger *);

/* ledger_begin_life begins the life of a new owner. */
void ledger_begin_life(struct ledger *);

/* ledger_read reads the whole lines that the owner has written. */
void ledger_read(struct ledger *, struct process *owner);

/* ledger_end_life does the same for an owner that has ended, and also reads its cut line. */
void ledger_end_life(struct ledger *, struct process *owner);

/* ledger_list reads the lines of `durawheel list --json`. */
void ledger_list(struct ledger *, struct process *list);

/* ledger_check checks the promises at the end, when the store is empty. A timer may have at most
 * starts_max starts. */
void ledger_check(struct ledger *, unsigned starts_max);

/* ledger_check_listed checks that the list had each confirmed timer, and no cancelled one. */
void ledger_check_listed(struct ledger *);

#endif
