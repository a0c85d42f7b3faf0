/* A store has one owner. A second owner is refused at once with a message, even if both start at
 * the same moment. The death of the owner frees the store at once. */
#include "faults/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RACES = 8, EXIT_STORE = 6 };

/* check_words checks that the message names the owner. */
static void check_words(struct faults *faults, struct process *refused)
{
	const char *text = stream_text(&refused->err);

	if (refused->code != EXIT_STORE || !strstr(text, " is owned by ") ||
	    !strstr(text, "pid ") || refused->out.size != 0)
		faults_fail(faults, "the second owner: exit %d, %s", refused->code, text);
}

static void check_refused(struct ledger *ledger)
{
	struct faults *faults = ledger->faults;
	struct process second;

	owner_start(&second, ledger, false);
	if (!process_wait(&second))
		faults_fail(faults, "the second owner is not refused");
	process_kill(&second);
	check_words(faults, &second);
	process_free(&second);
}

/* race starts two owners at once. One runs, and the other is refused. */
static void race(struct ledger *ledger)
{
	struct faults *faults = ledger->faults;
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	struct process owners[2];
	struct process *both[] = {&owners[0], &owners[1]};
	int refused;

	owner_start(&owners[0], ledger, false);
	owner_start(&owners[1], ledger, false);
	while (owners[0].pid != 0 && owners[1].pid != 0 && faults_now() < until)
		process_poll(both, 2, until);
	refused = owners[0].pid == 0 ? 0 : 1;
	check_words(faults, &owners[refused]);
	(void)owner_wait_running(&owners[1 - refused], faults); /* it complains itself */
	process_free(&owners[0]);
	process_free(&owners[1]);
}

void second_owner(struct faults *faults)
{
	size_t races = faults_amount(faults, RACES, 10 * RACES);
	struct ledger ledger;
	struct process first;

	ledger_init(&ledger, faults, 1);
	for (int i = 0; i < 3; i++) {
		owner_start(&first, &ledger, false);
		if (owner_wait_running(&first, faults))
			check_refused(&ledger);
		owner_kill(&first, &ledger);
	}
	for (size_t i = 0; i < races; i++)
		race(&ledger);
	ledger_free(&ledger);
}
