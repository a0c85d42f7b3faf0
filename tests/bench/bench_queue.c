/*
 * bench_queue.c: how many messages a second go through one queue topic, and how soon a consumer
 * that waits has a timer that comes due. N messages (50,000) of 100 bytes.
 *
 * push    one process pushes 100 at a time.
 * work    1, 2 and 8 processes take 128 at a time and answer them, until the queue is empty.
 * ready   a consumer waits; the owner, another process, has a timer due every 5 ms. Of each: how
 *         long after its deadline the consumer has it.
 *
 * beanstalkd is beside push and work, where it is installed: puts of 100 in one write; each process
 * reserves 128 jobs in one write and deletes them in one. It writes to no disk.
 */
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench_home.h"
#include "durawheel/topic.h"

enum { ROUNDS = 4, PUSHED_TOGETHER = 100, BATCH = 128, CONSUMERS_MAX = 8, READY = 400 };

#define READY_EVERY DW_MILLISECONDS(5)

static const char *const topic = "q";

/* What all processes of a round count. */
struct shared {
	_Atomic uint64_t done;
	_Atomic int begun;
};
static struct shared *shared;

static void turn(dw *d)
{
	struct pollfd readable = {.fd = dw_fd(d), .events = POLLIN};

	(void)poll(&readable, 1, 100);
	bench_require(dw_turn(d) == DW_OK, "dw_turn");
}

/* ---- durawheel ------------------------------------------------------------------------------ */

static dw *open_client(const struct bench_home *home)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_options options = {.size = sizeof options,
			      .store = home->url,
			      .name = home->redis ? BENCH_NAME : NULL,
			      .role = DW_CLIENT};
	dw *d = NULL;

	bench_require(dw_open(&d, &options, message) == DW_OK, message);
	return d;
}

static void make_queue(const struct bench_home *home)
{
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1, .max = DW_QUEUE_MAX};
	dw *d = bench_open(home, NULL, NULL);

	bench_require(dw_topic_set(d, topic, &settings, NULL, NULL) == DW_OK, "dw_topic_set");
	bench_require(dw_sync(d, DW_SECONDS(60)) == DW_OK, "dw_topic_set");
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
}

static void pushed(dw *d, const dw_result *result, void *user)
{
	(void)d;
	bench_require(result->status == DW_OK, "push");
	*(size_t *)user += PUSHED_TOGETHER;
}

static double push_ours(const struct bench_home *home, size_t n)
{
	static const char data[BENCH_DATA_SIZE];
	dw_timer messages[PUSHED_TOGETHER];
	dw *d = open_client(home);
	uint64_t start = bench_ns();
	size_t sent = 0, done = 0;

	for (int i = 0; i < PUSHED_TOGETHER; i++)
		messages[i] = (dw_timer){.size = sizeof *messages,
					 .topic = topic,
					 .data = data,
					 .data_size = sizeof data};
	while (done < n) {
		for (; sent < n && sent < done + 2000; sent += PUSHED_TOGETHER)
			bench_require(dw_push(d, messages, PUSHED_TOGETHER, pushed, &done) == DW_OK,
				      "dw_push");
		turn(d);
	}
	start = bench_ns() - start;
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	return (double)n * 1e9 / (double)start;
}

static void worked(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	(void)user;
	bench_require(results[0].status == DW_OK, dw_strerror(results[0].status));
	shared->done += count;
}

/* taken answers the batch, and takes the next one at once. */
static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	const char *tokens[BATCH];
	dw_answer done = {.size = sizeof done, .tokens = tokens, .count = count};
	int *waits = user;

	bench_require(status == DW_OK || status == DW_ECLOSED, "take");
	*waits = 0;
	for (size_t i = 0; i < count; i++)
		tokens[i] = messages[i].token;
	if (count > 0)
		bench_require(dw_ack(d, &done, worked, NULL) == DW_OK, "dw_ack");
}

static void consume_ours(const struct bench_home *home, size_t n)
{
	dw_take_options take = {.size = sizeof take,
				.topics = &topic,
				.topic_count = 1,
				.max = BATCH,
				.wait_us = DW_MILLISECONDS(100)};
	dw *d = open_client(home);
	int waits = 0;

	while (!shared->begun)
		turn(d);
	while (shared->done < n) {
		if (!waits)
			waits = dw_take(d, &take, taken, &waits) == DW_OK;
		turn(d);
	}
	exit(dw_close(d, DW_SECONDS(60)) != DW_OK);
}

/* ---- beanstalkd ----------------------------------------------------------------------------- */

struct beanstalk {
	pid_t pid; /* 0: it is not installed */
	uint16_t port;
};

static int connect_to(const struct beanstalk *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(server->port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	for (int i = 0; i < 500; i++) {
		if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
			return fd;
		(void)poll(NULL, 0, 10);
	}
	bench_require(false, "beanstalkd does not answer");
	return -1;
}

static struct beanstalk start_beanstalk(void)
{
	struct beanstalk server = {.port = (uint16_t)(20000 + getpid() % 20000)};
	char port[8];

	(void)snprintf(port, sizeof port, "%u", server.port);
	if (access("/usr/bin/beanstalkd", X_OK) != 0) {
		(void)fprintf(stderr, "without beanstalkd: apt-get install beanstalkd\n");
		return server;
	}
	server.pid = fork();
	if (server.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* a measurement that fails leaves none */
		(void)execl("/usr/bin/beanstalkd", "beanstalkd", "-l", "127.0.0.1", "-p", port,
			    (char *)NULL);
		_exit(1);
	}
	(void)close(connect_to(&server)); /* it answers */
	return server;
}

static void say(int fd, const char *bytes, size_t size)
{
	bench_require(write(fd, bytes, size) == (ssize_t)size, "write to beanstalkd");
}

/* hear reads replies until `lines` lines have come; it keeps the bytes in room. */
static size_t hear(int fd, char *room, size_t size, int lines)
{
	size_t used = 0;
	int count = 0;

	while (count < lines) {
		ssize_t got = read(fd, room + used, size - used - 1);

		bench_require(got > 0, "read from beanstalkd");
		for (ssize_t i = 0; i < got; i++)
			count += room[used + (size_t)i] == '\n';
		used += (size_t)got;
	}
	room[used] = '\0';
	return used;
}

static double push_theirs(const struct beanstalk *server, size_t n)
{
	char put[16 + BENCH_DATA_SIZE + 4] = "put 0 0 60 100\r\n",
					many[sizeof put * PUSHED_TOGETHER];
	char room[4096];
	int fd = connect_to(server);
	size_t head = strlen(put), size = head + BENCH_DATA_SIZE + 2;
	uint64_t start;

	memset(put + head, 'x', BENCH_DATA_SIZE);
	memcpy(put + head + BENCH_DATA_SIZE, "\r\n", 2);
	for (size_t i = 0; i < PUSHED_TOGETHER; i++)
		memcpy(many + i * size, put, size);
	start = bench_ns();
	for (size_t i = 0; i < n; i += PUSHED_TOGETHER) {
		say(fd, many, size * PUSHED_TOGETHER);
		(void)hear(fd, room, sizeof room, PUSHED_TOGETHER);
	}
	start = bench_ns() - start;
	(void)close(fd);
	return (double)n * 1e9 / (double)start;
}

static void consume_theirs(const struct beanstalk *server, size_t n)
{
	static char asks[BATCH * 32], room[BATCH * 256], deletes[BATCH * 32];
	int fd = connect_to(server);
	size_t ask = 0;

	for (int i = 0; i < BATCH; i++)
		ask += (size_t)snprintf(asks + ask, 32, "reserve-with-timeout 0\r\n");
	while (!shared->begun)
		(void)poll(NULL, 0, 1);
	while (shared->done < n) {
		size_t size = 0;
		int count = 0, lines = 0;

		say(fd, asks, ask);
		(void)hear(fd, room, sizeof room, BATCH);
		/* A job is two lines, and TIMED_OUT is one. */
		for (char *at = room; (at = strstr(at, "RESERVED ")); at++)
			lines++;
		if (lines > 0) {
			/* The second lines of the jobs may still be on their way. */
			size_t used = strlen(room);
			int seen = 0;

			for (size_t i = 0; i < used; i++)
				seen += room[i] == '\n';
			while (seen < BATCH + lines) {
				ssize_t got = read(fd, room + used, sizeof room - used - 1);

				bench_require(got > 0, "read from beanstalkd");
				for (ssize_t i = 0; i < got; i++)
					seen += room[used + (size_t)i] == '\n';
				used += (size_t)got;
				room[used] = '\0';
				lines = 0;
				for (char *at = room; (at = strstr(at, "RESERVED ")); at++)
					lines++;
			}
		}
		for (char *at = room; (at = strstr(at, "RESERVED ")); at++, count++)
			size += (size_t)snprintf(deletes + size, 32, "delete %llu\r\n",
						 strtoull(at + 9, NULL, 10));
		if (count == 0)
			continue;
		say(fd, deletes, size);
		(void)hear(fd, room, sizeof room, count);
		shared->done += (uint64_t)count;
	}
	exit(0);
}

/* ---- Work ----------------------------------------------------------------------------------- */

/* work lets so many processes consume n messages; the rate. server NULL: ours. */
static double work(const struct bench_home *home, const struct beanstalk *server, size_t n,
		   int consumers)
{
	pid_t pids[CONSUMERS_MAX];
	uint64_t start;
	int status;

	shared->done = 0;
	shared->begun = 0;
	for (int i = 0; i < consumers; i++) {
		pids[i] = fork();
		if (pids[i] != 0)
			continue;
		if (server)
			consume_theirs(server, n);
		else
			consume_ours(home, n);
	}
	(void)poll(NULL, 0, 300); /* all are connected */
	start = bench_ns();
	shared->begun = 1;
	while (shared->done < n)
		(void)poll(NULL, 0, 1);
	start = bench_ns() - start;
	for (int i = 0; i < consumers; i++) {
		(void)waitpid(pids[i], &status, 0);
		bench_require(status == 0, "a consumer failed");
	}
	return (double)n * 1e9 / (double)start;
}

/* ---- Ready ---------------------------------------------------------------------------------- */

struct ready {
	size_t count;
	double late_us[READY];
	int waits;
};

static void ready_taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct ready *ready = user;
	const char *tokens[BATCH];
	dw_answer done = {.size = sizeof done, .tokens = tokens, .count = count};

	bench_require(status == DW_OK || status == DW_ECLOSED, "take");
	ready->waits = 0;
	for (size_t i = 0; i < count && ready->count < READY; i++) {
		tokens[i] = messages[i].token;
		ready->late_us[ready->count++] = (double)(dw_now(d) - messages[i].due);
	}
	if (count > 0)
		bench_require(dw_ack(d, &done, NULL, NULL) == DW_OK, "dw_ack");
}

static void own(const struct bench_home *home)
{
	dw *d = bench_open(home, NULL, NULL);
	dw_usec first = dw_now(d) + DW_MILLISECONDS(500);

	for (int i = 0; i < READY; i++)
		bench_require(dw_at(d, topic, NULL, first + i * READY_EVERY, NULL, 0) == DW_OK,
			      "dw_at");
	while (!shared->begun)
		turn(d);
	exit(dw_close(d, DW_SECONDS(60)) != DW_OK);
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void measure_ready(const struct bench_home *home, double *ret_p50, double *ret_p99)
{
	static struct ready ready;
	dw_take_options take = {.size = sizeof take,
				.topics = &topic,
				.topic_count = 1,
				.max = BATCH,
				.wait_us = DW_SECONDS(10)};
	pid_t owner;
	dw *d;

	ready = (struct ready){0};
	shared->begun = 0;
	owner = fork();
	if (owner == 0)
		own(home);
	d = open_client(home);
	while (ready.count < READY) {
		if (!ready.waits)
			ready.waits = dw_take(d, &take, ready_taken, &ready) == DW_OK;
		turn(d);
	}
	shared->begun = 1;
	(void)waitpid(owner, NULL, 0);
	bench_require(dw_close(d, DW_SECONDS(60)) == DW_OK, "dw_close");
	qsort(ready.late_us, READY, sizeof *ready.late_us, by_size);
	*ret_p50 = ready.late_us[READY / 2];
	*ret_p99 = ready.late_us[READY * 99 / 100];
}

/* ---- All ------------------------------------------------------------------------------------ */

enum { PUSH, WORK_1, WORK_2, WORK_8, P50, P99, METRICS };

static const int consumers_of[] = {[WORK_1] = 1, [WORK_2] = 2, [WORK_8] = 8};
static const char *const names[METRICS] = {"push",    "work, 1",   "work, 2",
					   "work, 8", "ready p50", "ready p99"};

static void note(struct bench_figure *figure, const char *system, double value)
{
	figure->system = system;
	figure->rounds[figure->count++] = value;
}

static void measure(const struct bench_home *home, const struct beanstalk *server, size_t n,
		    struct bench_figure figures[METRICS][2])
{
	double p50, p99;

	for (int i = WORK_1; i <= WORK_8; i++) {
		double ours = push_ours(home, n);

		if (i == WORK_1)
			note(&figures[PUSH][0], "durawheel", ours);
		note(&figures[i][0], "durawheel", work(home, NULL, n, consumers_of[i]));
		if (!server->pid)
			continue;
		ours = push_theirs(server, n);
		if (i == WORK_1)
			note(&figures[PUSH][1], "beanstalkd", ours);
		note(&figures[i][1], "beanstalkd", work(home, server, n, consumers_of[i]));
	}
	measure_ready(home, &p50, &p99);
	note(&figures[P50][0], "durawheel", p50);
	note(&figures[P99][0], "durawheel", p99);
}

int main(int argc, char **argv)
{
	static struct bench_figure figures[METRICS][2];
	struct bench_options options = bench_options(argc, argv, 50000);
	struct beanstalk server;
	struct bench_home home;

	options.n = (options.n + PUSHED_TOGETHER - 1) / PUSHED_TOGETHER * PUSHED_TOGETHER;
	shared =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bench_require(shared != MAP_FAILED, "no memory");
	bench_home_open(&home, options.store ? options.store : "redis");
	server = start_beanstalk();
	make_queue(&home);
	for (int i = 0; i < ROUNDS; i++) {
		measure(&home, &server, options.n, figures);
		for (int k = 0; i == 0 && k < METRICS; k++) /* the first one is not counted */
			figures[k][0].count = figures[k][1].count = 0;
	}
	if (server.pid) {
		(void)kill(server.pid, SIGTERM);
		(void)waitpid(server.pid, NULL, 0);
	}
	bench_home_end(&home);
	for (int i = 0; i < METRICS; i++) {
		struct bench_metric metric = {"queue", names[i], "messages", i < P50 ? "/s" : "us",
					      options.n};

		bench_report(&options, &metric, figures[i], figures[i][1].count > 0 ? 2 : 1);
	}
	return 0;
}
