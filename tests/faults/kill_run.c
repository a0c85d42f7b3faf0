/* The owner is killed repeatedly under load, at moments from before its first system call to long
 * after its recovery. Other processes add and cancel timers meanwhile. */
#include "faults/client.h"
#include "faults/owner.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMERS = 4000, KILLS = 40, ROUNDS_LONG = 5, TRIES = 4, BESIDE_MAX = 20 };

#define KILL_SOON (DW_MILLISECONDS(40) * faults_slowness())
#define KILL_LATE (DW_MILLISECONDS(260) * faults_slowness())
#define PAUSE DW_MILLISECONDS(10)
#define NEAR DW_MILLISECONDS(200)

struct kill_run {
	struct faults *faults;
	struct ledger ledger;
	struct client client;
	struct process owner;
	size_t fresh; /* the next timer to be added */
	dw_usec span; /* the time over which the deadlines are spread */
	dw_usec next; /* the time at which the next command may start */
	int slowness; /* the factor by which owners live longer */
	size_t cancels[CANCEL_GONE + 1];
};

static void wish(struct kill_run *test, size_t first, size_t count, dw_usec span)
{
	dw_usec now = faults_now();

	for (size_t i = first; i < first + count; i++)
		test->ledger.entries[i].due = now + faults_between(test->faults, 0, span);
}

/* may_cancel returns true if a timer may be cancelled. These are three of ten timers. With
 * only_near the timer must also have a deadline near now. */
static bool may_cancel(const struct kill_run *test, size_t number, bool only_near)
{
	const struct entry *entry = &test->ledger.entries[number];
	dw_usec left = entry->due - faults_now();

	return entry->confirmed && entry->cancel == CANCEL_NONE && number % 10 < 3 &&
	       (!only_near || (left > -NEAR && left < NEAR));
}

static void cancel_some(struct kill_run *test)
{
	struct client *client = &test->client;
	struct rng *rng = &test->faults->rng;
	size_t from = (size_t)rng_below(rng, test->ledger.count);
	bool only_near = rng_below(rng, 2) == 0;

	client->count = 0;
	for (size_t i = 0; i < test->ledger.count && client->count < CLIENT_IDS_MAX; i++) {
		size_t number = (from + i) % test->ledger.count;

		if (may_cancel(test, number, only_near))
			client->ids[client->count++] = number;
	}
	if (client->count > 0)
		client_cancel(client);
}

/* beside starts another command if none runs. */
static void beside(struct kill_run *test)
{
	uint64_t which = rng_below(&test->faults->rng, 10);
	size_t left = test->ledger.count - test->fresh;
	size_t count = which == 0 ? 1 : 1 + (size_t)rng_below(&test->faults->rng, BESIDE_MAX);

	if (which > 2 || left == 0) {
		cancel_some(test);
		return;
	}
	count = count < left ? count : left;
	wish(test, test->fresh, count, test->span / 4);
	if (count == 1)
		client_add(&test->client, test->fresh);
	else
		client_import(&test->client, test->fresh, count);
	test->fresh += count;
}

/* turn waits for events and handles them. */
static void turn(struct kill_run *test, dw_usec until)
{
	struct process *both[] = {&test->owner, &test->client.process};

	if (test->client.kind == CLIENT_NONE && faults_now() >= test->next)
		beside(test);
	if (test->client.kind == CLIENT_NONE && test->next < until)
		until = faults_now() + PAUSE;
	process_poll(both, 2, until);
	ledger_read(&test->ledger, &test->owner);
	if (client_has_ended(&test->client))
		test->next = faults_now() + faults_between(test->faults, 0, PAUSE);
}

/* live runs one owner from its start to its kill. In one of four lives nobody reads its output. */
static void live(struct kill_run *test)
{
	dw_usec until = faults_now() + DW_MILLISECONDS(5);

	if (rng_below(&test->faults->rng, 3) == 0)
		until += faults_between(test->faults, 0, KILL_SOON);
	else
		until += faults_between(test->faults, KILL_SOON, KILL_LATE * test->slowness);
	owner_start(&test->owner, &test->ledger, false);
	test->owner.stalled = rng_below(&test->faults->rng, 4) == 0;
	while (faults_now() < until && test->owner.pid != 0)
		turn(test, until);
	owner_kill(&test->owner, &test->ledger);
}

/* count_cancels returns false if there were too few cancels. On a busy machine they take more
 * time. */
static bool count_cancels(struct kill_run *test)
{
	for (size_t i = 0; i < test->ledger.count; i++)
		test->cancels[test->ledger.entries[i].cancel]++;
	return test->faults->percent < 100 || test->cancels[CANCEL_DONE] >= test->ledger.count / 10;
}

static bool round_of(struct faults *faults, unsigned kills, int slowness)
{
	struct kill_run test = {.faults = faults,
				.owner = PROCESS_NONE,
				.client = {.process = PROCESS_NONE},
				.slowness = slowness,
				.span = (dw_usec)kills * slowness * (KILL_LATE / 2)};
	bool enough;

	ledger_init(&test.ledger, faults, faults_amount(faults, TIMERS, TIMERS));
	test.client.ledger = &test.ledger;
	test.fresh = test.ledger.count - test.ledger.count / 3;
	wish(&test, 0, test.fresh, test.span);
	client_import(&test.client, 0, test.fresh);
	client_wait(&test.client);
	for (unsigned i = 0; i < kills; i++)
		live(&test);
	client_wait(&test.client);
	owner_run_until_idle(&test.ledger);
	ledger_check(&test.ledger, 1 + kills);
	client_check_empty(faults);
	enough = count_cancels(&test);
	(void)printf("    %u kills: %zu starts, %zu repeated, %zu lines cut; cancels: %zu done, "
		     "%zu late, %zu gone\n",
		     kills, test.ledger.starts, test.ledger.repeats, test.ledger.cut,
		     test.cancels[CANCEL_DONE], test.cancels[CANCEL_LATE],
		     test.cancels[CANCEL_GONE]); /* only for people */
	client_free(&test.client);
	ledger_free(&test.ledger);
	return enough;
}

void kill_run(struct faults *faults)
{
	unsigned kills = (unsigned)faults_amount(faults, KILLS, KILLS);
	unsigned done = 0, rounds = faults->is_long ? ROUNDS_LONG : 1;
	int slowness = 1;

	for (unsigned i = 0; done < rounds && i < rounds + TRIES; i++) {
		faults_store(faults, i);
		if (round_of(faults, kills, slowness))
			done++;
		else
			slowness *= 2;
	}
	if (done < rounds)
		faults_fail(faults, "few cancels were confirmed, %d times: no test", TRIES);
}
