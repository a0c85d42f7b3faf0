/*
 * bench_servers.c: what a way to run Redis costs, beside one plain server: TLS, replicas=1 with a
 * replica on this machine, and a cluster of three masters without replicas. Of N timers (50,000) of
 * 100 bytes: puts and starts a second, and processor time of all masters for each; and how long a
 * put takes that is alone, from the call to its answer. All servers append to a file each second.
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_home.h"
#include "support/certificates.h"
#include "support/redis_cluster.h"

enum { ROUNDS = 6, ALONE = 1000 }; /* the first round is not counted */

enum { PLAIN, TLS, REPLICAS, CLUSTER, SIDES };

enum { PUTS, PUT_CPU, STARTS, START_CPU, WAIT, METRICS };

static const struct {
	const char *name, *unit;
} metrics[METRICS] = {[PUTS] = {"confirmed", "/s"},
		      [PUT_CPU] = {"server time a put", "us"},
		      [STARTS] = {"started", "/s"},
		      [START_CPU] = {"server time a start", "us"},
		      [WAIT] = {"alone", "us"}};

#define DUE ((dw_usec)1800000000000000)
#define TOPIC "order.timeout"

struct side {
	char url[TEMP_SIZE + 64];
	struct redis_server servers[2];
	struct redis_cluster cluster;
	struct certificates made;
	unsigned masters;
	redisContext *master[CLUSTER_MASTERS];
};

/* ---- The servers --------------------------------------------------------------------------- */

/* A rewrite of the file forks in the middle of a round, whoever was the last straw. */
#define APPENDING                                                                                  \
	"--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"

static redisReply *tell(redisContext *server, const char *command)
{
	redisReply *reply = redisCommand(server, command);

	bench_require(reply && reply->type != REDIS_REPLY_ERROR, command);
	return reply;
}

static void connect_beside(struct side *side, const struct redis_server *server)
{
	redisContext *context = redisConnectUnix(server->path);

	bench_require(context && !context->err, "a connection to the server");
	side->master[side->masters++] = context;
}

static void start_plain(struct side *side, const char *options)
{
	static const char *const appending[] = {APPENDING, NULL};

	redis_server_start(&side->servers[0], true, appending);
	connect_beside(side, &side->servers[0]);
	(void)snprintf(side->url, sizeof side->url, "redis://127.0.0.1:%u%s", side->servers[0].port,
		       options);
}

static void open_plain(struct side *side)
{
	start_plain(side, "");
}

static void open_tls(struct side *side)
{
	static char cert[TEMP_SIZE], key[TEMP_SIZE];
	static const char *const options[] = {APPENDING, "--tls-cert-file",
					      cert,      "--tls-key-file",
					      key,       "--tls-ca-cert-file",
					      cert,      "--tls-auth-clients",
					      "no",      NULL};

	certificates_make(&side->made);
	certificates_sign(&side->made,
			  &(struct certificate){"server", "ca", CERTIFICATE_NAMES, -1, 9});
	(void)certificates_file(&side->made, "server.pem", cert);
	(void)certificates_file(&side->made, "server.key", key);
	redis_server_start_tls(&side->servers[0], options);
	connect_beside(side, &side->servers[0]);
	(void)snprintf(side->url, sizeof side->url, "rediss://127.0.0.1:%u?ca=%s/ca.pem",
		       side->servers[0].port, side->made.folder);
}

static void open_replicas(struct side *side)
{
	static char port[16];
	static const char *const options[] = {
	    APPENDING, "--replicaof", "127.0.0.1", port, "--repl-diskless-sync-delay", "0", NULL};
	bool is_up = false;

	start_plain(side, "?replicas=1");
	(void)snprintf(port, sizeof port, "%u", side->servers[0].port);
	redis_server_start(&side->servers[1], true, options);
	while (!is_up) {
		redisReply *reply = tell(side->master[0], "WAIT 1 100");

		is_up = reply->integer == 1;
		freeReplyObject(reply);
	}
}

static void open_cluster(struct side *side)
{
	redis_cluster_start(&side->cluster);
	redis_cluster_tell(&side->cluster, "CONFIG SET appendonly yes");
	redis_cluster_tell(&side->cluster, "CONFIG SET auto-aof-rewrite-percentage 0");
	for (unsigned i = 0; i < CLUSTER_MASTERS; i++) {
		redis_server_kill(&side->cluster.servers[CLUSTER_MASTERS + i]);
		connect_beside(side, &side->cluster.servers[i]);
	}
	(void)snprintf(side->url, sizeof side->url, "%s", side->cluster.url);
}

static const struct {
	const char *name;
	void (*open)(struct side *);
} kinds[SIDES] = {[PLAIN] = {"plain", open_plain},
		  [TLS] = {"tls", open_tls},
		  [REPLICAS] = {"replicas=1", open_replicas},
		  [CLUSTER] = {"3 masters", open_cluster}};

static void end(struct side *side)
{
	for (unsigned i = 0; i < side->masters; i++)
		redisFree(side->master[i]);
	for (unsigned i = 0; i < 2; i++)
		if (side->servers[i].folder[0])
			redis_server_end(&side->servers[i]);
	if (side->cluster.url[0])
		redis_cluster_end(&side->cluster);
	if (side->made.folder[0])
		certificates_remove(&side->made);
}

static void clear(const struct side *side)
{
	for (unsigned i = 0; i < side->masters; i++)
		freeReplyObject(tell(side->master[i], "FLUSHALL SYNC"));
}

/* cpu_us returns the processor time that the masters have taken. */
static double cpu_us(const struct side *side)
{
	static const char *const fields[] = {"used_cpu_sys:", "used_cpu_user:"};
	double seconds = 0;

	for (unsigned i = 0; i < side->masters; i++) {
		redisReply *reply = tell(side->master[i], "INFO cpu");

		for (size_t j = 0; j < 2; j++) {
			const char *at = strstr(reply->str, fields[j]);

			seconds += at ? strtod(at + strlen(fields[j]), NULL) : 0;
		}
		freeReplyObject(reply);
	}
	return seconds * 1e6;
}

/* ---- A round ------------------------------------------------------------------------------- */

static dw *open_handle(const struct side *side)
{
	char message[DW_MESSAGE_SIZE] = "";
	const dw_options options = {.size = sizeof options,
				    .store = side->url,
				    .name = BENCH_NAME,
				    .shards = BENCH_SHARDS,
				    .open_patience_us = DW_SECONDS(60)};
	dw *d = NULL;

	bench_require(dw_open(&d, &options, message) == DW_OK, message);
	return d;
}

static void close_handle(const struct side *side, dw *d)
{
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	clear(side);
}

static void note_answer(dw *d, const dw_result *result, void *user)
{
	(void)d;
	bench_require(result->status == DW_OK, "a put is confirmed");
	*(bool *)user = true;
}

/* put_alone returns the median of some puts, each of which waits for the one before it. */
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
			dw_timer timer = {
			    .size = sizeof timer, .id = id, .topic = TOPIC, .due = DUE};

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

static dw_verdict on_due(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)firing;
	++*(size_t *)user;
	return DW_DONE;
}

/* start_all puts timers that are due, and then gives them a handler. */
static void start_all(const struct side *side, dw *d, size_t n, double values[METRICS])
{
	size_t started = 0;
	double cpu;
	uint64_t begin;

	bench_put_all(d, TOPIC, n, dw_now(d) - DW_HOURS(1), DW_SECONDS(1));
	cpu = cpu_us(side);
	begin = bench_ns();
	bench_require(dw_on(d, TOPIC, on_due, &started) == DW_OK, "dw_on");
	bench_require(dw_turn(d) == DW_OK, "dw_turn");
	while (started < n)
		bench_wait(d);
	bench_require(dw_sync(d, DW_SECONDS(60)) == DW_OK, "all is settled");
	values[STARTS] = (double)n * 1e9 / (double)(bench_ns() - begin);
	values[START_CPU] = (cpu_us(side) - cpu) / (double)n;
}

static void measure(const struct side *side, size_t n, double values[METRICS])
{
	dw *d = open_handle(side);
	double cpu = cpu_us(side);
	uint64_t begin = bench_ns();

	bench_put_all(d, TOPIC, n, DUE, DW_HOURS(1));
	values[PUTS] = (double)n * 1e9 / (double)(bench_ns() - begin);
	values[PUT_CPU] = (cpu_us(side) - cpu) / (double)n;
	close_handle(side, d);
	d = open_handle(side);
	start_all(side, d, n, values);
	close_handle(side, d);
	d = open_handle(side);
	values[WAIT] = put_alone(d);
	close_handle(side, d);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 50000);
	static struct bench_figure figures[METRICS][SIDES];
	static struct side sides[SIDES];

	for (int i = 0; i < SIDES; i++)
		kinds[i].open(&sides[i]);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < SIDES; i++) {
			double values[METRICS];

			measure(&sides[i], options.n, values);
			for (int j = 0; j < METRICS && round > 0; j++) {
				struct bench_figure *figure = &figures[j][i];

				figure->system = kinds[i].name;
				figure->rounds[figure->count++] = values[j];
			}
		}
	for (int i = 0; i < SIDES; i++)
		end(&sides[i]);
	for (int i = 0; i < METRICS; i++) {
		struct bench_metric metric = {"servers", "timers", metrics[i].name, metrics[i].unit,
					      options.n};

		bench_report(&options, &metric, figures[i], SIDES);
	}
	return 0;
}
