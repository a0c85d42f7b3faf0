/* A service that cancels orders which are not paid in time.
 *
 *	order_timeout [--timeout 30m] [--store URL] [--name NS]     then, on its input:  order 42
 *	                                                                                 pay 42
 *	                                                                                 quit
 *
 * The timer of an order is its only state here, and it is in the store: kill the program, start it
 * again, and unpaid orders are still cancelled, those whose time was over meanwhile at once.
 *
 * Payment and timeout race. dw_cancel decides, in one place: DW_OK means that the timeout will not
 * start any more. DW_ELATE means that it is being handled, DW_ENOENT that it is over; then the
 * money goes back.
 *
 * The loop is this program's own: poll() on its input and on dw_fd().
 */
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <durawheel/durawheel.h>

#define TOPIC "order.timeout"
#define PREFIX "order:"
#define TIMEOUT_MAX DW_DAYS(3650)
#define LINE_SIZE 128

struct service {
	dw *timers;
	dw_usec timeout;
	char line[LINE_SIZE]; /* what has come of the next command */
	size_t line_size;
	int quit;
};

/* order_of: others may write to the same store, and name their timers as they like. */
static const char *order_of(const char *id)
{
	return strncmp(id, PREFIX, strlen(PREFIX)) == 0 ? id + strlen(PREFIX) : id;
}

/* cancel_order does what must be done when nobody has paid. It may be started again after a crash,
 * with a higher firing->attempt, so it must do no harm when done twice. */
static dw_verdict cancel_order(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)user;
	printf("order %s: not paid in time, cancelled\n", order_of(firing->id));
	return fflush(stdout) == 0 ? DW_DONE : DW_RETRY;
}

/* An order is confirmed to the customer only now: a timer that is stored survives. */
static void ordered(dw *d, const dw_result *result, void *user)
{
	(void)d, (void)user;
	if (result->status == DW_OK)
		printf("order %s: waiting for payment\n", order_of(result->id));
	else if (result->status == DW_EEXIST)
		printf("order %s: exists already\n", order_of(result->id));
	else
		printf("order %s: refused, %s\n", order_of(result->id),
		       dw_strerror(result->status));
}

static void paid(dw *d, const dw_result *result, void *user)
{
	const char *order = order_of(result->id);

	(void)d, (void)user;
	if (result->status == DW_OK)
		printf("order %s: paid\n", order);
	else if (result->status == DW_ELATE)
		printf("order %s: too late, it is being cancelled; money back\n", order);
	else if (result->status == DW_ENOENT)
		printf("order %s: not waiting for payment; money back\n", order);
	else
		printf("order %s: payment not booked, %s; try again\n", order,
		       dw_strerror(result->status));
}

static int order(struct service *s, const char *id)
{
	dw_timer timer = {.size = sizeof timer, .id = id, .topic = TOPIC, .flags = DW_NEW};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	timer.due = DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000 + s->timeout;
	return dw_put(s->timers, &timer, ordered, s);
}

static void obey(struct service *s, const char *line)
{
	char verb[16], number[64], id[sizeof PREFIX + sizeof number];
	char rest;
	int words = sscanf(line, "%15s %63s %c", verb, number, &rest);
	int error = DW_OK;

	if (words == 2)
		snprintf(id, sizeof id, PREFIX "%s", number);
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

	if (got <= 0) {
		s->quit = 1;
		return;
	}
	s->line_size += (size_t)got;
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

	while (!s->quit) {
		int error;

		if (poll(fds, 2, -1) < 0)
			continue; /* a signal */
		if (fds[0].revents)
			listen_to_input(s);
		error = dw_turn(s->timers);
		if (error != DW_OK)
			return error;
	}
	return dw_sync(s->timers, DW_SECONDS(5)); /* the last commands still get their answers */
}

static int read_arguments(int argc, char **argv, struct service *s, dw_options *options)
{
	static const struct option known[] = {{"timeout", required_argument, NULL, 't'},
					      {"store", required_argument, NULL, 's'},
					      {"name", required_argument, NULL, 'n'},
					      {NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 's')
			options->store = optarg;
		else if (option == 'n')
			options->name = optarg; /* of the timers in a store that is shared: Redis */
		else if (option != 't' || dw_parse_duration(optarg, &s->timeout) != DW_OK)
			return -1;
	}
	return optind == argc && s->timeout <= TIMEOUT_MAX ? 0 : -1;
}

int main(int argc, char **argv)
{
	dw_options options = {
	    .size = sizeof options, .store = "sqlite:orders.db", .name = "orders"};
	struct service s = {.timeout = DW_MINUTES(30)};
	char message[DW_MESSAGE_SIZE];
	int error;

	if (read_arguments(argc, argv, &s, &options) < 0) {
		fprintf(stderr, "usage: order_timeout [--timeout 30m] [--store URL] [--name NS]\n");
		return 2;
	}
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
	if (dw_close(s.timers, DW_SECONDS(5)) != DW_OK)
		error = DW_ESTORE;
	return error == DW_OK ? 0 : 1;
}
