/* An owner is stopped for a while, or asked to end. No start is lost or added. */
#include "faults/client.h"
#include "faults/owner.h"

#include <signal.h>
#include <stdio.h>

enum { TIMERS = 3000, TIMERS_LONG = 50000, ENDS = 6, ENDS_LONG = 40 };

#define SPAN (DW_SECONDS(2) * faults_slowness())
#define STOPPED DW_MILLISECONDS(1200)
#define STOPPED_LONG DW_SECONDS(8)
#define END_WITHIN (DW_MILLISECONDS(400) * faults_slowness())

/* wish sets the deadlines. Half of the timers share a few deadlines, so that many are claimed at a
 * time. */
static void wish(struct ledger *ledger, struct faults *faults)
{
	dw_usec now = faults_now();

	ledger_init(ledger, faults, faults_amount(faults, TIMERS, TIMERS_LONG));
	for (size_t i = 0; i < ledger->count; i++) {
		dw_usec after = faults_between(faults, 0, SPAN);

		ledger->entries[i].due = now + (i % 2 ? after : after - after % (SPAN / 8));
	}
}

static void import(struct ledger *ledger, size_t first, size_t count)
{
	struct client client = {.ledger = ledger, .process = PROCESS_NONE};

	client_import(&client, first, count);
	client_wait(&client);
}

static void pass(struct process *owner, struct ledger *ledger, dw_usec duration)
{
	dw_usec until = faults_now() + duration;

	while (owner->pid != 0 && faults_now() < until) {
		process_poll(&owner, 1, until);
		if (!owner->stalled)
			ledger_read(ledger, owner);
	}
}

/* stop_continue stops the owner for a while. Another process adds half of the timers while the
 * owner runs. On a busy machine the owner may have become idle and ended before that. Then another
 * owner fires them. */
void stop_continue(struct faults *faults)
{
	struct ledger ledger;
	struct process owner;
	size_t half;

	wish(&ledger, faults);
	half = ledger.count / 2;
	import(&ledger, 0, half);
	owner_start(&owner, &ledger, true);
	if (owner_wait_running(&owner, faults))
		import(&ledger, half, ledger.count - half);
	if (owner_wait_starts(&owner, &ledger, ledger.count / 4)) {
		process_signal(&owner, SIGSTOP);
		pass(&owner, &ledger, faults->is_long ? STOPPED_LONG : STOPPED);
		process_signal(&owner, SIGCONT);
	}
	owner_finish(&owner, &ledger);
	owner_run_until_idle(&ledger);
	ledger_check(&ledger, 1);
	client_check_empty(faults);
	ledger_free(&ledger);
}

/* check_given_back checks that no timer is claimed after a normal end. */
static void check_given_back(struct faults *faults)
{
	const char *argv[] = {faults->command, "stats", "--json", "--store", faults->store, NULL};
	struct process stats;
	size_t pending = 0, claimed = 1;

	process_start(&stats, argv);
	if (!process_wait(&stats) || stats.code != 0 ||
	    sscanf(stream_text(&stats.out), "{\"pending\":%zu,\"claimed\":%zu,", &pending,
		   &claimed) != 2 ||
	    claimed != 0)
		faults_fail(faults, "claims are left: %.40s", stream_text(&stats.out));
	process_free(&stats);
}

/* end_one asks an owner to end. Every second time nobody reads its output. */
static void end_one(struct ledger *ledger, bool stalled)
{
	struct faults *faults = ledger->faults;
	struct process owner;

	owner_start(&owner, ledger, false);
	if (!owner_wait_running(&owner, faults)) {
		process_free(&owner);
		return;
	}
	owner.stalled = stalled;
	pass(&owner, ledger, faults_between(faults, 0, END_WITHIN));
	process_signal(&owner, SIGTERM);
	owner.stalled = false;
	owner_finish(&owner, ledger);
	check_given_back(faults);
}

void stop_term(struct faults *faults)
{
	size_t ends = faults_amount(faults, ENDS, ENDS_LONG);
	struct ledger ledger;

	wish(&ledger, faults);
	ledger.is_ordered = true;
	import(&ledger, 0, ledger.count);
	for (size_t i = 0; i < ends; i++)
		end_one(&ledger, i % 2 == 1);
	owner_run_until_idle(&ledger);
	ledger_check(&ledger, 1);
	client_check_empty(faults);
	ledger_free(&ledger);
}
