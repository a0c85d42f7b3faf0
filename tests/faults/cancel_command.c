/* Cancels by the command. Each timer gets a `durawheel cancel` of its own within 20 ms of its
 * deadline, before or after, while the owner fires the timers. Several commands run at a time. A
 * confirmed cancel (exit 0) means that the timer never starts. A refused one means that it starts:
 * for exit 5 at any time, for exit 3 before the command has ended.
 *
 * A command takes some time to start and to read the store, and on a slow disk an owner claims
 * earlier. If one of the two outcomes did not occur, the cancels of the next round therefore come
 * earlier or later. */
#include "faults/client.h"
#include "faults/owner.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMERS = 300, TIMERS_LONG = 2100, AT_A_TIME = PROCESS_POLL_MAX - 1, ROUNDS = 5 };

#define FIRST (DW_SECONDS(1) * faults_slowness())
#define EACH (DW_MILLISECONDS(6) * faults_slowness()) /* the time from one deadline to the next */
#define AROUND DW_MILLISECONDS(20)
#define AHEAD (DW_MILLISECONDS(5) * faults_slowness()) /* from the start to the cancel */

/* The time at which a command must start. */
struct moment {
	dw_usec at;
	size_t number;
};

struct race {
	struct ledger ledger;
	struct process owner;
	struct moment *moments; /* sorted by time */
	size_t next;
	struct client clients[AT_A_TIME];
	dw_usec began[AT_A_TIME];
	size_t near; /* the number of commands that ran within AROUND of the deadline */
	size_t counts[CANCEL_GONE + 1];
};

static int by_time(const void *a, const void *b)
{
	const struct moment *one = a;
	const struct moment *other = b;

	return one->at < other->at ? -1 : one->at > other->at;
}

static void choose(struct race *race, dw_usec shift)
{
	struct ledger *ledger = &race->ledger;
	dw_usec first = faults_now() + FIRST;

	race->moments = calloc(ledger->count, sizeof *race->moments);
	if (!race->moments)
		abort(); /* out of memory */
	for (size_t i = 0; i < ledger->count; i++) {
		ledger->entries[i].due = first + (dw_usec)i * EACH;
		race->moments[i].number = i;
		race->moments[i].at = ledger->entries[i].due + shift +
				      faults_between(ledger->faults, -AROUND, AROUND);
	}
	qsort(race->moments, ledger->count, sizeof *race->moments, by_time);
}

/* free_client returns the index of a client that runs no command, or AT_A_TIME. */
static size_t free_client(const struct race *race)
{
	size_t i = 0;

	while (i < AT_A_TIME && race->clients[i].kind != CLIENT_NONE)
		i++;
	return i;
}

/* start_due starts the commands whose time has come. Returns the time of the next one. */
static dw_usec start_due(struct race *race)
{
	for (;;) {
		const struct moment *next = &race->moments[race->next];
		size_t i = free_client(race);
		dw_usec now = faults_now();

		if (race->next == race->ledger.count || i == AT_A_TIME)
			return now + AROUND;
		if (next->at > now)
			return next->at;
		race->next++;
		race->began[i] = now;
		race->clients[i].ids[0] = next->number;
		race->clients[i].count = 1;
		client_cancel(&race->clients[i]);
	}
}

/* take_ended returns the number of commands that still run. */
static size_t take_ended(struct race *race)
{
	size_t running = 0;

	for (size_t i = 0; i < AT_A_TIME; i++) {
		struct client *client = &race->clients[i];
		const struct entry *entry = &race->ledger.entries[client->ids[0]];

		if (client->kind == CLIENT_NONE)
			continue;
		if (!client_has_ended(client)) {
			running++;
			continue;
		}
		race->counts[entry->cancel]++;
		race->near += race->began[i] <= entry->due + AROUND &&
			      entry->cancelled >= entry->due - AROUND;
	}
	return running;
}

static void cancel_all(struct race *race)
{
	struct process *all[PROCESS_POLL_MAX] = {&race->owner};
	dw_usec until = faults_now() + FIRST + EACH * (dw_usec)race->ledger.count + FAULTS_PATIENCE;
	size_t running = 0;

	for (size_t i = 0; i < AT_A_TIME; i++)
		all[1 + i] = &race->clients[i].process;
	while ((running > 0 || race->next < race->ledger.count) && faults_now() < until) {
		process_poll(all, PROCESS_POLL_MAX, start_due(race));
		ledger_read(&race->ledger, &race->owner);
		running = take_ended(race);
	}
	if (running > 0)
		faults_fail(race->ledger.faults, "%zu cancels hang", running);
}

static void count_codes(const struct race *race)
{
	size_t answered =
	    race->counts[CANCEL_DONE] + race->counts[CANCEL_LATE] + race->counts[CANCEL_GONE];

	(void)printf("    %zu commands, %zu within 20 ms of the deadline; exit 0: %zu, 5: %zu, "
		     "3: %zu\n",
		     race->ledger.count, race->near, race->counts[CANCEL_DONE],
		     race->counts[CANCEL_LATE], race->counts[CANCEL_GONE]); /* only for people */
	if (answered != race->ledger.count ||
	    race->ledger.starts != answered - race->counts[CANCEL_DONE])
		faults_fail(race->ledger.faults, "%zu answers of %zu, %zu starts", answered,
			    race->ledger.count, race->ledger.starts);
}

/* run_round returns the shift that the next round needs: negative is earlier, 0 is none. */
static int run_round(struct faults *faults, dw_usec shift)
{
	struct race race = {.owner = PROCESS_NONE};
	int way;

	ledger_init(&race.ledger, faults, faults_amount(faults, TIMERS, TIMERS_LONG));
	for (size_t i = 0; i < AT_A_TIME; i++)
		race.clients[i] = (struct client){.ledger = &race.ledger, .process = PROCESS_NONE};
	choose(&race, shift);
	client_import(&race.clients[0], 0, race.ledger.count);
	client_wait(&race.clients[0]);
	owner_start(&race.owner, &race.ledger, true);
	cancel_all(&race);
	owner_finish(&race.owner, &race.ledger);
	count_codes(&race);
	ledger_check(&race.ledger, 1);
	client_check_empty(faults);
	way = race.counts[CANCEL_DONE] == 0                              ? -1
	      : race.counts[CANCEL_LATE] + race.counts[CANCEL_GONE] == 0 ? 1
									 : 0;
	for (size_t i = 0; i < AT_A_TIME; i++)
		client_free(&race.clients[i]);
	free(race.moments);
	ledger_free(&race.ledger);
	return way;
}

void cancel_command(struct faults *faults)
{
	dw_usec shift = -AHEAD;
	unsigned round = 0;
	int way;

	do {
		faults_store(faults, round++);
		way = run_round(faults, shift);
		shift += way * 2 * AROUND * faults_slowness();
	} while (way != 0 && round < ROUNDS && faults->failures == 0);
	if (way != 0 && faults->percent == 100)
		faults_fail(faults, "no cancel was %s: no race", way < 0 ? "in time" : "refused");
}
