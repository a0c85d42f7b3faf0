/*
 * bench_path.c: what one timer costs on its way: instructions of the program for a put, a replace,
 * a cancel, a firing (claim, start and settle) and a renewal of a lease, and the time of the
 * redis-server. N timers (2,048) of 100 bytes under ids of 16 are put, replaced and so on, in bulk.
 *
 * The program runs itself under callgrind, which counts each instruction. It counts from when the
 * store is loaded, because a put before that is restored, too. So a count differs from run to run
 * by how often the loop turns, and by nothing else. The server's time is a time: it is
 * told, and no test compares it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_home.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS (void)0
#define CALLGRIND_DUMP_STATS (void)0
#endif

#define COUNTS "DW_BENCH_COUNTS" /* the folder into which callgrind writes */
#define TOPIC "order.timeout"
#define FAR DW_HOURS(1)
#define SOON DW_SECONDS(4) /* until then the timers are stored */
#define SOON_MAX DW_MINUTES(5)
#define IDLE DW_SECONDS(9) /* five renewals of each lease */

enum { MANY = 256 }; /* timers of a dw_put_many(), and calls before a turn */

struct path {
	const struct bench_options *options;
	struct bench_home home;
	dw *d;
	size_t n;
	size_t answered;
	unsigned phases; /* that were counted */
	bool loaded;
};

/* ---- Counting ------------------------------------------------------------------------------ */

static void start_counted(const char *folder, char *const *arguments)
{
	static char valgrind[] = "valgrind", quiet[] = "-q", tool[] = "--tool=callgrind";
	char out[TEMP_SIZE + 32];
	char *words[16] = {valgrind, quiet, tool, out};
	size_t count = 4;

	(void)snprintf(out, sizeof out, "--callgrind-out-file=%s/out", folder); /* it fits */
	bench_require(setenv(COUNTS, folder, 1) == 0, "setenv");
	for (; *arguments && count + 1 < sizeof words / sizeof *words; arguments++)
		words[count++] = *arguments;
	(void)execvp(words[0], words);
	fprintf(stderr, "valgrind: %s\n", strerror(errno));
	exit(1);
}

/* run_counted runs the program again, under callgrind, and ends as it does. */
static void run_counted(char *const *arguments)
{
	char folder[TEMP_SIZE];
	int status = 1;
	pid_t child;

	temp_make(folder);
	child = fork();
	if (child == 0)
		start_counted(folder, arguments);
	bench_require(child > 0 && waitpid(child, &status, 0) == child, "a child");
	temp_remove(folder);
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* counted returns the instructions of the phase that callgrind has written last. */
static double counted(const struct path *path)
{
	char name[TEMP_SIZE + 32], line[4096];
	double count = -1;
	FILE *file;

	(void)snprintf(name, sizeof name, "%s/out.%u", getenv(COUNTS), path->phases);
	file = fopen(name, "r");
	bench_require(file != NULL, "callgrind has written its counts");
	while (fgets(line, sizeof line, file))
		if (strncmp(line, "totals: ", 8) == 0)
			count = strtod(line + 8, NULL);
	(void)fclose(file); /* it was read */
	bench_require(count >= 0, "callgrind has counted");
	return count;
}

static void begin(struct path *path)
{
	struct bench_commands commands;

	bench_home_commands(&path->home, "", "", &commands);
	CALLGRIND_ZERO_STATS;
}

static void tell(const struct path *path, const char *operation, const char *metric, double value)
{
	struct bench_figure figure = {"durawheel", {value}, 1};
	struct bench_metric what = {"path", operation, metric, metric, path->n};

	bench_report(path->options, &what, &figure, 1);
}

/* end tells what was counted since begin(), divided by times; 0: by the commands of the server. */
static void end(struct path *path, const char *operation, double times)
{
	struct bench_commands commands;

	CALLGRIND_DUMP_STATS;
	path->phases++;
	bench_home_commands(&path->home, "evalsha:", "eval:", &commands);
	times = times > 0 ? times : commands.calls;
	tell(path, operation, "instructions", counted(path) / times);
	if (path->home.redis)
		tell(path, operation, "server_us", commands.us / times);
}

/* ---- Operations ---------------------------------------------------------------------------- */

static void on_done(dw *d, const dw_result *result, void *user)
{
	(void)d;
	bench_require(result->status == DW_OK, "a call is answered");
	((struct path *)user)->answered++;
}

static void on_bulk(dw *d, const dw_result *results, size_t count, void *user)
{
	for (size_t i = 0; i < count; i++)
		on_done(d, &results[i], user);
}

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	(void)user;
	return DW_DONE;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	if (event->kind == DW_EVENT_RECOVERED)
		((struct path *)user)->loaded = true;
}

static void await_loaded(const struct path *path)
{
	while (!path->loaded)
		bench_wait(path->d);
}

static void await_answers(struct path *path, size_t wanted)
{
	while (path->answered < wanted)
		bench_wait(path->d);
	path->answered = 0;
}

static void put(struct path *path, const char *operation, dw_usec due)
{
	begin(path);
	bench_put_all(path->d, TOPIC, path->n, due, FAR);
	end(path, operation, (double)path->n);
}

/* put_alone: each is answered before the next one is put, as by a program with little to do. */
static void put_alone(struct path *path, dw_usec due)
{
	static const char data[BENCH_DATA_SIZE] = "0123456789";
	char id[BENCH_ID_SIZE];
	dw_timer timer = {.size = sizeof timer,
			  .id = id,
			  .topic = TOPIC,
			  .due = due,
			  .data = data,
			  .data_size = sizeof data};
	size_t count = path->n / 8;

	begin(path);
	for (size_t i = 0; i < count; i++) {
		bench_id(path->n + i, id);
		bench_require(dw_put(path->d, &timer, on_done, path) == DW_OK, "dw_put");
		await_answers(path, 1);
	}
	end(path, "put_alone", (double)count);
}

static void cancel(struct path *path)
{
	char id[BENCH_ID_SIZE];

	begin(path);
	for (size_t i = 0; i < path->n; i++) {
		bench_id(i, id);
		bench_require(dw_cancel(path->d, id, on_done, path) == DW_OK, "dw_cancel");
		if (i % MANY == MANY - 1)
			bench_require(dw_turn(path->d) == DW_OK, "dw_turn");
	}
	await_answers(path, path->n);
	end(path, "cancel", (double)path->n);
}

static void put_many(struct path *path, dw_usec due)
{
	static const char data[BENCH_DATA_SIZE] = "0123456789";
	static char ids[MANY][BENCH_ID_SIZE];
	static dw_timer timers[MANY];

	begin(path);
	for (size_t i = 0; i < path->n; i += MANY) {
		for (size_t k = 0; k < MANY; k++) {
			bench_id(i + k, ids[k]);
			timers[k] = (dw_timer){.size = sizeof(dw_timer),
					       .id = ids[k],
					       .topic = TOPIC,
					       .due = due + (dw_usec)((i + k) * 7919) % FAR,
					       .data = data,
					       .data_size = sizeof data};
		}
		bench_require(dw_put_many(path->d, timers, MANY, on_bulk, path) == DW_OK,
			      "dw_put_many");
		bench_require(dw_turn(path->d) == DW_OK, "dw_turn");
	}
	await_answers(path, path->n);
	end(path, "put_many", (double)path->n);
}

static void cancel_many(struct path *path)
{
	static char ids[MANY][BENCH_ID_SIZE];
	const char *names[MANY];

	begin(path);
	for (size_t i = 0; i < path->n; i += MANY) {
		for (size_t k = 0; k < MANY; k++) {
			bench_id(i + k, ids[k]);
			names[k] = ids[k];
		}
		bench_require(dw_cancel_many(path->d, names, MANY, on_bulk, path) == DW_OK,
			      "dw_cancel_many");
		bench_require(dw_turn(path->d) == DW_OK, "dw_turn");
	}
	await_answers(path, path->n);
	end(path, "cancel_many", (double)path->n);
}

static uint64_t settled(const struct path *path)
{
	dw_stats stats = {.size = sizeof stats};

	bench_require(dw_get_stats(path->d, &stats) == DW_OK, "dw_get_stats");
	return stats.settled;
}

static void await_settled(struct path *path, uint64_t count)
{
	while (settled(path) < count)
		bench_wait(path->d);
}

/* fire: all timers come due within 0.1 s, as on a busy day. If the machine is so busy that they
 * come due before all are stored, they are put again with more time. */
static void fire(struct path *path)
{
	for (dw_usec soon = SOON; soon < SOON_MAX; soon *= 2) {
		dw_usec due = dw_now(path->d) + soon;
		uint64_t before = settled(path);

		bench_put_all(path->d, TOPIC, path->n, due, DW_MILLISECONDS(100));
		if (settled(path) == before && dw_now(path->d) < due) {
			begin(path);
			await_settled(path, before + path->n);
			end(path, "fire", (double)path->n);
			return;
		}
		await_settled(path, before + path->n);
	}
	bench_require(false, "the timers are stored in time");
}

/* renew: an owner that has nothing else to do. */
static void renew(struct path *path)
{
	dw_usec until = dw_now(path->d) + IDLE;

	begin(path);
	while (dw_now(path->d) < until)
		bench_wait(path->d);
	end(path, "renewal", 0);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 2048);
	struct path path = {.options = &options, .n = options.n - options.n % MANY};
	dw_usec far;

	bench_require(path.n > 0, "there are at least 256 timers");
	if (!getenv(COUNTS))
		run_counted(argv);
	bench_home_open(&path.home, options.store);
	path.d = bench_open(&path.home, on_event, &path);
	bench_require(dw_on(path.d, TOPIC, on_due, NULL) == DW_OK, "dw_on");
	await_loaded(&path);
	far = dw_now(path.d) + FAR;
	put(&path, "put", far);
	put(&path, "replace", far + FAR);
	cancel(&path);
	put_many(&path, far);
	cancel_many(&path);
	put_alone(&path, far);
	fire(&path);
	if (path.home.redis)
		renew(&path);
	bench_require(dw_close(path.d, DW_SECONDS(60)) == DW_OK, "dw_close");
	bench_home_end(&path.home);
	return 0;
}
