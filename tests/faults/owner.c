#include "faults/owner.h"

void owner_start(struct process *ret_owner, struct ledger *ledger, bool until_idle)
{
	struct faults *faults = ledger->faults;
	const char *argv[] = {faults->command,
			      "run",
			      "--store",
			      faults->store,
			      until_idle ? "--until-idle" : NULL,
			      NULL};

	ledger_begin_life(ledger);
	process_start(ret_owner, argv);
}

void owner_kill(struct process *owner, struct ledger *ledger)
{
	if (owner->pid == 0)
		faults_fail(ledger->faults, "the owner ended by itself: exit %d, %s", owner->code,
			    stream_text(&owner->err));
	process_kill(owner);
	ledger_end_life(ledger, owner);
	process_free(owner);
}

void owner_await(struct process *owner, struct ledger *ledger)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (owner->pid != 0 && faults_now() < until) {
		size_t starts = ledger->starts;

		process_poll(&owner, 1, until);
		ledger_read(ledger, owner);
		if (ledger->starts > starts) /* each start extends the time */
			until = faults_now() + FAULTS_PATIENCE;
	}
	if (owner->pid != 0)
		faults_fail(ledger->faults, "the owner does not end, after %zu starts",
			    ledger->starts);
	process_kill(owner);
	ledger_end_life(ledger, owner);
	if (owner->code != 0)
		faults_fail(ledger->faults, "the owner: exit %d, %s", owner->code,
			    stream_text(&owner->err));
}

void owner_finish(struct process *owner, struct ledger *ledger)
{
	owner_await(owner, ledger);
	process_free(owner);
}

void owner_run_until_idle(struct ledger *ledger)
{
	struct process owner;

	owner_start(&owner, ledger, true);
	owner_finish(&owner, ledger);
}

bool owner_wait_starts(struct process *owner, struct ledger *ledger, size_t starts)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	ledger_read(ledger, owner); /* what the owner has written before */
	while (ledger->starts < starts && owner->pid != 0 && faults_now() < until) {
		process_poll(&owner, 1, until);
		ledger_read(ledger, owner);
	}
	if (ledger->starts >= starts)
		return true;
	faults_fail(ledger->faults, "%zu starts instead of %zu, exit %d, %s", ledger->starts,
		    starts, owner->code, stream_text(&owner->err));
	return false;
}

bool owner_wait_running(struct process *owner, struct faults *faults)
{
	if (process_wait_text(owner, "durawheel: running, "))
		return true;
	faults_fail(faults, "the owner does not run: exit %d, %s", owner->code,
		    stream_text(&owner->err));
	return false;
}
