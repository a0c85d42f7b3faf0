/* A confirmed timer is stored, even if the process that added it is killed. `import` is killed in
 * the middle and repeated. A program that uses the library is killed after it has reported its
 * confirmations. */
#include "faults/client.h"
#include "faults/owner.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "faults/payload.h"

enum { ROUNDS = 20, LINES = 1000, PUTS = 3000, OUTSTANDING_MAX = 256 };

#define KILL_WITHIN (DW_MILLISECONDS(50) * faults_slowness())

/* pass lets time pass while the process works. */
static void pass(struct process *process, dw_usec duration)
{
	dw_usec until = faults_now() + duration;

	while (process->pid != 0 && faults_now() < until)
		process_poll(&process, 1, until);
}

/* ---- The command --------------------------------------------------------------------------- */

static void set_due(struct ledger *ledger, dw_usec due)
{
	for (size_t i = 0; i < ledger->count; i++)
		ledger->entries[i].due = due;
}

/* import_round imports twice, and kills the first import. Returns true if it was killed before its
 * end. */
static bool import_round(struct client *client, size_t first, size_t count)
{
	struct faults *faults = client->ledger->faults;
	bool killed;

	client_import(client, first, count);
	pass(&client->process, faults_between(faults, DW_MILLISECONDS(1), KILL_WITHIN));
	killed = client->process.pid != 0;
	client_free(client);
	client_import(client, first, count);
	client_wait(client);
	return killed;
}

void kill_import(struct faults *faults)
{
	struct ledger ledger;
	struct client client = {.ledger = &ledger, .process = PROCESS_NONE};
	size_t rounds = faults_amount(faults, ROUNDS, 5 * ROUNDS);
	size_t killed = 0;

	ledger_init(&ledger, faults, rounds * LINES);
	set_due(&ledger, faults_now());
	for (size_t i = 0; i < rounds; i++)
		killed += import_round(&client, i * LINES, LINES);
	client_list(&ledger);
	owner_run_until_idle(&ledger);
	ledger_check(&ledger, 1);
	client_check_empty(faults);
	(void)printf("    %zu of %zu imports were killed\n", killed, rounds); /* for people */
	if (killed == 0 && faults->percent == 100)
		faults_fail(faults, "no import was killed: no test");
	ledger_free(&ledger);
}

/* ---- The library --------------------------------------------------------------------------- */

struct putter {
	const struct ledger *ledger;
	dw_role role;
	size_t next, end;
	size_t outstanding;
};

/* answered reports a confirmed put before it does anything else. */
static void answered(dw *d, const dw_result *result, void *user)
{
	struct putter *putter = user;

	(void)d;
	putter->outstanding--;
	if (result->status != DW_OK || result->level != DW_STORED ||
	    dprintf(STDOUT_FILENO, "%zu\n", payload_number(result->id)) < 0)
		_exit(EXIT_FAILURE);
}

static void put(dw *d, struct putter *putter)
{
	unsigned char data[PAYLOAD_MAX];
	char id[DW_ID_MAX + 1];
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = PAYLOAD_TOPIC, .data = data};

	payload_id(putter->next, id);
	timer.due = putter->ledger->entries[putter->next].due;
	timer.data_size = payload_data(putter->ledger->seed, putter->next, data);
	if (dw_put(d, &timer, answered, putter) != DW_OK)
		_exit(EXIT_FAILURE);
	putter->next++;
	putter->outstanding++;
}

/* put_body is the body of the process, which only ends when it is killed. */
static int put_body(void *user)
{
	struct putter *putter = user;
	dw_options options = {
	    .size = sizeof options, .store = putter->ledger->faults->store, .role = putter->role};
	struct pollfd ready = {.events = POLLIN};
	dw *d;

	if (dw_open(&d, &options, NULL) != DW_OK)
		return EXIT_FAILURE;
	ready.fd = dw_fd(d);
	for (;;) {
		while (putter->next < putter->end && putter->outstanding < OUTSTANDING_MAX)
			put(d, putter);
		if (poll(&ready, 1, -1) < 0 || dw_turn(d) != DW_OK)
			return EXIT_FAILURE;
	}
}

static size_t confirm(struct ledger *ledger, struct process *process)
{
	size_t size, count = 0;
	const char *line;

	while ((line = stream_line(&process->out, &size))) {
		size_t number = (size_t)strtoull(line, NULL, 10);

		if (number < ledger->count)
			ledger->entries[number].confirmed = true;
		else
			faults_fail(ledger->faults, "no number: %s", line);
		count++;
	}
	return count;
}

void kill_put(struct faults *faults)
{
	struct ledger ledger;
	size_t rounds = faults_amount(faults, ROUNDS, 5 * ROUNDS);
	size_t confirmed = 0;
	dw_usec within = KILL_WITHIN;

	ledger_init(&ledger, faults, rounds * PUTS);
	set_due(&ledger, faults_now() + DW_HOURS(1));
	for (size_t i = 0; i < rounds; i++) {
		struct putter putter = {.ledger = &ledger,
					.role = i % 2 ? DW_OWNER : DW_CLIENT,
					.next = i * PUTS,
					.end = (i + 1) * PUTS};
		struct process process;

		for (size_t number = putter.next; number < putter.end; number++)
			ledger.entries[number].asked = true;
		process_fork(&process, put_body, &putter);
		pass(&process, faults_between(faults, DW_MILLISECONDS(1), within));
		if (process.pid == 0)
			faults_fail(faults, "the program ended by itself: exit %d", process.code);
		process_kill(&process);
		confirmed += confirm(&ledger, &process);
		if (confirmed == 0)
			within += KILL_WITHIN; /* the machine is slow now */
		process_free(&process);
	}
	if (confirmed > 0) /* otherwise the program may have been killed before it made the store */
		client_list(&ledger);
	(void)printf("    %zu puts were confirmed\n", confirmed); /* for people */
	if (confirmed == 0 && faults->percent == 100)
		faults_fail(faults, "no put was confirmed: no test");
	ledger_free(&ledger);
}
