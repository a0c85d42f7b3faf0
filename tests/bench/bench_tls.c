/*
 * bench_tls.c: what TLS costs beside plain TCP, on two redis-servers of one kind: how many puts a
 * second are confirmed, of N timers (100,000) of 100 bytes; and how long a put takes that is alone,
 * from the call to its answer, of as many as fit. The plain side is the one to compare with, so it
 * stands first.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_home.h"
#include "support/certificates.h"

enum { ROUNDS = 8, ALONE = 2000 }; /* the first one is not counted */

enum { PLAIN, TLS, SIDES };

enum { RATE, WAIT, METRICS };

static const char *const side_names[SIDES] = {"plain", "tls"};
static const char *const metric_names[METRICS] = {"confirmed", "alone"};
static const char *const metric_units[METRICS] = {"/s", "us"};

#define DUE ((dw_usec)1800000000000000)

/* ---- The servers --------------------------------------------------------------------------- */

#define APPENDING                                                                                  \
	"--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"

static void connect_beside(struct bench_home *home)
{
	home->redis = redisConnectUnix(home->server.path);
	bench_require(home->redis && !home->redis->err, "a connection to the server");
}

static void open_plain(struct bench_home *home)
{
	static const char *const options[] = {APPENDING, NULL};

	redis_server_start(&home->server, true, options);
	(void)snprintf(home->url, sizeof home->url, "redis://127.0.0.1:%u", home->server.port);
	connect_beside(home);
}

static void open_tls(struct bench_home *home, struct certificates *made)
{
	char cert[TEMP_SIZE];
	char key[TEMP_SIZE];
	const char *const options[] = {APPENDING, "--tls-cert-file",
				       cert,      "--tls-key-file",
				       key,       "--tls-ca-cert-file",
				       cert,      "--tls-auth-clients",
				       "no",      NULL};

	certificates_make(made);
	certificates_sign(made, &(struct certificate){"server", "ca", CERTIFICATE_NAMES, -1, 9});
	(void)certificates_file(made, "server.pem", cert);
	(void)certificates_file(made, "server.key", key);
	redis_server_start_tls(&home->server, options);
	(void)snprintf(home->url, sizeof home->url, "rediss://127.0.0.1:%u?ca=%s/ca.pem",
		       home->server.port, made->folder);
	connect_beside(home);
}

/* ---- A round ------------------------------------------------------------------------------- */

static void note_answer(dw *d, const dw_result *result, void *user)
{
	(void)d;
	bench_require(result->status == DW_OK, "a put is confirmed");
	*(bool *)user = true;
}

/* put_alone returns the median of so many puts, each of which waits for the one before it. */
static double put_alone(dw *d)
{
	static struct bench_figure waits;
	double medians = 0;
	char id[BENCH_ID_SIZE];

	for (size_t part = 0; part < ALONE / BENCH_ROUNDS_MAX; part++) {
		waits.count = 0;
		for (size_t i = 0; i < BENCH_ROUNDS_MAX; i++) {
			uint64_t start = bench_ns();
			bool answered = false;
			dw_timer timer = {.size = sizeof timer,
					  .id = id,
					  .topic = "order.timeout",
					  .due = DUE,
					  .data = "0123456789",
					  .data_size = 10};

			bench_id(part * BENCH_ROUNDS_MAX + i, id);
			bench_require(dw_put(d, &timer, note_answer, &answered) == DW_OK, "dw_put");
			bench_require(dw_turn(d) == DW_OK, "dw_turn");
			while (!answered)
				bench_wait(d);
			waits.rounds[waits.count++] = (double)(bench_ns() - start) / 1e3;
		}
		medians += bench_median(&waits);
	}
	return medians / (double)(ALONE / BENCH_ROUNDS_MAX);
}

static void measure(struct bench_home *home, size_t n, double values[METRICS])
{
	dw *d = bench_open(home, NULL, NULL);
	uint64_t start = bench_ns();

	bench_put_all(d, "order.timeout", n, DUE, DW_HOURS(1));
	values[RATE] = (double)n * 1e9 / (double)(bench_ns() - start);
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	bench_home_clear(home);
	d = bench_open(home, NULL, NULL);
	values[WAIT] = put_alone(d);
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	bench_home_clear(home);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 100000);
	static struct bench_figure figures[METRICS][SIDES];
	static struct bench_home homes[SIDES];
	struct certificates made;

	open_plain(&homes[PLAIN]);
	open_tls(&homes[TLS], &made);
	for (int round = 0; round < ROUNDS; round++)
		for (int side = 0; side < SIDES; side++) {
			double values[METRICS];

			measure(&homes[side], options.n, values);
			for (int i = 0; i < METRICS && round > 0; i++) {
				struct bench_figure *figure = &figures[i][side];

				figure->system = side_names[side];
				figure->rounds[figure->count++] = values[i];
			}
		}
	for (int side = 0; side < SIDES; side++)
		bench_home_end(&homes[side]);
	certificates_remove(&made);
	for (int i = 0; i < METRICS; i++) {
		struct bench_metric metric = {"tls", "put", metric_names[i], metric_units[i],
					      options.n};

		bench_report(&options, &metric, figures[i], SIDES);
	}
	return 0;
}
