/* Cancels at the deadline. Another process cancels each of 2,000 timers within 20 ms of its
 * deadline, before or after, while the owner fires them. It cancels 500 more a little earlier,
 * around the time of the claim, which comes sooner on a slow disk. A confirmed cancel means that
 * the timer never starts. A refused one means that it starts; if the answer is that there is no
 * such timer, it started before the answer. */
#include "faults/client.h"
#include "faults/owner.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "faults/payload.h"

enum { TIMERS = 2500, TIMERS_LONG = 25000, EARLIER = 5 /* one in EARLIER timers */, TRIES = 4 };

#define FIRST (DW_SECONDS(2) * faults_slowness())
#define EACH DW_MILLISECONDS(1) /* the time from one deadline to the next */
#define AROUND DW_MILLISECONDS(20)
#define AHEAD DW_MILLISECONDS(300)

/* The time at which a timer must be cancelled. */
struct moment {
	dw_usec at;
	size_t number;
};

struct canceller {
	struct ledger *ledger;
	struct moment *moments; /* sorted by time */
	size_t asked;
	size_t answered;
};

/* ---- The other process ---------------------------------------------------------------------- */

static void answered(dw *d, const dw_result *result, void *user)
{
	struct canceller *canceller = user;

	(void)d;
	canceller->answered++;
	if (dprintf(STDOUT_FILENO, "%zu %d %lld\n", payload_number(result->id), result->status,
		    (long long)faults_now()) < 0)
		_exit(EXIT_FAILURE);
}

/* wait_until waits for an event, at most until the moment, and turns once. */
static int wait_until(dw *d, dw_usec moment)
{
	struct pollfd ready = {.fd = dw_fd(d), .events = POLLIN};
	dw_usec left = moment - faults_now();
	struct timespec patience = {left / 1000000, left % 1000000 * 1000};

	if (left > 0 && ppoll(&ready, 1, &patience, NULL) < 0)
		return EXIT_FAILURE;
	return dw_turn(d) == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int cancel_all(void *user)
{
	struct canceller *canceller = user;
	size_t count = canceller->ledger->count;
	dw_options options = {
	    .size = sizeof options, .store = canceller->ledger->faults->store, .role = DW_CLIENT};
	dw *d;

	if (dw_open(&d, &options, NULL) != DW_OK)
		return EXIT_FAILURE;
	while (canceller->answered < count) {
		const struct moment *next = &canceller->moments[canceller->asked];
		bool all = canceller->asked == count;
		char id[DW_ID_MAX + 1];

		if (wait_until(d, all ? faults_now() + AROUND : next->at) != EXIT_SUCCESS)
			return EXIT_FAILURE;
		if (all || faults_now() < next->at)
			continue;
		payload_id(next->number, id);
		if (dw_cancel(d, id, answered, canceller) != DW_OK)
			return EXIT_FAILURE;
		canceller->asked++;
	}
	return dw_close(d, FAULTS_PATIENCE) == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The test ------------------------------------------------------------------------------ */

static int by_time(const void *a, const void *b)
{
	const struct moment *one = a;
	const struct moment *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

static struct moment *choose(struct ledger *ledger, dw_usec first)
{
	struct moment *moments = calloc(ledger->count, sizeof *moments);
	dw_usec began = faults_now() + first;

	if (!moments)
		abort(); /* out of memory */
	for (size_t i = 0; i < ledger->count; i++) {
		ledger->entries[i].due = began + (dw_usec)i * EACH;
		moments[i].number = i;
		moments[i].at =
		    ledger->entries[i].due +
		    (i % EARLIER == 0 ? faults_between(ledger->faults, -AHEAD, -AROUND)
				      : faults_between(ledger->faults, -AROUND, AROUND));
	}
	qsort(moments, ledger->count, sizeof *moments, by_time);
	return moments;
}

static enum cancel cancel_of(int status)
{
	return status == DW_OK       ? CANCEL_DONE
	       : status == DW_ELATE  ? CANCEL_LATE
	       : status == DW_ENOENT ? CANCEL_GONE
				     : CANCEL_ASKED;
}

/* read_answers reads the answers of the cancels. Call it when the owner's firings are in the
 * ledger. */
static void read_answers(struct ledger *ledger, struct process *process, size_t *counts)
{
	size_t size, number;
	const char *line;
	long long at;
	int status;

	while ((line = stream_line(&process->out, &size))) {
		struct entry *entry;

		if (sscanf(line, "%zu %d %lld", &number, &status, &at) != 3 ||
		    number >= ledger->count) {
			faults_fail(ledger->faults, "no answer: %s", line);
			continue;
		}
		entry = &ledger->entries[number];
		entry->cancel = cancel_of(status);
		entry->cancelled = at;
		counts[entry->cancel]++;
		if (entry->cancel == CANCEL_ASKED)
			faults_fail(ledger->faults, "number %zu: %s", number, dw_strerror(status));
		if (entry->cancel == CANCEL_GONE && entry->starts > 0 && entry->fired > at)
			faults_fail(ledger->faults, "number %zu: started after it was settled",
				    number);
	}
}

/* has_raced returns true if some cancels came before the claim and some after it. With few timers
 * all may be on one side, so then it always returns true. */
static bool has_raced(const struct faults *faults, const size_t *counts)
{
	(void)printf("    cancels: %zu done, %zu late, %zu gone\n", counts[CANCEL_DONE],
		     counts[CANCEL_LATE], counts[CANCEL_GONE]); /* only for people */
	return faults->percent < 100 ||
	       (counts[CANCEL_DONE] > 0 && counts[CANCEL_LATE] + counts[CANCEL_GONE] > 0);
}

/* race_after runs a race whose first deadline is `first` after its beginning. Returns the result of
 * has_raced(). */
static bool race_after(struct faults *faults, dw_usec first)
{
	size_t counts[CANCEL_GONE + 1] = {0};
	struct client client = {.process = PROCESS_NONE};
	struct canceller canceller = {0};
	struct process owner, other;
	struct ledger ledger;

	ledger_init(&ledger, faults, faults_amount(faults, TIMERS, TIMERS_LONG));
	canceller.ledger = client.ledger = &ledger;
	canceller.moments = choose(&ledger, first);
	client_import(&client, 0, ledger.count);
	client_wait(&client);
	owner_start(&owner, &ledger, true);
	process_fork(&other, cancel_all, &canceller);
	owner_finish(&owner, &ledger);
	if (!process_wait(&other) || other.code != 0)
		faults_fail(faults, "the canceller: exit %d, %s", other.code,
			    stream_text(&other.err));
	process_kill(&other);
	read_answers(&ledger, &other, counts);
	ledger_check(&ledger, 1);
	client_check_empty(faults);
	process_free(&other);
	free(canceller.moments);
	ledger_free(&ledger);
	return has_raced(faults, counts);
}

/* If the machine was too busy for a race, cancel_deadline repeats the race with more time. */
void cancel_deadline(struct faults *faults)
{
	dw_usec first = FIRST;

	for (unsigned i = 0; i < TRIES; i++, first *= 2) {
		faults_store(faults, i);
		if (race_after(faults, first))
			return;
	}
	faults_fail(faults, "one of the two never came first, %d times: no race", TRIES);
}
