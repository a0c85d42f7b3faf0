#include "support/fake_server.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

static void must(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	abort();
}

static int accept_one(struct fake_server *server)
{
	struct pollfd ready = {.fd = server->listener, .events = POLLIN};
	int fd;

	must(poll(&ready, 1, PATIENCE_MS) == 1, "fake_server: nobody connects");
	fd = accept(server->listener, NULL, NULL);
	must(fd >= 0, "accept");
	atomic_fetch_add(&server->accepted, 1);
	return fd;
}

/* expect reads until the peer has sent text, or has hung up. */
static void expect(struct fake_server *server, int fd, const char *text)
{
	size_t begin = server->seen_size;

	while (!memmem(server->seen + begin, server->seen_size - begin, text, strlen(text))) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		size_t room = sizeof server->seen - server->seen_size;
		ssize_t got;

		must(room > 0, "fake_server: more than expected");
		must(poll(&ready, 1, PATIENCE_MS) == 1, "fake_server: what is expected comes not");
		got = recv(fd, server->seen + server->seen_size, room, 0);
		if (got <= 0)
			return;
		server->seen_size += (size_t)got;
	}
}

static int send_all(int fd, const char *text, size_t chunk)
{
	size_t size = strlen(text);

	for (size_t at = 0; at < size;) {
		size_t count = chunk && chunk < size - at ? chunk : size - at;
		ssize_t sent = send(fd, text + at, count, MSG_NOSIGNAL);

		if (sent <= 0)
			return 0; /* the peer may hang up at any time */
		at += (size_t)sent;
	}
	return 1;
}

/* stall waits without reading until the peer hangs up or the test calls fake_server_go(). */
static void stall(struct fake_server *server, int fd)
{
	struct pollfd fds[] = {{.fd = server->go[0], .events = POLLIN},
			       {.fd = fd, .events = POLLRDHUP}};
	char byte;

	must(poll(fds, 2, PATIENCE_MS) > 0, "fake_server: stalls for ever");
	if (fds[0].revents)
		must(read(server->go[0], &byte, 1) == 1, "read");
}

static int play(struct fake_server *server, const struct fake_step *step, int fd)
{
	struct linger at_once = {.l_onoff = 1, .l_linger = 0};

	switch (step->kind) {
	case FAKE_ACCEPT:
		return accept_one(server);
	case FAKE_EXPECT:
		expect(server, fd, step->text);
		return fd;
	case FAKE_SEND:
		(void)send_all(fd, step->text, step->number);
		return fd;
	case FAKE_REPEAT:
		while (send_all(fd, step->text, step->number))
			;
		return fd;
	case FAKE_STALL:
		stall(server, fd);
		return fd;
	case FAKE_RESET:
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
		break;
	case FAKE_CLOSE:
	case FAKE_END:
		break;
	}
	(void)close(fd); /* nothing is lost */
	return -1;
}

static void *run(void *arg)
{
	struct fake_server *server = arg;
	int fd = -1;

	for (const struct fake_step *step = server->steps; step->kind != FAKE_END; step++)
		fd = play(server, step, fd);
	if (fd >= 0)
		(void)close(fd); /* nothing is lost */
	(void)close(server->listener);
	return NULL;
}

static void listen_at_path(struct fake_server *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	temp_file(server->path, server->folder, "sock");
	memcpy(address.sun_path, server->path, strlen(server->path) + 1);
	server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(bind(server->listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
}

static void listen_at_port(struct fake_server *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof address;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(bind(server->listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
	must(getsockname(server->listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
	server->port = ntohs(address.sin_port);
}

void fake_server_start(struct fake_server *server, bool tcp, const struct fake_step *steps)
{
	memset(server, 0, sizeof *server);
	server->steps = steps;
	temp_make(server->folder);
	if (tcp)
		listen_at_port(server);
	else
		listen_at_path(server);
	must(listen(server->listener, 8) == 0, "listen");
	must(pipe(server->go) == 0, "pipe");
	must(pthread_create(&server->thread, NULL, run, server) == 0, "pthread_create");
}

void fake_server_go(struct fake_server *server)
{
	must(write(server->go[1], "", 1) == 1, "write");
}

void fake_server_end(struct fake_server *server)
{
	must(pthread_join(server->thread, NULL) == 0, "pthread_join");
	(void)close(server->go[0]);
	(void)close(server->go[1]);
	temp_remove(server->folder);
}
