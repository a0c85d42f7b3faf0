/* Order timeouts on a program's own libuv loop: a service on a TCP port.
 *
 *	embed_libuv [STORE [TIMEOUT [NAME]]]     sqlite:orders.db, 30m, orders (its name in Redis)
 *
 * Each connection is one order: its first line is the number, and the customer has TIMEOUT to send
 * a second one, "pay". The connection may break at any time and the program be killed: the order is
 * cancelled in time all the same. SIGTERM and SIGINT end the program.
 *
 * What durawheel needs of the loop is one uv_poll_t on dw_fd() that calls dw_turn().
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include <durawheel/durawheel.h>

#define TOPIC "order.timeout"

/* What is the loop's: loop->data. */
struct service {
	dw *timers;
	dw_usec timeout;
};

struct customer {
	uv_tcp_t stream;
	size_t size; /* of what has come of the next line */
	char line[64];
	char order[32]; /* "" until the first line has come */
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
		fprintf(stderr, "embed_libuv: %s\n", event->message);
}

static void obey(struct customer *c, const char *line)
{
	struct service *s = c->stream.loop->data;
	size_t size = strlen(line) + 1;
	int error = DW_EINVAL;

	if (c->order[0] == '\0' && size <= sizeof c->order) {
		error = dw_after(s->timers, TOPIC, line, s->timeout, NULL, 0);
		if (error == DW_OK)
			memcpy(c->order, line, size);
	} else if (c->order[0] != '\0' && strcmp(line, "pay") == 0) {
		error = dw_cancel(s->timers, c->order, paid, NULL);
	}
	if (error != DW_OK)
		printf("\"%s\": %s\n", line, dw_strerror(error));
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void on_space(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct customer *c = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(c->line + c->size, (unsigned)(sizeof c->line - 1 - c->size));
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
	struct customer *c = stream->data;
	char *end;

	(void)buffer;
	if (got < 0) { /* the end of the connection, or a line that is far too long */
		uv_close((uv_handle_t *)stream, on_closed);
		return;
	}
	c->size += (size_t)got;
	c->line[c->size] = '\0';
	while ((end = strchr(c->line, '\n'))) {
		*end = '\0';
		obey(c, c->line);
		c->size -= (size_t)(end + 1 - c->line);
		memmove(c->line, end + 1, c->size + 1);
	}
}

static void on_connection(uv_stream_t *server, int status)
{
	struct customer *c = status == 0 ? calloc(1, sizeof *c) : NULL;

	if (!c)
		return;
	c->stream.data = c;
	uv_tcp_init(server->loop, &c->stream);
	if (uv_accept(server, (uv_stream_t *)&c->stream) != 0 ||
	    uv_read_start((uv_stream_t *)&c->stream, on_space, on_read) != 0)
		uv_close((uv_handle_t *)&c->stream, on_closed);
}

static void on_timers(uv_poll_t *poll, int status, int events)
{
	struct service *s = poll->loop->data;

	(void)events;
	if (status < 0 || dw_turn(s->timers) != DW_OK)
		uv_stop(poll->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	uv_stop(handle->loop);
}

static void close_handle(uv_handle_t *handle, void *user)
{
	(void)user;
	if (!uv_is_closing(handle))
		uv_close(handle, handle->data ? on_closed : NULL);
}

static int run(uv_loop_t *loop, struct service *s)
{
	uv_signal_t term, interrupt;
	uv_tcp_t server;
	uv_poll_t poll;
	struct sockaddr_in here;
	int size = sizeof here;
	int error;

	loop->data = s;
	uv_signal_init(loop, &term);
	uv_signal_init(loop, &interrupt);
	uv_poll_init(loop, &poll, dw_fd(s->timers));
	uv_tcp_init(loop, &server);
	term.data = interrupt.data = poll.data = server.data = NULL;
	uv_signal_start(&term, on_signal, SIGTERM);
	uv_signal_start(&interrupt, on_signal, SIGINT);
	uv_poll_start(&poll, UV_READABLE, on_timers);
	uv_ip4_addr("127.0.0.1", 0, &here);
	uv_tcp_bind(&server, (struct sockaddr *)&here, 0);
	error = uv_listen((uv_stream_t *)&server, 128, on_connection);
	if (error == 0)
		error = uv_tcp_getsockname(&server, (struct sockaddr *)&here, &size);
	if (error == 0) {
		printf("listening on 127.0.0.1:%d\n", ntohs(here.sin_port));
		uv_run(loop, UV_RUN_DEFAULT);
	} else {
		fprintf(stderr, "embed_libuv: %s\n", uv_strerror(error));
	}
	uv_walk(loop, close_handle, NULL);
	uv_run(loop, UV_RUN_DEFAULT); /* until each is closed */
	return error == 0 ? dw_sync(s->timers, DW_SECONDS(5)) : DW_ESYS;
}

int main(int argc, char **argv)
{
	struct service s = {.timeout = DW_MINUTES(30)};
	dw_options options = {.size = sizeof options,
			      .store = argc > 1 ? argv[1] : "sqlite:orders.db",
			      .name = argc > 3 ? argv[3] : "orders",
			      .on_event = on_event};
	char message[DW_MESSAGE_SIZE];
	int error;

	if (argc > 4 || (argc > 2 && dw_parse_duration(argv[2], &s.timeout) != DW_OK))
		return fprintf(stderr, "usage: embed_libuv [STORE [TIMEOUT [NAME]]]\n"), 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dw_open(&s.timers, &options, message) != DW_OK)
		return fprintf(stderr, "embed_libuv: %s\n", message), 1;
	dw_on(s.timers, TOPIC, cancel_order, NULL);
	error = run(uv_default_loop(), &s);
	if (dw_close(s.timers, DW_SECONDS(5)) != DW_OK)
		error = DW_ESTORE;
	uv_loop_close(uv_default_loop());
	return error == DW_OK ? 0 : 1;
}
