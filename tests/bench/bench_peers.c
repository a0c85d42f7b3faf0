/*
 * bench_peers.c: several processes share a namespace in Redis.
 *
 * moves   two peers put 1,000 timers a second for N seconds (60): 700 that fire in a handler, 200
 *         that become messages of a queue topic, and 100 occurrences of rules. A third peer joins
 *         and leaves, every 5 s, so shards move. All must start exactly once. How late the handlers
 *         were, and how many shards moved.
 * share   100,000 timers come due within a second, with 1, 2 and 4 peers: how many start a second,
 *         and the server's processor time a timer, from its first command to its last one.
 * crowd   a client puts timers that are due later, beside 1 and 50 peers with 200 shards: the
 *         server's processor time a put, with what the peers ask meanwhile.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "bench/bench_home.h"
#include "durawheel/topic.h"

enum { PEERS_MAX = 4, ROUNDS = 3, RULES = 100, SHARED = 100000 };
enum { CROWD = 50, CROWD_SHARDS = 200, CROWD_PUTS = 200000 };
enum { PLAIN, MESSAGE, OCCURRENCE, KINDS };

#define MOVE_EVERY DW_SECONDS(5)
#define PLAIN_EVERY (DW_SECONDS(1) / 350) /* each of the two peers */
#define MESSAGE_EVERY (DW_SECONDS(1) / 100)
#define UNCONFIRMED_MAX 5000u

static const char *const topics[KINDS] = {"plain", "queue", "rules"};

/* What all processes know of the timers of a kind: 0 or more starts of each. */
struct kind {
	_Atomic uint8_t *starts;
	size_t room;
	_Atomic size_t put, started;
};

struct shared {
	struct kind kinds[KINDS];
	_Atomic int ready, stop;
	_Atomic size_t gained; /* shards */
	_Atomic size_t late_count;
	dw_usec *late;
	size_t late_room;
	dw_usec base; /* the rules begin */
	_Atomic dw_usec last;
};
static struct shared *shared;
static unsigned shard_count = BENCH_SHARDS;

struct peer {
	dw *d;
	unsigned number; /* of PEERS_MAX: 2 and more put nothing */
	size_t shards;
	size_t unconfirmed;
};

static dw_usec wall(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (dw_usec)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	bench_require(memory != MAP_FAILED, "mmap");
	return memory;
}

/* share_all is called for each measurement. What those before have shared stays until the end. */
static void share_all(size_t plain, size_t messages, size_t occurrences)
{
	const size_t rooms[KINDS] = {plain, messages, occurrences};

	shared = share(sizeof *shared);
	for (int i = 0; i < KINDS; i++) {
		shared->kinds[i].room = rooms[i];
		shared->kinds[i].starts = share(rooms[i] + 1);
	}
	shared->late_room = 2 * (plain + occurrences) + 1;
	shared->late = share(shared->late_room * sizeof *shared->late);
}

/* ---- A peer -------------------------------------------------------------------------------- */

static void note_start(int kind, size_t number)
{
	struct kind *its = &shared->kinds[kind];

	bench_require(number < its->room, "a timer that was put");
	its->starts[number]++;
	its->started++;
}

static void note_late(dw_usec due)
{
	dw_usec now = wall();
	size_t at = shared->late_count++;

	if (at < shared->late_room)
		shared->late[at] = now - due;
	if (now > shared->last)
		shared->last = now;
}

static dw_verdict on_plain(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)user;
	note_late(firing->due);
	note_start(PLAIN, strtoul(firing->id + 1, NULL, 10));
	return DW_DONE;
}

static dw_verdict on_occurrence(dw *d, const dw_firing *firing, void *user)
{
	size_t second = (size_t)((firing->due - shared->base) / DW_SECONDS(1));

	(void)d;
	(void)user;
	note_late(firing->due);
	note_start(OCCURRENCE, second * RULES + strtoul(firing->id + 1, NULL, 10));
	return DW_DONE;
}

static void take(struct peer *);

static void taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	const char *tokens[DW_TAKE_MAX];
	dw_answer answer = {.size = sizeof answer, .tokens = tokens, .count = count};

	for (size_t i = 0; i < count; i++) {
		tokens[i] = messages[i].token;
		note_start(MESSAGE, strtoul(messages[i].id + 1, NULL, 10));
	}
	if (count > 0)
		bench_require(dw_ack(d, &answer, NULL, NULL) == DW_OK, "dw_ack");
	if (status == DW_OK && !shared->stop)
		take(user);
}

static void take(struct peer *peer)
{
	dw_take_options options = {.size = sizeof options,
				   .topics = &topics[MESSAGE],
				   .topic_count = 1,
				   .max = 100,
				   .wait_us = DW_SECONDS(1)};

	bench_require(dw_take(peer->d, &options, taken, peer) == DW_OK, "dw_take");
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	struct peer *peer = user;

	(void)d;
	if (event->kind != DW_EVENT_SHARDS)
		return;
	if (event->count > peer->shards)
		shared->gained += event->count - peer->shards;
	peer->shards = event->count;
}

static void open_peer(struct peer *peer, const struct bench_home *home)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_options options = {.size = sizeof options,
			      .store = home->url,
			      .name = BENCH_NAME,
			      .shards = shard_count,
			      .role = DW_PEER,
			      .on_event = on_event,
			      .on_event_user = peer};

	bench_require(dw_open(&peer->d, &options, message) == DW_OK, message);
	bench_require(dw_on(peer->d, topics[PLAIN], on_plain, NULL) == DW_OK, "dw_on");
	bench_require(dw_on(peer->d, topics[OCCURRENCE], on_occurrence, NULL) == DW_OK, "dw_on");
}

static void turn(const struct peer *peer, dw_usec until)
{
	struct timespec wait = {0};
	struct pollfd readable = {.fd = dw_fd(peer->d), .events = POLLIN};
	dw_usec left = until - wall();

	if (left > 0)
		wait = (struct timespec){left / 1000000, left % 1000000 * 1000};
	(void)ppoll(&readable, 1, &wait, NULL);
	bench_require(dw_turn(peer->d) == DW_OK, "dw_turn");
}

static void confirmed(dw *d, const dw_result *result, void *user)
{
	(void)d;
	bench_require(result->status == DW_OK, "a put is confirmed");
	((struct peer *)user)->unconfirmed--;
}

static void put(struct peer *peer, int kind, dw_timer timer)
{
	size_t number = shared->kinds[kind].put++;
	char id[32];

	(void)snprintf(id, sizeof id, "%c%zu", "pqr"[kind], number); /* it fits */
	timer.size = sizeof timer;
	timer.id = id;
	timer.topic = topics[kind];
	peer->unconfirmed++;
	bench_require(dw_put(peer->d, &timer, confirmed, peer) == DW_OK, "dw_put");
}

static void close_peer(struct peer *peer)
{
	bench_require(dw_close(peer->d, DW_SECONDS(30)) == DW_OK, "dw_close");
	exit(0);
}

/* start_peer returns in the child with true. */
static bool start_peer(struct peer *peer, unsigned number, const struct bench_home *home,
		       pid_t *ret_pid)
{
	*ret_pid = fork();
	bench_require(*ret_pid >= 0, "fork");
	if (*ret_pid > 0)
		return false;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	*peer = (struct peer){.number = number};
	open_peer(peer, home);
	shared->ready++;
	return true;
}

static void await_peers(int count)
{
	while (shared->ready < count)
		(void)poll(NULL, 0, 10);
}

static void end_peer(pid_t pid)
{
	int status = 1;

	bench_require(waitpid(pid, &status, 0) == pid && status == 0, "a peer ends well");
}

/* ---- Moves --------------------------------------------------------------------------------- */

static void put_rules(struct peer *peer, size_t seconds)
{
	dw_rule rule = {.size = sizeof rule,
			.every = DW_SECONDS(1),
			.start = shared->base,
			.end = shared->base + DW_SECONDS((dw_usec)seconds) - 1,
			.missed = DW_MISSED_ALL};

	for (size_t i = 0; i < RULES; i++)
		put(peer, OCCURRENCE, (dw_timer){.rule = &rule});
}

static void settings_stored(dw *d, const dw_result *result, void *user)
{
	(void)d;
	bench_require(result->status == DW_OK, "a queue topic");
	*(bool *)user = true;
}

static void make_queue(const struct peer *peer)
{
	dw_topic_settings settings = {.size = sizeof settings, .queue = 1};
	bool is_stored = false;

	bench_require(
	    dw_topic_set(peer->d, topics[MESSAGE], &settings, settings_stored, &is_stored) == DW_OK,
	    "dw_topic_set");
	while (!is_stored)
		turn(peer, wall() + DW_SECONDS(1));
}

/* put_for puts timers for so many seconds. */
static void put_for(struct peer *peer, size_t seconds)
{
	dw_usec end = wall() + DW_SECONDS((dw_usec)seconds);
	dw_usec plain = wall(), message = plain;

	while (wall() < end) {
		for (; wall() >= plain; plain += PLAIN_EVERY)
			put(peer, PLAIN,
			    (dw_timer){.due = wall() + DW_SECONDS(1) + plain % 1999993});
		for (; wall() >= message; message += MESSAGE_EVERY)
			put(peer, MESSAGE, (dw_timer){.due = wall() + message % 1999993});
		turn(peer, plain < message ? plain : message);
	}
}

static void run_peer(struct peer *peer, size_t seconds)
{
	if (peer->number == 0) {
		make_queue(peer);
		put_rules(peer, seconds);
		shared->ready++; /* the queue is there */
	}
	await_peers(3);
	take(peer);
	put_for(peer, seconds);
	while (!shared->stop)
		turn(peer, wall() + DW_MILLISECONDS(100));
	close_peer(peer);
}

static void run_guest(struct peer *peer)
{
	dw_usec end = wall() + MOVE_EVERY;

	while (wall() < end)
		turn(peer, end);
	close_peer(peer);
}

static size_t lost(void)
{
	size_t count = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		const struct kind *its = &shared->kinds[kind];
		size_t wanted = kind == OCCURRENCE ? its->room : its->put;

		for (size_t i = 0; i < wanted; i++)
			count += its->starts[i] == 0;
	}
	return count;
}

static size_t doubled(void)
{
	size_t count = 0;

	for (int kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < shared->kinds[kind].room; i++)
			count += shared->kinds[kind].starts[i] > 1;
	return count;
}

static int by_value(const void *a, const void *b)
{
	dw_usec x = *(const dw_usec *)a;
	dw_usec y = *(const dw_usec *)b;

	return (x > y) - (x < y);
}

static void tell(const struct bench_options *options, const char *workload, const char *metric,
		 const char *unit, double value)
{
	struct bench_figure figure = {"durawheel", {value}, 1};
	struct bench_metric what = {"peers", workload, metric, unit, options->n};

	bench_report(options, &what, &figure, 1);
}

static void report_moves(const struct bench_options *options)
{
	size_t count = shared->late_count;

	qsort(shared->late, count, sizeof *shared->late, by_value);
	tell(options, "moves", "starts", "starts",
	     (double)(shared->kinds[PLAIN].started + shared->kinds[MESSAGE].started +
		      shared->kinds[OCCURRENCE].started));
	tell(options, "moves", "lost", "timers", (double)lost());
	tell(options, "moves", "doubled", "timers", (double)doubled());
	tell(options, "moves", "gained", "shards", (double)shared->gained);
	tell(options, "moves", "p50", "us", (double)shared->late[count / 2]);
	tell(options, "moves", "p99", "us", (double)shared->late[count * 99 / 100]);
	tell(options, "moves", "p99.9", "us", (double)shared->late[count * 999 / 1000]);
	tell(options, "moves", "worst", "us", (double)shared->late[count - 1]);
}

static void measure_moves(const struct bench_options *options)
{
	size_t seconds = options->n;
	dw_usec end, patience;
	struct bench_home home;
	struct peer peer;
	pid_t pids[2], guest;

	share_all(seconds * 800 + 1000, seconds * 220 + 1000, seconds * RULES);
	bench_home_open(&home, "redis");
	shared->base = wall() + DW_SECONDS(5);
	for (unsigned i = 0; i < 2; i++)
		if (start_peer(&peer, i, &home, &pids[i]))
			run_peer(&peer, seconds);
	await_peers(3);
	end = wall() + DW_SECONDS((dw_usec)seconds);
	while (wall() + 2 * MOVE_EVERY < end) {
		(void)poll(NULL, 0, (int)(MOVE_EVERY / 1000));
		if (start_peer(&peer, 2, &home, &guest))
			run_guest(&peer);
		end_peer(guest);
	}
	patience = end + DW_SECONDS(60);
	while (wall() < end || (lost() > 0 && wall() < patience))
		(void)poll(NULL, 0, 100);
	shared->stop = 1;
	end_peer(pids[0]);
	end_peer(pids[1]);
	report_moves(options);
	bench_home_end(&home);
}

/* ---- Shares -------------------------------------------------------------------------------- */

static double field_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtod(at + strlen(name), NULL) : 0;
}

/* server_seconds returns the processor time of the server. */
static double server_seconds(const struct bench_home *home)
{
	redisReply *info = redisCommand(home->redis, "INFO cpu");
	double seconds;

	bench_require(info && info->type == REDIS_REPLY_STRING, "INFO");
	seconds = field_of(info->str, "used_cpu_sys:") + field_of(info->str, "used_cpu_user:");
	freeReplyObject(info);
	return seconds;
}

/* put_share puts this peer's part of the timers, and fires until all are started. */
static void put_share(struct peer *peer, unsigned peers)
{
	for (size_t i = 0; i < SHARED / peers; i++) {
		put(peer, PLAIN,
		    (dw_timer){.due = shared->base + (dw_usec)(i * 7919 * peers) % DW_SECONDS(1)});
		if (i % 256 == 0)
			turn(peer, 0);
		while (peer->unconfirmed >= UNCONFIRMED_MAX)
			turn(peer, wall() + DW_SECONDS(1));
	}
	while (!shared->stop)
		turn(peer, wall() + DW_MILLISECONDS(100));
	close_peer(peer);
}

/* measure_share returns starts a second, and the server's microseconds a timer. */
static double measure_share(unsigned peers, double *ret_us)
{
	struct bench_home home;
	struct peer peer;
	pid_t pids[PEERS_MAX];
	double seconds, before;

	share_all(SHARED, 0, 0);
	bench_home_open(&home, "redis");
	shared->base = wall() + DW_SECONDS(15);
	for (unsigned i = 0; i < peers; i++)
		if (start_peer(&peer, i, &home, &pids[i])) {
			await_peers((int)peers);
			put_share(&peer, peers);
		}
	while (wall() < shared->base - DW_SECONDS(1))
		(void)poll(NULL, 0, 10);
	bench_require(shared->kinds[PLAIN].put == SHARED, "the timers are stored in time");
	before = server_seconds(&home);
	while (shared->kinds[PLAIN].started < SHARED)
		(void)poll(NULL, 0, 10);
	seconds = (double)(shared->last - shared->base) / 1e6;
	(void)poll(NULL, 0, 500); /* the last verdicts */
	*ret_us = (server_seconds(&home) - before) / SHARED * 1e6;
	shared->stop = 1;
	for (unsigned i = 0; i < peers; i++)
		end_peer(pids[i]);
	bench_require(doubled() == 0, "each timer starts once");
	bench_home_end(&home);
	return SHARED / seconds;
}

static void measure_shares(const struct bench_options *options)
{
	static const unsigned counts[] = {1, 2, PEERS_MAX};
	static const char *const names[] = {"1 peer", "2 peers", "4 peers"};
	struct bench_figure rates[3] = {0}, costs[3] = {0};
	struct bench_metric rate = {"peers", "share", "starts", "1/s", SHARED};
	struct bench_metric cost = {"peers", "share", "server", "us", SHARED};

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 3; i++) {
			rates[i].system = costs[i].system = names[i];
			rates[i].rounds[round] = measure_share(counts[i], &costs[i].rounds[round]);
			rates[i].count = costs[i].count = (size_t)round + 1;
		}
	bench_report(options, &rate, rates, 3);
	bench_report(options, &cost, costs, 3);
}

/* ---- A crowd ------------------------------------------------------------------------------- */

static void put_as_client(const struct bench_home *home)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_options options = {
	    .size = sizeof options, .store = home->url, .name = BENCH_NAME, .role = DW_CLIENT};
	dw *d;

	bench_require(dw_open(&d, &options, message) == DW_OK, message);
	bench_put_all(d, topics[PLAIN], CROWD_PUTS, wall() + DW_HOURS(1), DW_SECONDS(60));
	bench_require(dw_close(d, DW_SECONDS(30)) == DW_OK, "dw_close");
}

/* measure_crowd returns the server's microseconds a put. */
static double measure_crowd(unsigned peers)
{
	struct bench_home home;
	struct peer peer;
	pid_t pids[CROWD];
	double before, after;

	share_all(0, 0, 0);
	bench_home_open(&home, "redis");
	for (unsigned i = 0; i < peers; i++)
		if (start_peer(&peer, i, &home, &pids[i])) {
			while (!shared->stop)
				turn(&peer, wall() + DW_MILLISECONDS(500));
			close_peer(&peer);
		}
	await_peers((int)peers);
	(void)poll(NULL, 0, 20000); /* each has its share */
	before = server_seconds(&home);
	put_as_client(&home);
	after = server_seconds(&home);
	shared->stop = 1;
	for (unsigned i = 0; i < peers; i++)
		end_peer(pids[i]);
	bench_home_end(&home);
	return (after - before) / CROWD_PUTS * 1e6;
}

static void measure_crowds(const struct bench_options *options)
{
	static const char *const names[] = {"1 peer", "50 peers"};
	struct bench_metric cost = {"peers", "crowd", "server", "us", CROWD_PUTS};
	struct bench_figure costs[2] = {0};

	shard_count = CROWD_SHARDS;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 2; i++) {
			costs[i].system = names[i];
			costs[i].rounds[round] = measure_crowd(i == 0 ? 1 : CROWD);
			costs[i].count = (size_t)round + 1;
		}
	shard_count = BENCH_SHARDS;
	bench_report(options, &cost, costs, 2);
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_options(argc, argv, 60);

	if (!options.workload || strcmp(options.workload, "moves") == 0)
		measure_moves(&options);
	if (!options.workload || strcmp(options.workload, "share") == 0)
		measure_shares(&options);
	if (!options.workload || strcmp(options.workload, "crowd") == 0)
		measure_crowds(&options);
	return 0;
}
