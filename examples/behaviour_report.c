/* Reports the behaviour of players: 20 games send events, and each game has a queue of its own.
 *
 *	behaviour_report [--store URL] [--name NS] [--events 10000] [--seconds 5] [--kill]
 *
 * Each queue has at most 5,000 events, the oldest go first, and none is reported that is older than
 * 3 s. An event is reported in a batch with others of its game. One game is hot: it sends half of
 * all events, and has two consumers of its own, so that no other game waits for it. --kill ends a
 * consumer of the hot game with SIGKILL in the middle: what it had taken comes back after 1 s.
 *
 * One process sends, four consume, all as clients: nobody needs to own the store for this. At the
 * end a table says what became of all events, and the program fails if they do not add up.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <durawheel/durawheel.h>
#include <durawheel/topic.h>

enum { GAMES = 20, CONSUMERS = 4, HOT_CONSUMERS = 2, BATCH = 128, SENT_TOGETHER = 50 };

#define AGE_MAX DW_SECONDS(3)
#define HIDE DW_SECONDS(1)
#define PATIENCE DW_SECONDS(30)

static const char *store = "sqlite:behaviour.db", *name = "behaviour";
static long events_a_second = 10000, seconds = 5;

/* What all processes count. Only the consumer that took a batch changes its numbers. */
struct shared {
	_Atomic uint64_t sent[GAMES], refused[GAMES], reported[GAMES], again[GAMES];
	_Atomic uint64_t batches, mixed, too_old;
	_Atomic int64_t wait_max[GAMES];
	_Atomic int sending;
	_Atomic int doomed; /* the first consumer is killed with its next batch */
};
static struct shared *shared;

static char games[GAMES][24];

static int game_of(const char *topic)
{
	return (int)strtol(topic + strlen("game."), NULL, 10);
}

static dw *open_store(void)
{
	char message[DW_MESSAGE_SIZE];
	dw_options options = {
	    .size = sizeof options, .store = store, .name = name, .role = DW_CLIENT};
	dw *d;

	if (dw_open(&d, &options, message) == DW_OK)
		return d;
	fprintf(stderr, "behaviour_report: %s\n", message);
	exit(1);
}

static void turn(dw *d, int patience_ms)
{
	struct pollfd readable = {.fd = dw_fd(d), .events = POLLIN};

	(void)poll(&readable, 1, patience_ms);
	if (dw_turn(d) != DW_OK)
		exit(1);
}

/* ---- Sending ------------------------------------------------------------------------------- */

static void sent(dw *d, const dw_result *result, void *user)
{
	const int *game = user;

	(void)d;
	*(result->status == DW_OK ? &shared->sent[*game] : &shared->refused[*game]) +=
	    SENT_TOGETHER;
}

static void send_events(dw *d, long turn_number)
{
	static int numbers[GAMES];
	/* Every second batch is of the hot game. */
	int game = turn_number % 2 ? 0 : 1 + (int)(turn_number / 2 % (GAMES - 1));
	dw_timer events[SENT_TOGETHER];

	numbers[game] = game;
	for (int i = 0; i < SENT_TOGETHER; i++)
		events[i] = (dw_timer){.size = sizeof *events,
				       .topic = games[game],
				       .data = "{\"what\":\"jump\"}",
				       .data_size = sizeof "{\"what\":\"jump\"}" - 1};
	if (dw_push(d, events, SENT_TOGETHER, sent, &numbers[game]) != DW_OK)
		shared->refused[game] += SENT_TOGETHER;
}

static void run_sender(void)
{
	dw *d = open_store();
	dw_usec began = dw_now(d);
	long batches = events_a_second * seconds / SENT_TOGETHER;

	for (long i = 0; i < batches; i++) {
		while (dw_now(d) - began < i * SENT_TOGETHER * 1000000 / events_a_second)
			turn(d, 1);
		send_events(d, i);
	}
	(void)dw_sync(d, PATIENCE);
	exit(dw_close(d, PATIENCE) != DW_OK);
}

/* ---- Reporting ----------------------------------------------------------------------------- */

struct consumer {
	int taking; /* a take is under way */
	int first;  /* the game that the next take asks first */
	int hot;
	int victim; /* of --kill */
};

/* reported: the answers to a batch. What was taken again by another consumer is its own. */
static void reported(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d, (void)user;
	for (size_t i = 0; i < count; i++)
		shared->reported[game_of(results[i].id)] += results[i].status == DW_OK;
}

static void report(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct consumer *consumer = user;
	const char *tokens[BATCH];
	dw_answer done = {.size = sizeof done, .tokens = tokens, .count = count};

	consumer->taking = 0;
	if (count > 0 && consumer->victim && shared->doomed)
		(void)raise(SIGKILL);
	if (status != DW_OK && status != DW_ECLOSED)
		fprintf(stderr, "behaviour_report: %s\n", dw_strerror(status));
	for (size_t i = 0; i < count; i++) {
		dw_usec age = dw_now(d) - messages[i].due;
		int game = game_of(messages[i].topic);

		tokens[i] = messages[i].token;
		shared->mixed += strcmp(messages[i].topic, messages[0].topic) != 0;
		shared->too_old += age > AGE_MAX + DW_SECONDS(1); /* a turn may take long here */
		shared->again[game] += messages[i].attempt > 1;
		if (age > shared->wait_max[game])
			shared->wait_max[game] = age;
	}
	shared->batches += count > 0;
	if (count > 0 && dw_ack(d, &done, reported, NULL) != DW_OK)
		fprintf(stderr, "behaviour_report: %s\n", dw_last_error(d));
}

/* take asks the games in turn, so none of them waits behind the others. */
static void take(dw *d, struct consumer *consumer)
{
	const char *topics[GAMES];
	dw_take_options options = {.size = sizeof options,
				   .topics = topics,
				   .max = BATCH,
				   .wait_us = DW_MILLISECONDS(200)};

	if (consumer->hot)
		topics[options.topic_count++] = games[0];
	for (int i = 0; !consumer->hot && i < GAMES - 1; i++)
		topics[options.topic_count++] = games[1 + (consumer->first + i) % (GAMES - 1)];
	consumer->first++;
	consumer->taking = dw_take(d, &options, report, consumer) == DW_OK;
}

static void run_consumer(int number)
{
	struct consumer consumer = {.hot = number < HOT_CONSUMERS, .victim = number == 0};
	dw *d = open_store();
	dw_usec last = dw_now(d); /* when there was something to do */
	uint64_t batches = 0;

	/* What another consumer had taken comes back after HIDE. */
	while (shared->sending || dw_now(d) - last < 2 * HIDE) {
		if (!consumer.taking)
			take(d, &consumer);
		turn(d, 100);
		if (shared->sending || shared->batches != batches)
			last = dw_now(d);
		batches = shared->batches;
	}
	exit(dw_close(d, PATIENCE) != DW_OK);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static pid_t start(void (*run)(int), int argument)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(1);
	if (pid == 0)
		run(argument);
	return pid;
}

static void run_sender_of(int unused)
{
	(void)unused;
	run_sender();
}

static void failed(dw *d, const dw_result *result, void *user)
{
	(void)d, (void)user;
	if (result->status != DW_OK)
		fprintf(stderr, "behaviour_report: %s: %s\n", result->id,
			dw_strerror(result->status));
}

static void make_queues(void)
{
	dw_topic_settings settings = {.size = sizeof settings,
				      .queue = 1,
				      .max = 5000,
				      .expire_us = AGE_MAX,
				      .hide_us = HIDE};
	dw *d = open_store();

	for (int i = 0; i < GAMES; i++)
		if (dw_topic_set(d, games[i], &settings, failed, NULL) != DW_OK)
			exit(1);
	if (dw_sync(d, PATIENCE) != DW_OK || dw_close(d, PATIENCE) != DW_OK)
		exit(1);
}

/* The numbers of all games, from the store and from the processes. */
struct total {
	uint64_t sent, reported, again, dropped, expired, left;
	int wrong; /* games whose numbers do not add up */
};

static void add_up(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct total *total = user;

	(void)d;
	if (status != DW_OK)
		exit(1);
	printf("game        sent  reported   again  dropped  expired    left  waited at most\n");
	for (size_t i = 0; i < count; i++) {
		const dw_topic_info *info = &topics[i];
		int game = game_of(info->name);
		uint64_t left = info->waiting + info->taken + info->later;
		uint64_t known = shared->reported[game] + info->dropped + info->expired + left;

		printf("%-8s %7" PRIu64 "   %7" PRIu64 " %7" PRIu64 "  %7" PRIu64 "  %7" PRIu64
		       " %7" PRIu64 "  %9.3f s\n",
		       info->name, shared->sent[game], shared->reported[game], shared->again[game],
		       info->dropped, info->expired, left, (double)shared->wait_max[game] / 1e6);
		total->sent += shared->sent[game];
		total->reported += shared->reported[game];
		total->again += shared->again[game];
		total->dropped += info->dropped;
		total->expired += info->expired;
		total->left += left;
		/* A consumer that was killed may have been answered without counting it. */
		total->wrong +=
		    known > shared->sent[game] + BATCH || known + BATCH < shared->sent[game];
	}
}

static int judge(void)
{
	struct total total = {0};
	dw *d = open_store();
	double longest = 0;

	if (dw_topic_list(d, NULL, add_up, &total) != DW_OK || dw_sync(d, PATIENCE) != DW_OK)
		return 1;
	for (int i = 1; i < GAMES; i++)
		longest = (double)shared->wait_max[i] / 1e6 > longest
			      ? (double)shared->wait_max[i] / 1e6
			      : longest;
	printf("%" PRIu64 " events in %" PRIu64 " batches: %" PRIu64 " reported, %" PRIu64
	       " taken again, %" PRIu64 " dropped, %" PRIu64 " expired, %" PRIu64 " left; "
	       "%" PRIu64 " too old, %" PRIu64 " batches mixed; a game beside the hot one waited "
	       "at most %.3f s\n",
	       total.sent, shared->batches, total.reported, total.again, total.dropped,
	       total.expired, total.left, shared->too_old, shared->mixed, longest);
	(void)dw_close(d, PATIENCE);
	if (total.wrong > 0 || total.sent == 0 || shared->too_old > 0 || shared->mixed > 0) {
		printf("the events of %d games do not add up\n", total.wrong);
		return 1;
	}
	return 0;
}

static int read_options(int argc, char **argv)
{
	static const struct option options[] = {
	    {"store", required_argument, NULL, 's'},  {"name", required_argument, NULL, 'n'},
	    {"events", required_argument, NULL, 'e'}, {"seconds", required_argument, NULL, 't'},
	    {"kill", no_argument, NULL, 'k'},         {NULL, 0, NULL, 0}};
	int option, kills = 0;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			store = optarg;
		else if (option == 'n')
			name = optarg;
		else if (option == 'e')
			events_a_second = strtol(optarg, NULL, 10);
		else if (option == 't')
			seconds = strtol(optarg, NULL, 10);
		else if (option == 'k')
			kills = 1;
		else
			exit(2);
	}
	if (optind < argc || events_a_second < SENT_TOGETHER || seconds < 1) {
		fprintf(stderr, "usage: behaviour_report [--store URL] [--name NS] [--events N]"
				" [--seconds N] [--kill]\n");
		exit(2);
	}
	return kills;
}

int main(int argc, char **argv)
{
	int kills = read_options(argc, argv), code = 0, status;
	pid_t sender, consumers[CONSUMERS];

	shared =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	shared->sending = 1;
	for (int i = 0; i < GAMES; i++)
		(void)snprintf(games[i], sizeof games[i], "game.%02d", i);
	make_queues();
	for (int i = 0; i < CONSUMERS; i++)
		consumers[i] = start(run_consumer, i);
	sender = start(run_sender_of, 0);
	if (kills) {
		(void)sleep((unsigned)(seconds + 1) / 2);
		shared->doomed = 1;
	}
	(void)waitpid(sender, &status, 0);
	code |= status != 0;
	shared->sending = 0;
	for (int i = 0; i < CONSUMERS; i++) {
		(void)waitpid(consumers[i], &status, 0);
		code |= status != 0 && !(kills && i == 0);
	}
	return judge() || code;
}
