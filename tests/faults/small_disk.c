/* A disk is full to its last byte, and an owner must start on it. Stored timers fire. 1,000 settles
 * and 1,000 cancels succeed, by the owner and by other processes, with an owner and without. New
 * timers are refused with a message. Once there is space again, everything works as before,
 * including the reserve. */
#include "faults/client.h"
#include "faults/disk.h"
#include "faults/owner.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/payload.h"

enum {
	KEPT = 100,
	CANCELLED = 1000,
	SETTLED = 1000,
	REFUSED = 10, /* puts on the full disk */
	AGAIN_MS = 20,
	EXIT_STORE = 6,
	LIVES = 3,
};

#define RESERVE_SIZE (12 * 1024 * 1024)

struct small_disk {
	struct faults faults; /* its folder is on the disk */
	struct disk disk;
	struct ledger ledger;
	dw *d;
	size_t fired;
	bool done; /* the last operation was answered */
	int status;
};

/* ---- The owner, which is the test itself --------------------------------------------------- */

static dw_verdict fire(dw *d, const dw_firing *firing, void *user)
{
	struct small_disk *test = user;

	(void)d;
	test->ledger.entries[payload_number(firing->id)].starts++;
	test->fired++;
	return DW_DONE;
}

static bool open_owner(struct small_disk *test)
{
	dw_options options = {.size = sizeof options, .store = test->faults.store};
	char message[DW_MESSAGE_SIZE] = "";
	int status = dw_open(&test->d, &options, message);

	if (status == DW_OK)
		status = dw_on(test->d, "*", fire, test);
	if (status != DW_OK)
		faults_fail(&test->faults, "no owner starts: %s", message);
	return status == DW_OK;
}

static void close_owner(struct small_disk *test)
{
	if (dw_close(test->d, DW_SECONDS(30)) != DW_OK)
		faults_fail(&test->faults, "the owner does not close");
}

static void turn(struct small_disk *test)
{
	struct pollfd ready = {.fd = dw_fd(test->d), .events = POLLIN};

	if (poll(&ready, 1, AGAIN_MS) < 0 || dw_turn(test->d) != DW_OK)
		abort(); /* the loop must turn */
}

static void answered(dw *d, const dw_result *result, void *user)
{
	struct small_disk *test = user;

	(void)d;
	test->done = true;
	test->status = result->status;
}

static int wait_answer(struct small_disk *test, int status)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;

	while (status == DW_OK && !test->done && faults_now() < until)
		turn(test);
	return status == DW_OK && test->done ? test->status : status;
}

static int put(struct small_disk *test, size_t number)
{
	unsigned char data[PAYLOAD_MAX];
	char id[DW_ID_MAX + 1];
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = PAYLOAD_TOPIC, .data = data};

	payload_id(number, id);
	timer.due = test->ledger.entries[number].due;
	timer.data_size = payload_data(test->ledger.seed, number, data);
	test->done = false;
	return wait_answer(test, dw_put(test->d, &timer, answered, test));
}

static int cancel(struct small_disk *test, size_t number)
{
	char id[DW_ID_MAX + 1];

	payload_id(number, id);
	test->done = false;
	return wait_answer(test, dw_cancel(test->d, id, answered, test));
}

/* ---- Others ------------------------------------------------------------------------------- */

/* cancel_beside cancels by the command, which must report no error. */
static void cancel_beside(struct small_disk *test, size_t first, size_t count)
{
	struct client client = {.ledger = &test->ledger, .process = PROCESS_NONE};

	for (size_t i = first; i < first + count; i += client.count) {
		client.count = 0;
		while (client.count < CLIENT_IDS_MAX && i + client.count < first + count) {
			client.ids[client.count] = i + client.count;
			client.count++;
		}
		client_cancel(&client);
		client_wait(&client);
	}
	for (size_t i = first; i < first + count; i++)
		if (test->ledger.entries[i].cancel != CANCEL_DONE)
			faults_fail(&test->faults, "cancel %zu by the command fails", i);
}

static void check_refused(struct small_disk *test, struct process *process, const char *words)
{
	if (!process_wait(process) || process->code != EXIT_STORE ||
	    !strstr(stream_text(&process->err), words) ||
	    strstr(stream_text(&process->err), "reserve"))
		faults_fail(&test->faults, "exit %d instead of %d and \"%s\": %s", process->code,
			    EXIT_STORE, words, stream_text(&process->err));
	process_free(process);
}

/* refuse_beside: add and import must say why they refuse. */
static void refuse_beside(struct small_disk *test)
{
	static const char line[] = "{\"topic\":\"t\",\"id\":\"new\",\"in\":\"1h\"}\n";
	struct faults *faults = &test->faults;
	const char *add[] = {faults->command, "add", "--store", faults->store, "--id", "new",
			     "--topic",       "t",   "--in",    "1h",          NULL};
	const char *import[] = {faults->command, "import", "--store", faults->store, NULL};
	struct process process;

	process_start(&process, add);
	check_refused(test, &process, "durawheel: new: the store is full: its disk has ");
	process_start(&process, import);
	if (write(process.in, line, sizeof line - 1) != sizeof line - 1)
		abort(); /* an empty pipe has room */
	process_close_in(&process);
	check_refused(test, &process, "durawheel: line 1: the store is full: its disk has ");
}

static void count_stored(struct small_disk *test, size_t expected)
{
	struct faults *faults = &test->faults;
	const char *argv[] = {faults->command, "stats", "--json", "--store", faults->store, NULL};
	char words[64];
	struct process stats;

	(void)snprintf(words, sizeof words, "{\"pending\":%zu,\"claimed\":0,\"dead\":0,",
		       expected); /* it fits */
	process_start(&stats, argv);
	if (!process_wait(&stats) || strncmp(stream_text(&stats.out), words, strlen(words)) != 0)
		faults_fail(faults, "%s%s instead of %s", stream_text(&stats.out),
			    stream_text(&stats.err), words);
	process_free(&stats);
}

/* ---- The story ---------------------------------------------------------------------------- */

/* store imports all timers before any owner has run, so the command makes the reserve. */
static void store(struct small_disk *test)
{
	struct client client = {.ledger = &test->ledger, .process = PROCESS_NONE};
	dw_usec now = faults_now();

	for (size_t i = 0; i < test->ledger.count; i++)
		test->ledger.entries[i].due =
		    i >= KEPT + CANCELLED && i < KEPT + CANCELLED + SETTLED ? now
									    : now + DW_HOURS(1);
	client_import(&client, 0, KEPT + CANCELLED + SETTLED);
	client_wait(&client);
	(void)unlink(client.file); /* the file only takes space */
}

/* live runs an owner that starts on the full disk. */
static void live(struct small_disk *test)
{
	dw_usec until = faults_now() + FAULTS_PATIENCE;
	dw_stats stats = {.size = sizeof stats};

	if (!open_owner(test))
		return;
	while (stats.settled < SETTLED && faults_now() < until) {
		turn(test);
		(void)dw_get_stats(test->d, &stats); /* cannot fail here */
	}
	if (stats.settled != SETTLED || test->fired != SETTLED)
		faults_fail(&test->faults, "%zu fired and %llu settled of %d", test->fired,
			    (unsigned long long)stats.settled, SETTLED);
	for (size_t i = KEPT + 1; i < KEPT + CANCELLED / 2; i++) {
		int status = cancel(test, i);

		if (status != DW_OK)
			faults_fail(&test->faults, "cancel %zu: %s", i, dw_strerror(status));
		test->ledger.entries[i].cancel = CANCEL_DONE;
	}
	cancel_beside(test, KEPT + CANCELLED / 2, CANCELLED / 2);
	for (size_t i = KEPT + CANCELLED + SETTLED; i < test->ledger.count; i++)
		if (put(test, i) != DW_EFULL)
			faults_fail(&test->faults, "put %zu: %s", i, dw_strerror(test->status));
	refuse_beside(test);
	close_owner(test);
}

/* die kills owners on the full disk. Each must leave the store usable for the next one. */
static void die(struct small_disk *test)
{
	struct process owner;

	for (int i = 0; i < LIVES; i++) {
		disk_fill(&test->disk);
		owner_start(&owner, &test->ledger, false);
		(void)owner_wait_running(&owner, &test->faults); /* has complained */
		owner_kill(&owner, &test->ledger);
	}
}

static void recover(struct small_disk *test)
{
	char reserve[FAULTS_STORE_SIZE + 16];
	size_t number = test->ledger.count - 1;
	struct stat status;
	dw_usec began;

	if (!open_owner(test))
		return;
	if (put(test, number) != DW_EFULL)
		faults_fail(&test->faults, "a put on the full disk: %s", dw_strerror(test->status));
	disk_clear(&test->disk);
	began = faults_now();
	while (put(test, number) != DW_OK && faults_now() < began + FAULTS_PATIENCE)
		turn(test);
	if (test->status != DW_OK)
		faults_fail(&test->faults, "no recovery: %s", dw_strerror(test->status));
	test->ledger.entries[number].asked = true;
	test->ledger.entries[number].confirmed = true;
	(void)snprintf(reserve, sizeof reserve, "%s-reserve",
		       strchr(test->faults.store, ':') + 1); /* it fits */
	if (stat(reserve, &status) != 0 || status.st_blocks * 512 < RESERVE_SIZE)
		faults_fail(&test->faults, "the reserve is not restored");
	close_owner(test);
}

static int story(void *user)
{
	struct small_disk *test = user;
	struct faults *faults = &test->faults;

	if (!disk_make(&test->disk, faults->folder)) {
		(void)fflush(stdout); /* the parent reads it */
		return FAULTS_SKIPPED;
	}
	(void)snprintf(faults->folder, sizeof faults->folder, "%s", test->disk.folder);
	faults_store(faults, 0);
	ledger_init(&test->ledger, faults, KEPT + CANCELLED + SETTLED + REFUSED);
	store(test);
	disk_fill(&test->disk);
	refuse_beside(test);
	cancel_beside(test, KEPT, 1);
	disk_fill(&test->disk);
	live(test);
	die(test);
	recover(test);
	for (size_t i = KEPT + CANCELLED; i < KEPT + CANCELLED + SETTLED; i++) {
		if (test->ledger.entries[i].starts != 1)
			faults_fail(faults, "number %zu: %u starts", i,
				    test->ledger.entries[i].starts);
		test->ledger.entries[i].confirmed = false; /* the timer is settled */
	}
	count_stored(test, KEPT + 1);
	client_list(&test->ledger);
	ledger_free(&test->ledger);
	disk_free(&test->disk);
	(void)fflush(stdout); /* the parent reads it */
	return faults->failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

void small_disk(struct faults *faults)
{
	struct small_disk test = {.faults = *faults};
	struct process process;

	process_fork(&process, story, &test);
	if (!process_wait(&process))
		faults_fail(faults, "it does not end");
	process_kill(&process);
	if (process.code == FAULTS_SKIPPED)
		faults_not_tested(faults, stream_text(&process.out));
	else if (process.code != 0)
		faults_fail(faults, "exit %d\n%s%s", process.code, stream_text(&process.out),
			    stream_text(&process.err));
	process_free(&process);
}
