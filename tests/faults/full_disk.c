/* No file may grow any more: RLIMIT_FSIZE, which makes a write fail as a full disk or a quota does.
 * New timers are refused with a message and are not stored. Stored timers fire, are settled and can
 * be cancelled, up to a thousand times. Once there is space again, everything works as before.
 *
 * SIGXFSZ keeps its action: the store writes from a thread that takes no signals. */
#include "faults/client.h"
#include "faults/firing.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/payload.h"

enum { KEPT = 1200, CANCELLED = 1000, DUE = 60, PUTS_MAX = 3000, REFUSED = 5 };

#define SPACE_LEFT ((rlim_t)1024 * 1024)
#define AGAIN_MS 20

struct program {
	struct ledger *ledger;
	dw *d;
	size_t fired;
	bool said; /* the program has reported that the disk is full */
	bool done; /* the last operation was answered */
	int status;
};

/* ---- The program --------------------------------------------------------------------------- */

static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vdprintf(STDERR_FILENO, format, arguments); /* the test reads it */
	va_end(arguments);
	_exit(EXIT_FAILURE);
}

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct program *program = user;

	(void)d;
	program->fired++;
	firing_write(firing);
	return DW_DONE;
}

static void note_log(dw_log_level level, const char *line, void *user)
{
	struct program *program = user;

	(void)level;
	if (strstr(line, "the disk is full: new timers are refused until there is space"))
		program->said = true;
}

static void answered(dw *d, const dw_result *result, void *user)
{
	struct program *program = user;

	(void)d;
	program->done = true;
	program->status = result->status;
}

/* turn_for waits at most patience_ms for an event, and turns once. */
static void turn_for(struct program *program, int patience_ms)
{
	struct pollfd ready = {.fd = dw_fd(program->d), .events = POLLIN};

	if (poll(&ready, 1, patience_ms) < 0 || dw_turn(program->d) != DW_OK)
		wrong("no turn: %s\n", dw_last_error(program->d));
}

static int wait_answer(struct program *program, int status)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (status == DW_OK && !program->done) {
		turn_for(program, AGAIN_MS);
		if (faults_now() > until)
			wrong("no answer\n");
	}
	return status == DW_OK ? program->status : status;
}

static int submit(struct program *program, size_t number, dw_done_fn done)
{
	unsigned char data[PAYLOAD_MAX];
	char id[DW_ID_MAX + 1];
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = PAYLOAD_TOPIC, .data = data};

	payload_id(number, id);
	timer.due = program->ledger->entries[number].due;
	timer.data_size = payload_data(program->ledger->seed, number, data);
	return dw_put(program->d, &timer, done, program);
}

static int put(struct program *program, size_t number)
{
	program->done = false;
	return wait_answer(program, submit(program, number, answered));
}

static int cancel(struct program *program, size_t number)
{
	char id[DW_ID_MAX + 1];

	payload_id(number, id);
	program->done = false;
	return wait_answer(program, dw_cancel(program->d, id, answered, program));
}

static void limit_files(const struct program *program, bool limited)
{
	struct rlimit limit;
	struct stat log;
	char path[FAULTS_STORE_SIZE + 8];

	(void)snprintf(path, sizeof path, "%s-wal",
		       strchr(program->ledger->faults->store, ':') + 1); /* it fits */
	if (stat(path, &log) != 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0)
		wrong("%s: no log\n", path);
	limit.rlim_cur = limited ? (rlim_t)log.st_size + SPACE_LEFT : limit.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		wrong("no limit\n");
}

/* fill puts timers until a put is refused. Returns the number of the refused timer. */
static size_t fill(struct program *program)
{
	size_t number = KEPT + DUE;
	int status = DW_OK;

	for (; number < program->ledger->count; number++) {
		status = put(program, number);
		if (status != DW_OK)
			break;
		(void)dprintf(STDERR_FILENO, "stored %zu\n", number); /* the test reads it */
	}
	if (status != DW_EFULL || !program->said)
		wrong("a put on a full disk: %s, %s\n", dw_strerror(status),
		      program->said ? "" : "and nobody was told");
	return number;
}

/* go_on does everything except adding timers. */
static void go_on(struct program *program, size_t refused)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	for (size_t i = 0; i < CANCELLED; i++) {
		int status = cancel(program, i);

		if (status != DW_OK)
			wrong("cancel %zu on a full disk: %s\n", i, dw_strerror(status));
	}
	for (size_t i = refused; i < refused + REFUSED; i++)
		if (put(program, i) != DW_EFULL)
			wrong("put %zu on a full disk\n", i);
	while (program->fired < DUE && faults_now() < until)
		turn_for(program, AGAIN_MS);
	if (program->fired < DUE)
		wrong("%zu of %d fired on a full disk\n", program->fired, DUE);
}

static void recover(struct program *program, size_t number)
{
	dw_usec began = faults_now();
	int status = put(program, number);

	while (status != DW_OK && faults_now() < began + FAULTS_PATIENCE) {
		turn_for(program, AGAIN_MS);
		status = put(program, number);
	}
	if (status != DW_OK)
		wrong("no recovery: %s\n", dw_strerror(status));
	(void)dprintf(STDERR_FILENO, "stored %zu\n", number); /* the test reads it */
}

static int program_body(void *user)
{
	struct program *program = user;
	dw_options options = {.size = sizeof options,
			      .store = program->ledger->faults->store,
			      .on_log = note_log,
			      .on_log_user = program};
	size_t refused;

	if (dw_open(&program->d, &options, NULL) != DW_OK ||
	    dw_on(program->d, "*", fire, program) != DW_OK)
		return EXIT_FAILURE;
	for (size_t i = 0; i < KEPT + DUE; i++)
		if (submit(program, i, NULL) != DW_OK)
			wrong("put %zu: %s\n", i, dw_last_error(program->d));
	if (dw_sync(program->d, FAULTS_PATIENCE) != DW_OK)
		wrong("the timers are not stored: %s\n", dw_last_error(program->d));
	limit_files(program, true);
	refused = fill(program);
	go_on(program, refused);
	limit_files(program, false);
	recover(program, refused);
	return dw_close(program->d, DW_SECONDS(30)) == DW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- The test ------------------------------------------------------------------------------ */

/* expect writes the expected starts into the ledger. Stored timers are due in an hour, or fire
 * while the disk is full. */
static void expect(struct ledger *ledger)
{
	dw_usec now = faults_now();

	for (size_t i = 0; i < ledger->count; i++) {
		struct entry *entry = &ledger->entries[i];
		bool is_due = i >= KEPT && i < KEPT + DUE;

		entry->due =
		    now + (is_due ? faults_between(ledger->faults, DW_SECONDS(1), DW_SECONDS(3))
				  : DW_HOURS(1));
		entry->asked = i < KEPT + DUE;
		entry->confirmed = entry->asked;
		entry->cancel = i < CANCELLED ? CANCEL_DONE : CANCEL_NONE;
	}
}

/* read_stored reads the program's stderr: which puts were confirmed, and errors. */
static size_t read_stored(struct ledger *ledger, struct process *process)
{
	size_t size, count = 0;
	const char *line;

	while ((line = stream_line(&process->err, &size))) {
		size_t number = SIZE_MAX;

		if (sscanf(line, "stored %zu", &number) != 1 || number >= ledger->count) {
			faults_fail(ledger->faults, "%s", line);
			continue;
		}
		ledger->entries[number].asked = true;
		ledger->entries[number].confirmed = true;
		count++;
	}
	return count;
}

void full_disk(struct faults *faults)
{
	struct ledger ledger;
	struct program program = {.ledger = &ledger};
	struct process process;
	size_t stored;

	ledger_init(&ledger, faults, KEPT + DUE + PUTS_MAX);
	expect(&ledger);
	ledger_begin_life(&ledger);
	process_fork(&process, program_body, &program);
	if (!process_wait(&process))
		faults_fail(faults, "the program does not end");
	process_kill(&process);
	stored = read_stored(&ledger, &process);
	if (process.code != 0)
		faults_fail(faults, "the program: exit %d", process.code);
	ledger_end_life(&ledger, &process);
	client_list(&ledger);
	(void)printf("    %zu puts until the disk was full\n", stored); /* for people */
	process_free(&process);
	ledger_free(&ledger);
}
