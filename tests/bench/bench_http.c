/*
 * bench_http.c: what the web server costs the owner. A store of N timers (1,000,000) that come due
 * much later, in a SQLite file or in a redis-server (--store), and its owner, which fires timers at
 * random microseconds and then puts others. In turns: alone, and with `durawheel serve` beside it,
 * at which 20 pages look, each every 2 s, and which a monitoring system asks for /metrics 10 times
 * a second (lookers.h). The server begins anew each round, so it also searches all timers for
 * schedules. Everybody shares the machine's cores, as in life.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench/bench_home.h"
#include "bench/bench_support.h"
#include "bench/lookers.h"
#include "durawheel/durawheel.h"

#define ROUNDS 15
#define LATE 3000  /* timers that fire in a round, one each ms */
#define PUTS 30000 /* puts in a round; they replace stored timers */
#define HEAD_START DW_MILLISECONDS(500)
#define WARM DW_SECONDS(2) /* until all pages look */

enum { WATCHED, ALONE, SIDES };
enum { P50, P99, PUTS_A_SECOND, METRICS };

static const char *const metric_names[METRICS] = {"p50", "p99", "puts"};
static const char *const metric_units[METRICS] = {"us", "us", "/s"};

struct round {
	dw *d;
	size_t fired;
	dw_usec late[LATE];
};

static dw_usec wall(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (dw_usec)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- The web server ------------------------------------------------------------------------ */

struct server {
	pid_t process;
	int port;
};

/* run_command: a file has no namespaces. */
static void run_command(const struct bench_home *home, int to)
{
	const char *arguments[] = {DW_COMMAND, "serve",  "--http",   "127.0.0.1:0", "--store",
				   home->url,  "--name", BENCH_NAME, NULL};

	if (!home->redis)
		arguments[6] = NULL;
	(void)dup2(to, STDERR_FILENO);
	(void)execv(DW_COMMAND, (char *const *)(uintptr_t)arguments);
	_exit(127);
}

static struct server serve(const struct bench_home *home)
{
	struct server server = {.port = 0};
	char line[256] = "";
	const char *port;
	int ends[2];
	FILE *said;

	bench_require(pipe(ends) == 0, "a pipe");
	server.process = fork();
	bench_require(server.process >= 0, "fork");
	if (server.process == 0)
		run_command(home, ends[1]);
	(void)close(ends[1]);
	said = fdopen(ends[0], "r");
	bench_require(said && fgets(line, sizeof line, said), "durawheel serve starts");
	(void)fclose(said);
	port = strstr(line, "127.0.0.1:");
	bench_require(port != NULL, line);
	server.port = (int)strtol(port + strlen("127.0.0.1:"), NULL, 10);
	return server;
}

static void end_server(const struct server *server)
{
	int status;

	(void)kill(server->process, SIGTERM);
	bench_require(waitpid(server->process, &status, 0) == server->process && status == 0,
		      "durawheel serve ends");
}

/* ---- A round ------------------------------------------------------------------------------- */

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	struct round *round = user;

	(void)d;
	round->late[round->fired++] = wall() - firing->due;
	return DW_DONE;
}

static void turn_until(struct round *round, dw_usec end)
{
	while (wall() < end) {
		const struct timespec pause = {.tv_nsec = 1000000};

		bench_require(dw_turn(round->d) == DW_OK, "dw_turn");
		(void)nanosleep(&pause, NULL);
	}
}

static int by_value(const void *a, const void *b)
{
	dw_usec x = *(const dw_usec *)a;
	dw_usec y = *(const dw_usec *)b;

	return (x > y) - (x < y);
}

static void fire_all(struct round *round, struct rng *rng)
{
	dw_usec start = wall() + HEAD_START;
	char id[32];

	for (size_t i = 0; i < LATE; i++) {
		(void)snprintf(id, sizeof id, "late:%zu", i);
		bench_require(dw_at(round->d, "late", id,
				    start + (dw_usec)rng_below(rng, LATE * 1000), id,
				    strlen(id)) == DW_OK,
			      "dw_at");
	}
	round->fired = 0;
	while (round->fired < LATE)
		bench_wait(round->d);
	qsort(round->late, LATE, sizeof round->late[0], by_value);
}

static double put_all(struct round *round)
{
	uint64_t began = bench_ns();

	bench_put_all(round->d, "order", PUTS, wall() + DW_HOURS(2), DW_HOURS(24));
	return PUTS * 1e9 / (double)(bench_ns() - began);
}

static void measure(struct round *round, struct rng *rng, struct bench_figure figures[METRICS])
{
	double values[METRICS];

	fire_all(round, rng);
	values[P50] = (double)round->late[LATE / 2];
	values[P99] = (double)round->late[LATE * 99 / 100];
	values[PUTS_A_SECOND] = put_all(round);
	for (int i = 0; i < METRICS; i++)
		figures[i].rounds[figures[i].count++] = values[i];
}

static void measure_watched(struct round *round, struct rng *rng, const struct bench_home *home,
			    struct bench_figure figures[METRICS])
{
	struct server server = serve(home);

	lookers_at(server.port);
	turn_until(round, wall() + WARM);
	measure(round, rng, figures);
	lookers_at(0);
	end_server(&server);
}

/* ---- Figures ------------------------------------------------------------------------------- */

/* report_ratio prints the median of the ratios of the pairs: what else the machine does changes
 * from pair to pair. */
static void report_ratio(const struct bench_options *options, int metric,
			 struct bench_figure figures[SIDES][METRICS])
{
	struct bench_figure ratio = {.count = figures[ALONE][metric].count};

	for (size_t i = 0; i < ratio.count; i++)
		ratio.rounds[i] =
		    figures[WATCHED][metric].rounds[i] / figures[ALONE][metric].rounds[i];
	if (options->json)
		printf("{\"bench\":\"http\",\"metric\":\"%s ratio\",\"value\":%.3f}\n",
		       metric_names[metric], bench_median(&ratio));
	else
		printf("%s: watched / alone, the median of %zu pairs: %.2f\n", metric_names[metric],
		       ratio.count, bench_median(&ratio));
}

static void report(const struct bench_options *options, struct bench_figure figures[SIDES][METRICS])
{
	struct lookers_seen seen = lookers_seen();

	for (int i = 0; i < METRICS; i++) {
		struct bench_figure beside[SIDES] = {figures[WATCHED][i], figures[ALONE][i]};
		struct bench_metric metric = {"http", options->store, metric_names[i],
					      metric_units[i], options->n};

		beside[WATCHED].system = "watched";
		beside[ALONE].system = "alone";
		bench_report(options, &metric, beside, SIDES);
		report_ratio(options, i, figures);
	}
	if (!options->json)
		printf("%u pages and %u scrapes were fetched, %u failed\n", seen.pages,
		       seen.scrapes, seen.failures);
	bench_require(seen.pages > 0 && seen.scrapes > 0 && seen.failures < seen.pages / 100 + 1,
		      "all pages are fetched");
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 1000000);
	static struct bench_figure figures[SIDES][METRICS], warming[METRICS];
	static struct round round;
	struct rng rng = {.state = 1};
	struct bench_home home;

	lookers_fork();
	bench_home_open(&home, options.store);
	round.d = bench_open(&home, NULL, NULL);
	bench_require(dw_on(round.d, "late", on_due, &round) == DW_OK, "dw_on");
	bench_put_all(round.d, "order", options.n, wall() + DW_HOURS(2), DW_HOURS(24));
	measure(&round, &rng, warming);
	for (int i = 0; i < ROUNDS; i++) {
		measure(&round, &rng, figures[ALONE]);
		measure_watched(&round, &rng, &home, figures[WATCHED]);
	}
	report(&options, figures);
	lookers_end();
	bench_require(dw_close(round.d, DW_SECONDS(10)) == DW_OK, "dw_close");
	bench_home_clear(&home);
	bench_home_end(&home);
	return 0;
}
