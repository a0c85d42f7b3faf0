/* Cancels at the deadline. Two other processes cancel each timer within 20 ms of its deadline,
 * before or after, while the owner fires them. They cancel one timer of five earlier, because the
 * owner claims earlier if the server answers slowly: up to a second before the deadline. If a
 * cancel is confirmed, the timer never starts. If it is refused, the timer starts. */
#include "faults/redis/redis_faults.h"
#include "faults/redis/run.h"

#include <stdio.h>

enum { TIMERS = 300, TIMERS_LONG = 5000, TRIES = 4 };

#define EACH (DW_MILLISECONDS(4) * faults_slowness())
#define AROUND DW_MILLISECONDS(20)
#define AHEAD DW_MILLISECONDS(300)

/* has_raced returns true if some cancels came before the claim and some after it. On a busy machine
 * all may be on one side. */
static bool has_raced(const struct run *run)
{
	const struct history *history = run->history;
	size_t done = history_answers(history, HISTORY_CANCEL_ANSWERED, DW_OK);
	size_t late = history_answers(history, HISTORY_CANCEL_ANSWERED, DW_ELATE) +
		      history_answers(history, HISTORY_CANCEL_ANSWERED, DW_ENOENT);

	if (done + late != run->plan.count)
		faults_fail(run->faults, "%zu cancels were confirmed and %zu refused, of %zu", done,
			    late, run->plan.count);
	if (history_count(history, HISTORY_START) != late)
		faults_fail(run->faults, "%zu starts after %zu cancels that were refused",
			    history_count(history, HISTORY_START), late);
	return (done > 0 && late > 0) || run->faults->percent < 100;
}

static bool race(struct faults *faults, dw_usec ahead)
{
	const struct plan_race size = {.count = faults_amount(faults, TIMERS, TIMERS_LONG),
				       .each = EACH,
				       .around = AROUND,
				       .ahead = ahead};
	struct run run;
	bool raced;

	run_begin(&run, faults);
	plan_cancels(&run.plan, faults, &size);
	run_start(&run, PLAN_OWNER, DW_OWNER);
	run_start(&run, PLAN_CLIENT, DW_CLIENT);
	run_start(&run, PLAN_THIRD, DW_CLIENT);
	run_drain(&run);
	run_end(&run); /* this also reads the last starts */
	raced = has_raced(&run);
	run_close(&run);
	return raced;
}

/* On a busy machine all cancels may be on one side of the claim. cancel_at_deadline then repeats
 * the race with more time between the first cancels and the deadline. */
void cancel_at_deadline(struct faults *faults)
{
	dw_usec ahead = AHEAD;

	for (unsigned i = 0; i < TRIES; i++, ahead *= 2)
		if (race(faults, ahead))
			return;
	faults_fail(faults, "one of the two never came first, %d times: no race", TRIES);
}
