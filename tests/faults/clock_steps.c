/* An owner whose wall clock is set by a second and by an hour, forward and back. No timer starts
 * early by the owner's clock, none starts twice, and none is lost. A preloaded library sets the
 * clock, because the machine's own clock is shared. */
#include "faults/client.h"
#include "faults/owner.h"
#include "faults/stepped.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TIMERS = 2000, TIMERS_LONG = 40000 };

#define SPAN DW_SECONDS(3)
#define SPAN_LONG DW_SECONDS(30)

/* The process under test. */
struct program {
	struct faults *faults;
	struct ledger ledger;
	struct process owner;
	struct stepped *clock; /* shared with the process */
	unsigned steps;
};

/* wish: half of the timers are due within a span from now, the others an hour later. */
static void wish(struct program *program)
{
	struct ledger *ledger = &program->ledger;
	struct faults *faults = program->faults;
	struct client client = {.ledger = ledger, .process = PROCESS_NONE};
	dw_usec now = faults_now();
	dw_usec span = faults->is_long ? SPAN_LONG : SPAN;

	ledger_init(ledger, faults, faults_amount(faults, TIMERS, TIMERS_LONG));
	for (size_t i = 0; i < ledger->count; i++)
		ledger->entries[i].due =
		    now + faults_between(faults, 0, span) + (i % 2 ? DW_HOURS(1) : 0);
	client_import(&client, 0, ledger->count);
	client_wait(&client);
}

/* share_clock makes the shared file and puts its name into the environment. */
static void share_clock(struct program *program)
{
	char path[TEMP_SIZE];
	int fd = open(temp_file(path, program->faults->folder, "clock"), O_RDWR | O_CREAT, 0600);
	void *shared = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof *program->clock) == 0)
		shared =
		    mmap(NULL, sizeof *program->clock, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED || setenv("DW_STEPPED_CLOCK", path, 1) != 0 ||
	    setenv("LD_PRELOAD", DW_STEPPED_LIBRARY, 1) != 0) {
		perror("clock_steps");
		abort(); /* the test needs the file */
	}
	(void)close(fd);
	program->clock = shared;
}

static void unshare_clock(struct program *program)
{
	(void)unsetenv("LD_PRELOAD");
	(void)unsetenv("DW_STEPPED_CLOCK");
	(void)munmap(program->clock, sizeof *program->clock);
}

/* count_told: how often the owner has reported that its clock was set. */
static unsigned count_told(struct program *program)
{
	const char *text = stream_text(&program->owner.err);
	unsigned count = 0;

	while ((text = strstr(text, "the wall clock was set "))) {
		text++;
		count++;
	}
	return count;
}

/* step sets the clock, and waits until the owner has reported the step. */
static void step(struct program *program, dw_usec ahead)
{
	struct process *owner = &program->owner;
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	atomic_store(&program->clock->ahead_us, ahead);
	(void)atomic_fetch_add(&program->clock->steps, 1);
	(void)syscall(SYS_futex, &program->clock->steps, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	program->steps++;
	while (count_told(program) < program->steps && owner->pid != 0 && faults_now() < until) {
		process_poll(&owner, 1, until);
		ledger_read(&program->ledger, owner);
	}
	if (count_told(program) != program->steps)
		faults_fail(program->faults, "%u of %u steps of the clock were told: %s",
			    count_told(program), program->steps, stream_text(&owner->err));
}

static void await_share(struct program *program, size_t sixteenths)
{
	struct ledger *ledger = &program->ledger;

	(void)owner_wait_starts(&program->owner, ledger, ledger->count * sixteenths / 16);
}

static void pass(struct program *program, dw_usec duration)
{
	struct process *owner = &program->owner;
	dw_usec until = faults_now() + duration;

	while (owner->pid != 0 && faults_now() < until) {
		process_poll(&owner, 1, until);
		ledger_read(&program->ledger, owner);
	}
}

/* expect_quiet checks that no timer is due for an hour, by the program's clock. */
static void expect_quiet(struct program *program)
{
	size_t starts;

	pass(program, DW_MILLISECONDS(300)); /* reads the lines written before */
	starts = program->ledger.starts;
	pass(program, DW_MILLISECONDS(500));
	if (program->ledger.starts != starts)
		faults_fail(program->faults, "%zu timers started an hour early",
			    program->ledger.starts - starts);
}

/* run_with_steps: before the step back by an hour, some timers of the second half have started. The
 * step gives the claims of the next ones back. */
static void run_with_steps(struct program *program)
{
	struct ledger *ledger = &program->ledger;

	owner_start(&program->owner, ledger, true);
	if (!owner_wait_running(&program->owner, program->faults))
		return;
	await_share(program, 1);
	step(program, DW_SECONDS(1));
	await_share(program, 4);
	step(program, 0);
	ledger->claimed_again = true;
	await_share(program, 6);
	step(program, DW_HOURS(1));
	await_share(program, 11);
	step(program, 0);
	expect_quiet(program);
	step(program, DW_HOURS(1));
	owner_finish(&program->owner, ledger);
}

void clock_steps(struct faults *faults)
{
	struct program program = {.faults = faults, .owner = PROCESS_NONE};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	faults_not_tested(faults, "a sanitizer's runtime must be loaded first");
	return;
#endif
	wish(&program);
	share_clock(&program);
	run_with_steps(&program);
	process_free(&program.owner);
	unshare_clock(&program);
	ledger_check(&program.ledger, 1);
	client_check_empty(faults);
	ledger_free(&program.ledger);
}
