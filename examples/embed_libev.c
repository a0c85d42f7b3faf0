/* Order timeouts on a program's own libev loop, beside its input and its signals.
 *
 *	embed_libev [STORE [TIMEOUT [NAME]]]     sqlite:orders.db, 30m, orders (its name in Redis)
 *
 * A line "order 42" on the input starts the timeout of an order, "pay 42" ends it. The end of the
 * input, SIGTERM or SIGINT ends the program.
 *
 * durawheel puts one watcher on the loop in dw_open() and takes it off in dw_close(); between them
 * there is nothing to do for it.
 */
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <durawheel/durawheel.h>

#define TOPIC "order.timeout"

struct service {
	dw *timers;
	dw_usec timeout;
	size_t size; /* of what has come of the next line */
	char line[64];
};

/* cancel_order may run twice for one order, after a crash in between: it must do no harm then. */
static dw_verdict cancel_order(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)user;
	printf("order %s: not paid in time, cancelled\n", firing->id);
	return DW_DONE;
}

static void paid(dw *d, const dw_result *result, void *user)
{
	(void)d;
	(void)user;
	printf("order %s: %s\n", result->id,
	       result->status == DW_OK ? "paid" : "not waiting for payment; money back");
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	if (event->kind == DW_EVENT_FAILED)
		fprintf(stderr, "embed_libev: %s\n", event->message);
}

static void obey(struct service *s, const char *line)
{
	char verb[8], id[32], end;
	int words = sscanf(line, "%7s %31s %c", verb, id, &end);
	int error = DW_EINVAL;

	if (words == 2 && strcmp(verb, "order") == 0)
		error = dw_after(s->timers, TOPIC, id, s->timeout, NULL, 0);
	else if (words == 2 && strcmp(verb, "pay") == 0)
		error = dw_cancel(s->timers, id, paid, NULL);
	if (error != DW_OK)
		printf("%s: say order NUMBER or pay NUMBER\n", line);
}

static void on_input(struct ev_loop *loop, ev_io *watcher, int events)
{
	struct service *s = watcher->data;
	ssize_t got = read(watcher->fd, s->line + s->size, sizeof s->line - 1 - s->size);
	char *end;

	(void)events;
	if (got <= 0) {
		ev_break(loop, EVBREAK_ALL);
		return;
	}
	s->size += (size_t)got;
	s->line[s->size] = '\0';
	while ((end = strchr(s->line, '\n'))) {
		*end = '\0';
		obey(s, s->line);
		s->size -= (size_t)(end + 1 - s->line);
		memmove(s->line, end + 1, s->size + 1);
	}
	if (s->size == sizeof s->line - 1)
		s->size = 0; /* far too long for a command */
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
	(void)watcher;
	(void)events;
	ev_break(loop, EVBREAK_ALL);
}

static int run(struct ev_loop *loop, struct service *s)
{
	ev_signal term, interrupt;
	ev_io input;

	ev_signal_init(&term, on_signal, SIGTERM);
	ev_signal_init(&interrupt, on_signal, SIGINT);
	ev_io_init(&input, on_input, STDIN_FILENO, EV_READ);
	input.data = s;
	ev_signal_start(loop, &term);
	ev_signal_start(loop, &interrupt);
	ev_io_start(loop, &input);
	ev_run(loop, 0);
	ev_io_stop(loop, &input);
	ev_signal_stop(loop, &interrupt);
	ev_signal_stop(loop, &term);
	return dw_sync(s->timers, DW_SECONDS(5)); /* the last orders are stored, too */
}

int main(int argc, char **argv)
{
	struct service s = {.timeout = DW_MINUTES(30)};
	dw_options options = {.size = sizeof options,
			      .store = argc > 1 ? argv[1] : "sqlite:orders.db",
			      .name = argc > 3 ? argv[3] : "orders",
			      .on_event = on_event,
			      .ev_loop = ev_default_loop(0)};
	char message[DW_MESSAGE_SIZE];
	int error;

	if (argc > 4 || (argc > 2 && dw_parse_duration(argv[2], &s.timeout) != DW_OK))
		return fprintf(stderr, "usage: embed_libev [STORE [TIMEOUT [NAME]]]\n"), 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dw_open(&s.timers, &options, message) != DW_OK)
		return fprintf(stderr, "embed_libev: %s\n", message), 1;
	dw_on(s.timers, TOPIC, cancel_order, NULL);
	error = run(options.ev_loop, &s);
	if (error != DW_OK)
		fprintf(stderr, "embed_libev: %s\n", dw_strerror(error));
	if (dw_close(s.timers, DW_SECONDS(5)) != DW_OK)
		error = DW_ESTORE;
	return error == DW_OK ? 0 : 1;
}
