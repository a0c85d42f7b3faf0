/* A large import fires in the order of (deadline, line of the import). Many deadlines are equal,
 * more than a page of the recovery holds. The order also survives a kill in the middle. */
#include "faults/client.h"
#include "faults/owner.h"

#include <stdio.h>

enum { LINES = 20000, LINES_LONG = 200000, SPAN_S = 5, SPAN_LONG_S = 60, STEPS = 12 };

/* wish sets the deadlines. Half of the timers share a few deadlines, the others have random ones.
 * Some deadlines have passed when the import is read. */
static void wish(struct ledger *ledger)
{
	struct faults *faults = ledger->faults;
	dw_usec began = faults_now();
	dw_usec span = DW_SECONDS(faults->is_long ? SPAN_LONG_S : SPAN_S);

	span = span * faults->percent / 100;
	for (size_t i = 0; i < ledger->count; i++) {
		dw_usec after = faults_between(faults, 0, span);

		if (i % 2 == 0)
			after -= after % (span / STEPS);
		ledger->entries[i].due = began + after;
	}
}

static void import(struct ledger *ledger, struct faults *faults)
{
	struct client client = {.ledger = ledger, .process = PROCESS_NONE};

	ledger_init(ledger, faults, faults_amount(faults, LINES, LINES_LONG));
	ledger->is_ordered = true;
	wish(ledger);
	client_import(&client, 0, ledger->count);
	client_wait(&client);
}

void order(struct faults *faults)
{
	struct ledger ledger;

	import(&ledger, faults);
	owner_run_until_idle(&ledger);
	ledger_check(&ledger, 1);
	client_check_empty(faults);
	ledger_free(&ledger);
}

void order_killed(struct faults *faults)
{
	struct ledger ledger;
	struct process owner;
	size_t middle;

	import(&ledger, faults);
	middle = (size_t)rng_below(&faults->rng, ledger.count / 2) + ledger.count / 4;
	owner_start(&owner, &ledger, false);
	(void)owner_wait_starts(&owner, &ledger, middle); /* it complains itself */
	owner_kill(&owner, &ledger);
	owner_run_until_idle(&ledger);
	ledger_check(&ledger, 2);
	client_check_empty(faults);
	(void)printf("    %zu timers, %zu repeated\n", ledger.count, ledger.repeats); /* to read */
	ledger_free(&ledger);
}
