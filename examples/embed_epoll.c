/* Order timeouts beside a program's own work in its own epoll loop: a service on a UDP port.
 *
 *	embed_epoll [STORE [TIMEOUT [NAME]]]     sqlite:orders.db, 30m, orders (its name in Redis)
 *
 * A datagram "order 42" starts the timeout of an order, "pay 42" ends it; each is answered when the
 * store has answered, with another datagram. SIGTERM and SIGINT end the service.
 *
 * What durawheel needs of the loop is one descriptor: dw_fd() is readable when dw_turn() has work.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <durawheel/durawheel.h>

struct service {
	dw *timers;
	dw_usec timeout;
	int socket;
};

/* A question that the store has not answered yet, and who asked it. */
struct question {
	struct service *service;
	struct sockaddr_in from;
	char text[64];
};

/* cancel_order may run twice for one order, after a crash in between: it must do no harm then. */
static dw_verdict cancel_order(dw *d, const dw_firing *firing, void *user)
{
	(void)d;
	(void)user;
	printf("order %s: not paid in time, cancelled\n", firing->id);
	return DW_DONE;
}

/* answered is called exactly once for each accepted call, so the question is freed here. */
static void answered(dw *d, const dw_result *result, void *user)
{
	struct question *q = user;
	char text[128];
	int size = snprintf(text, sizeof text, "%s: %s\n", q->text,
			    result->status == DW_OK ? "done" : dw_strerror(result->status));

	(void)d;
	sendto(q->service->socket, text, (size_t)size, MSG_DONTWAIT, (struct sockaddr *)&q->from,
	       sizeof q->from);
	free(q);
}

static int obey(struct question *q)
{
	dw_timer timer = {.size = sizeof timer, .topic = "order.timeout", .flags = DW_NEW};
	char verb[8], id[32], end;
	struct timespec now;

	if (sscanf(q->text, "%7s %31s %c", verb, id, &end) != 2)
		return DW_EINVAL;
	if (strcmp(verb, "pay") == 0)
		return dw_cancel(q->service->timers, id, answered, q);
	if (strcmp(verb, "order") != 0)
		return DW_EINVAL;
	clock_gettime(CLOCK_REALTIME, &now);
	timer.id = id;
	timer.due = DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000 + q->service->timeout;
	return dw_put(q->service->timers, &timer, answered, q);
}

static void receive(struct service *s)
{
	struct question *q = calloc(1, sizeof *q);
	socklen_t size = sizeof q->from;
	ssize_t got;

	if (!q)
		return; /* the next round tries again */
	got = recvfrom(s->socket, q->text, sizeof q->text - 1, MSG_DONTWAIT,
		       (struct sockaddr *)&q->from, &size);
	q->service = s;
	q->text[strcspn(q->text, "\r\n")] = '\0';
	if (got < 0) {
		free(q);
	} else {
		int error = obey(q);
		dw_result refused = {.size = sizeof refused, .status = error};

		if (error != DW_OK)
			answered(s->timers, &refused, q);
	}
}

static int serve(struct service *s, int signals)
{
	int fds[] = {s->socket, dw_fd(s->timers), signals};
	int set = epoll_create1(EPOLL_CLOEXEC);
	int quit = 0;

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};

		if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event) < 0)
			return perror("embed_epoll"), DW_ESYS;
	}
	while (!quit) {
		struct epoll_event events[8];
		int count = epoll_wait(set, events, 8, -1);

		for (int i = 0; i < count; i++) {
			if (events[i].data.fd == s->socket)
				receive(s);
			else if (events[i].data.fd == signals)
				quit = 1;
			else if (dw_turn(s->timers) != DW_OK)
				return DW_ESYS;
		}
	}
	close(set);
	return dw_sync(s->timers, DW_SECONDS(5)); /* the last questions still get their answers */
}

static int open_socket(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof here;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&here, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&here, &size) < 0)
		return perror("embed_epoll"), -1;
	printf("listening on 127.0.0.1:%d\n", ntohs(here.sin_port));
	return fd;
}

int main(int argc, char **argv)
{
	dw_options options = {.size = sizeof options,
			      .store = argc > 1 ? argv[1] : "sqlite:orders.db",
			      .name = argc > 3 ? argv[3] : "orders"};
	struct service s = {.timeout = DW_MINUTES(30)};
	char message[DW_MESSAGE_SIZE];
	sigset_t stop;
	int error;

	if (argc > 4 || (argc > 2 && dw_parse_duration(argv[2], &s.timeout) != DW_OK))
		return fprintf(stderr, "usage: embed_epoll [STORE [TIMEOUT [NAME]]]\n"), 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL); /* before dw_open: the store's threads inherit it */
	if (dw_open(&s.timers, &options, message) != DW_OK)
		return fprintf(stderr, "embed_epoll: %s\n", message), 1;
	dw_on(s.timers, "order.timeout", cancel_order, NULL);
	s.socket = open_socket();
	error = s.socket < 0 ? DW_ESYS : serve(&s, signalfd(-1, &stop, SFD_CLOEXEC));
	if (dw_close(s.timers, DW_SECONDS(5)) != DW_OK)
		error = DW_ESTORE;
	return error == DW_OK ? 0 : 1;
}
