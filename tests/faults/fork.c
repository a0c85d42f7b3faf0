/* A program that uses the library forks without exec. The child may not use the handle that it has
 * inherited. It starts no timer, keeps no lock and disturbs nobody, whether it lives longer than
 * its parent or closes its copy of the handle at once. */
#include "durawheel/select.h"
#include "faults/client.h"
#include "faults/owner.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults/firing.h"
#include "faults/payload.h"

enum { TIMERS = 200, CHILD_TURN_MS = 5 };

#define FIRST DW_MILLISECONDS(300)
#define SPAN DW_SECONDS(2)

struct program {
	struct ledger *ledger;
	pid_t owner; /* the only process that may fire */
	bool closes; /* the child closes at once */
	size_t left; /* the number of timers still to be settled */
};

/* ---- The program --------------------------------------------------------------------------- */

/* fire writes the line that `durawheel run` would write. */
static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;

	if (getpid() != program->owner)
		(void)dprintf(STDERR_FILENO, "the child fires %s\n",
			      firing->id); /* the test reads it */
	firing_write(firing);
	if (--program->left == 0)
		dw_stop(d);
	return DW_DONE;
}

/* try_all runs in the child. It reports each call that needs the handle and does not return
 * DW_EFORK. */
static void try_all(dw *d, struct program *program)
{
	dw_token token = {.id = "x"};
	const int statuses[] = {
	    dw_turn(d),
	    dw_run(d),
	    dw_sync(d, 0),
	    dw_on(d, PAYLOAD_TOPIC, fire, program),
	    dw_after(d, PAYLOAD_TOPIC, "x", 0, NULL, 0),
	    dw_cancel(d, "x", NULL, NULL),
	    dw_settle(d, &token, DW_DONE, -1, NULL, NULL),
	    dw_list(d, NULL, NULL, 1, NULL, NULL),
	};

	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		if (statuses[i] != DW_EFORK)
			(void)dprintf(STDERR_FILENO, "the child's call %zu returned %d\n", i,
				      statuses[i]); /* the test reads it */
}

/* child turns its loop until the test closes the pipe, as a careless program would. */
static void child(dw *d, struct program *program)
{
	struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
	int status;

	try_all(d, program);
	if (!program->closes) {
		(void)dprintf(STDERR_FILENO, "child runs\n"); /* the test waits for it */
		while (poll(&end, 1, CHILD_TURN_MS) == 0)
			if (dw_turn(d) != DW_EFORK)
				(void)dprintf(STDERR_FILENO,
					      "the child turns\n"); /* the test reads it */
	}
	status = dw_close(d, DW_SECONDS(1));
	(void)dprintf(STDERR_FILENO, "child closed %d\n", status); /* the test reads it */
	(void)poll(&end, 1, -1); /* waits until the test closes the pipe */
	_exit(EXIT_SUCCESS);
}

static int program_body(void *user)
{
	struct program *program = user;
	dw_options options = {.size = sizeof options, .store = program->ledger->faults->store};
	dw *d;
	pid_t pid;

	program->owner = getpid();
	program->left = program->ledger->count;
	if (dw_open(&d, &options, NULL) != DW_OK || dw_on(d, "*", fire, program) != DW_OK)
		return EXIT_FAILURE;
	for (size_t i = 0; i < program->ledger->count; i++) {
		unsigned char data[PAYLOAD_MAX];
		char id[DW_ID_MAX + 1];

		payload_id(i, id);
		if (dw_at(d, PAYLOAD_TOPIC, id, program->ledger->entries[i].due, data,
			  payload_data(program->ledger->seed, i, data)) != DW_OK)
			return EXIT_FAILURE;
	}
	if (dw_sync(d, DW_SECONDS(30)) != DW_OK)
		return EXIT_FAILURE;
	pid = fork();
	if (pid == 0)
		child(d, program);
	if (pid < 0 || dw_run(d) != DW_OK)
		return EXIT_FAILURE;
	return dw_close(d, DW_SECONDS(30)) == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The tests ----------------------------------------------------------------------------- */

static void start(struct process *ret_process, struct program *program)
{
	struct ledger *ledger = program->ledger;
	dw_usec first = faults_now() + FIRST * faults_slowness();

	for (size_t i = 0; i < ledger->count; i++)
		ledger->entries[i] =
		    (struct entry){.due = first + faults_between(ledger->faults, 0, SPAN),
				   .asked = true,
				   .confirmed = true};
	ledger_begin_life(ledger);
	process_fork(ret_process, program_body, program);
}

/* check_child checks that the child has written exactly the expected lines. */
static void check_child(struct faults *faults, struct process *process, const char *expected)
{
	if (strcmp(stream_text(&process->err), expected) != 0)
		faults_fail(faults, "the child said: %s", stream_text(&process->err));
}

/* check_owned checks that a second owner is refused. */
static void check_owned(struct ledger *ledger)
{
	struct process second;

	owner_start(&second, ledger, true);
	if (!process_wait(&second) || second.code != 6)
		faults_fail(ledger->faults, "a second owner: exit %d, %s", second.code,
			    stream_text(&second.err));
	process_free(&second);
}

/* let_child_close lets the child of a dead owner close its handle while another process owns the
 * store. */
static void let_child_close(struct process *process, struct ledger *ledger)
{
	static const char expected[] = "child runs\nchild closed 0\n";
	struct process owner;

	owner_start(&owner, ledger, false);
	(void)owner_wait_running(&owner, ledger->faults); /* it complains itself */
	process_close_in(process);
	if (!process_wait_closed(process))
		faults_fail(ledger->faults, "the child does not end");
	check_child(ledger->faults, process, expected);
	check_owned(ledger);
	owner_kill(&owner, ledger);
}

void fork_outlives(struct faults *faults)
{
	struct ledger ledger;
	struct program program = {.ledger = &ledger};
	struct process process;

	ledger_init(&ledger, faults, TIMERS);
	start(&process, &program);
	if (!process_wait_text(&process, "child runs\n"))
		faults_fail(faults, "no child: %s", stream_text(&process.err));
	(void)owner_wait_starts(&process, &ledger, ledger.count / 4); /* it complains itself */
	process_kill(&process);
	ledger_end_life(&ledger, &process);
	owner_run_until_idle(&ledger); /* the owner would be refused if the child held a lock */
	ledger_check(&ledger, 2);
	client_check_empty(faults);
	let_child_close(&process, &ledger);
	process_free(&process);
	ledger_free(&ledger);
}

void fork_closes(struct faults *faults)
{
	struct ledger ledger;
	struct program program = {.ledger = &ledger, .closes = true};
	struct process process;

	ledger_init(&ledger, faults, TIMERS);
	start(&process, &program);
	if (!process_wait_text(&process, "child closed 0\n"))
		faults_fail(faults, "no child: %s", stream_text(&process.err));
	if (process.pid != 0) {
		check_owned(&ledger);
		ledger.life--; /* the refused owner does not count as a life */
	}
	owner_await(&process, &ledger);
	check_child(faults, &process, "child closed 0\n");
	ledger_check(&ledger, 1);
	client_check_empty(faults);
	process_free(&process);
	ledger_free(&ledger);
}
