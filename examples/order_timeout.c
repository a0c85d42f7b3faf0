/* A service that cancels orders which are not paid in time.
 *
 *	order_timeout [--timeout 30m] [--store URL] [--name NS] [--journal FILE]
 *	order 42, pay 42, quit: on its input, one a line
 *
 * The timer of an order is its only state here, and it is in the store: kill the program, start it
 * again, and unpaid orders are still cancelled, those whose time was over meanwhile at once.
 *
 * Payment and timeout race. dw_cancel decides, in one place: DW_OK means that the timeout will not
 * start any more. DW_ELATE means that it is being handled, DW_ENOENT that it is over; then the
 * money goes back.
 *
 * With a store in Redis and --journal, it takes orders and payments while Redis is away, too. The
 * payment of an earlier order is then DW_EUNKNOWN at level DW_JOURNALED: this program does not
 * cancel the order, and an event says later if another one has.
 */
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <durawheel/durawheel.h>

#define TOPIC "order.timeout"
#define LINE_SIZE 128

struct service {
	dw *timers;
	dw_usec timeout;
	unsigned flags;       /* of an order's timer */
	char line[LINE_SIZE]; /* what has come of the next command */
	size_t line_size;
	int quit;
};

/* cancel_order does what must be done when nobody has paid. It may be started again after a crash,
 * with a higher firing->attempt, so it must do no harm when done twice. */
static dw_verdict cancel_order(dw *d, const dw_firing *firing, void *user)
{
	(void)d, (void)user;
	printf("order %s: not paid in time, cancelled\n", firing->id);
	return fflush(stdout) == 0 ? DW_DONE : DW_RETRY;
}

static void tell(const dw_result *result, const char *words)
{
	printf("order %s: %s%s\n", result->id, words,
	       result->level == DW_JOURNALED ? " (in the journal)" : "");
}

/* An order is confirmed to the customer only now: a timer that is stored survives. */
static void ordered(dw *d, const dw_result *result, void *user)
{
	(void)d, (void)user;
	if (result->status == DW_OK)
		tell(result, "waiting for payment");
	else
		printf("order %s: refused, %s\n", result->id, dw_strerror(result->status));
}

static void paid(dw *d, const dw_result *result, void *user)
{
	(void)d, (void)user;
	if (result->status == DW_OK || result->level == DW_JOURNALED)
		tell(result, "paid");
	else if (result->status == DW_ELATE)
		tell(result, "too late, it is being cancelled; money back");
	else if (result->status == DW_ENOENT)
		tell(result, "not waiting for payment; money back");
	else
		printf("order %s: not paid, %s; again\n", result->id, dw_strerror(result->status));
}

/* happened: an outage of Redis, and what became of the journal. */
static void happened(dw *d, const dw_event *event, void *user)
{
	(void)d, (void)user;
	if (event->kind == DW_EVENT_OUTAGE)
		printf("redis: away\n");
	else if (event->kind == DW_EVENT_REPLAYED && event->id)
		printf("order %s\n", event->message); /* a payment came too late: money back */
	else if (event->kind == DW_EVENT_REPLAYED)
		printf("redis: back, and has the journal\n");
}

static int order(struct service *s, const char *id)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = TOPIC, .flags = s->flags};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	timer.due = DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000 + s->timeout;
	return dw_put(s->timers, &timer, ordered, s);
}

static void obey(struct service *s, const char *line)
{
	char verb[16], id[64], rest;
	int words = sscanf(line, "%15s %63s %c", verb, id, &rest);
	int error = DW_OK;

	if (words == 2 && strcmp(verb, "order") == 0)
		error = order(s, id);
	else if (words == 2 && strcmp(verb, "pay") == 0)
		error = dw_cancel(s->timers, id, paid, s);
	else if (words == 1 && strcmp(verb, "quit") == 0)
		s->quit = 1;
	else if (words > 0)
		printf("say: order NUMBER, pay NUMBER or quit\n");
	if (error != DW_OK)
		printf("%s: %s\n", line, dw_last_error(s->timers));
}

/* listen_to_input reads what has come and obeys each line of it. The end of the input is a quit. */
static void listen_to_input(struct service *s)
{
	ssize_t got = read(STDIN_FILENO, s->line + s->line_size, LINE_SIZE - 1 - s->line_size);
	char *end;

	s->quit = got <= 0;
	s->line_size += got > 0 ? (size_t)got : 0;
	s->line[s->line_size] = '\0';
	while (!s->quit && (end = strchr(s->line, '\n'))) {
		*end = '\0';
		obey(s, s->line);
		s->line_size -= (size_t)(end + 1 - s->line);
		memmove(s->line, end + 1, s->line_size + 1);
	}
	if (s->line_size == LINE_SIZE - 1)
		s->line_size = 0; /* far too long for a command */
}

/* serve: one poll() for the input and the timers. Nothing else may block in this loop. */
static int serve(struct service *s)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = dw_fd(s->timers), .events = POLLIN}};
	int error = DW_OK;

	while (!s->quit && error == DW_OK) {
		if (poll(fds, 2, -1) < 0)
			continue; /* a signal */
		if (fds[0].revents)
			listen_to_input(s);
		error = dw_turn(s->timers);
	}
	return error == DW_OK ? dw_sync(s->timers, DW_SECONDS(5)) : error; /* the last answers */
}

static int read_arguments(int argc, char **argv, struct service *s, dw_options *options)
{
	static const struct option known[] = {{"timeout", required_argument, NULL, 't'},
					      {"store", required_argument, NULL, 's'},
					      {"name", required_argument, NULL, 'n'},
					      {"journal", required_argument, NULL, 'j'},
					      {NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 's')
			options->store = optarg;
		else if (option == 'n')
			options->name = optarg; /* of the timers in a store that is shared: Redis */
		else if (option == 'j')
			options->journal = optarg;
		else if (option != 't' || dw_parse_duration(optarg, &s->timeout) != DW_OK)
			return -1;
	}
	s->flags = options->journal ? 0 : DW_NEW; /* while Redis is away, nobody knows that */
	return optind == argc && s->timeout <= DW_DAYS(3650) ? 0 : -1;
}

int main(int argc, char **argv)
{
	dw_options options = {
	    .size = sizeof options, .store = "sqlite:orders.db", .name = "orders"};
	struct service s = {.timeout = DW_MINUTES(30)};
	char message[DW_MESSAGE_SIZE];
	int error;

	if (read_arguments(argc, argv, &s, &options) < 0) {
		fprintf(stderr, "usage: order_timeout [--timeout 30m] [--store URL] [--name NS] "
				"[--journal FILE]\n");
		return 2;
	}
	options.on_event = happened;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dw_open(&s.timers, &options, message) != DW_OK) {
		fprintf(stderr, "order_timeout: %s\n", message);
		return 1;
	}
	error = dw_on(s.timers, TOPIC, cancel_order, NULL);
	if (error == DW_OK)
		error = serve(&s);
	if (error != DW_OK)
		fprintf(stderr, "order_timeout: %s\n", dw_last_error(s.timers));
	return dw_close(s.timers, DW_SECONDS(5)) == DW_OK && error == DW_OK ? 0 : 1;
}
