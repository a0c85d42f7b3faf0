/* Cancels that race with claims. Other processes cancel timers that are due within the next
 * moments, so some cancels of each command are in time and some are too late. If a cancel is
 * confirmed, the timer does not start; if it is too late, the timer does. On a busy machine all
 * deadlines may pass before any cancel, and nothing has raced. Then the test tries again with more
 * time. */
#include "faults/client.h"
#include "faults/owner.h"

#include <stdio.h>

enum { TIMERS = 6000, TIMERS_LONG = 60000, TRIES = 5 };

#define FIRST (DW_MILLISECONDS(300) * faults_slowness())
#define EACH 500 /* the time in us from one deadline to the next */
#define AHEAD (DW_MILLISECONDS(80) * faults_slowness())

/* The timers are numbered by deadline. `next` is the first whose deadline has not passed. */
struct race {
	struct ledger ledger;
	struct client client;
	struct process owner;
	size_t next;
};

/* cancel_some cancels every second one of the next timers. */
static void cancel_some(struct race *race)
{
	const struct entry *entries = race->ledger.entries;
	dw_usec now = faults_now();

	while (race->next < race->ledger.count && entries[race->next].due < now)
		race->next++;
	race->client.count = 0;
	for (size_t i = race->next; i < race->ledger.count && entries[i].due < now + AHEAD; i++)
		if (i % 2 == 0 && entries[i].cancel == CANCEL_NONE &&
		    race->client.count < CLIENT_IDS_MAX)
			race->client.ids[race->client.count++] = i;
	if (race->client.count > 0)
		client_cancel(&race->client);
}

static void run_race(struct race *race)
{
	struct process *both[] = {&race->owner, &race->client.process};
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (race->owner.pid != 0 && faults_now() < until) {
		if (race->client.kind == CLIENT_NONE)
			cancel_some(race);
		process_poll(both, 2, faults_now() + DW_MILLISECONDS(1));
		ledger_read(&race->ledger, &race->owner);
		(void)client_has_ended(&race->client); /* a command that still runs is read later */
	}
	client_wait(&race->client);
	owner_finish(&race->owner, &race->ledger);
}

/* has_raced returns true if some cancels came before the claim and some after it. With few timers
 * all may be on one side, so then it only requires a cancel. */
static bool has_raced(const struct faults *faults, const struct ledger *ledger)
{
	size_t cancels[CANCEL_GONE + 1] = {0};
	size_t late;

	for (size_t i = 0; i < ledger->count; i++)
		cancels[ledger->entries[i].cancel]++;
	late = cancels[CANCEL_LATE] + cancels[CANCEL_GONE];
	(void)printf("    cancels: %zu done, %zu late, %zu gone\n", cancels[CANCEL_DONE],
		     cancels[CANCEL_LATE], cancels[CANCEL_GONE]); /* only for people */
	if (faults->percent == 100)
		return cancels[CANCEL_DONE] > 0 && late > 0;
	return cancels[CANCEL_DONE] + late > 0;
}

/* race_after runs a race whose first deadline is `first` ahead. It adds the time of the import to
 * *taken. */
static bool race_after(struct faults *faults, dw_usec first, dw_usec *taken)
{
	struct race race = {.client = {.process = PROCESS_NONE}};
	dw_usec began;
	bool raced;

	ledger_init(&race.ledger, faults, faults_amount(faults, TIMERS, TIMERS_LONG));
	race.client.ledger = &race.ledger;
	*taken -= faults_now();
	began = faults_now() + first;
	for (size_t i = 0; i < race.ledger.count; i++)
		race.ledger.entries[i].due = began + (dw_usec)i * EACH;
	client_import(&race.client, 0, race.ledger.count);
	client_wait(&race.client);
	*taken += faults_now();
	owner_start(&race.owner, &race.ledger, true);
	run_race(&race);
	ledger_check(&race.ledger, 1);
	client_check_empty(faults);
	raced = has_raced(faults, &race.ledger);
	ledger_free(&race.ledger);
	return raced;
}

void cancel_race(struct faults *faults)
{
	dw_usec first = FIRST, taken = 0;

	for (unsigned i = 0; i < TRIES; i++, first += 2 * taken) {
		faults_store(faults, i);
		if (race_after(faults, first, &taken))
			return;
	}
	faults_fail(faults, "nothing has raced, %d times: no test", TRIES);
}
