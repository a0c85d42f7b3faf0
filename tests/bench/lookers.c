/* lookers.c: see lookers.h. */
#include "bench/lookers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench_support.h"

enum { PAGES = 20, LOOKERS = PAGES + 1, PATIENCE_S = 10, BUFFER = 1 << 20 };

#define PAGE_EVERY_MS 2000
#define SCRAPE_EVERY_MS 100

/* Of both processes. */
static struct shared {
	atomic_uint pages, scrapes, failures;
} * shared;

static pid_t process;
static int orders[2]; /* a pipe: the port, as an int. No server may keep its end open */

/* Of the child. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int present_port;

struct looker {
	const char *path;
	unsigned number;
	unsigned every_ms;
	atomic_uint *count;
	int fd; /* -1: none */
	int port;
	char *buffer;
};

static bool dial(struct looker *looker)
{
	struct sockaddr_in name = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)looker->port),
				   .sin_addr = {htonl(INADDR_LOOPBACK)}};
	const struct timeval patience = {.tv_sec = PATIENCE_S};

	looker->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bench_require(looker->fd >= 0, "a socket");
	(void)setsockopt(looker->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	return connect(looker->fd, (struct sockaddr *)&name, sizeof name) == 0;
}

/* is_whole: the answer has its header, and as many bytes as that says. */
static bool is_whole(const char *answer, size_t size)
{
	const char *end = strstr(answer, "\r\n\r\n");
	const char *length = strstr(answer, "Content-Length: ");

	return end && length && length < end &&
	       size >= (size_t)(end - answer) + 4 + strtoul(length + 16, NULL, 10);
}

/* fetch asks once. False: no answer, or not the one that was wanted. */
static bool fetch(struct looker *looker)
{
	char ask[128];
	int size = snprintf(ask, sizeof ask, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
			    looker->path); /* fits */
	size_t got = 0;

	if (looker->fd < 0 && !dial(looker))
		return false;
	if (send(looker->fd, ask, (size_t)size, MSG_NOSIGNAL) != size)
		return false;
	looker->buffer[0] = '\0';
	while (!is_whole(looker->buffer, got)) {
		ssize_t more = recv(looker->fd, looker->buffer + got, BUFFER - 1 - got, 0);

		if (more <= 0)
			return false;
		got += (size_t)more;
		looker->buffer[got] = '\0';
	}
	return strncmp(looker->buffer, "HTTP/1.1 200 ", 13) == 0;
}

static void hang_up(struct looker *looker)
{
	if (looker->fd >= 0)
		(void)close(looker->fd);
	looker->fd = -1;
}

static int await_port(void)
{
	int port;

	(void)pthread_mutex_lock(&mutex);
	while (present_port == 0)
		(void)pthread_cond_wait(&changed, &mutex);
	port = present_port;
	(void)pthread_mutex_unlock(&mutex);
	return port;
}

static bool is_present(int port)
{
	bool is;

	(void)pthread_mutex_lock(&mutex);
	is = present_port == port;
	(void)pthread_mutex_unlock(&mutex);
	return is;
}

static void pause_ms(unsigned ms)
{
	const struct timespec span = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	(void)nanosleep(&span, NULL); /* no signal has a handler */
}

static void *look(void *user)
{
	struct looker *looker = user;

	for (;;) {
		looker->port = await_port();
		pause_ms(looker->number * (PAGE_EVERY_MS / PAGES));
		while (is_present(looker->port)) {
			uint64_t began = bench_ns() / 1000000;
			unsigned took;

			if (fetch(looker))
				(void)atomic_fetch_add(looker->count, 1);
			else if (is_present(looker->port))
				(void)atomic_fetch_add(&shared->failures, 1);
			took = (unsigned)(bench_ns() / 1000000 - began);
			pause_ms(took < looker->every_ms ? looker->every_ms - took : 0);
		}
		hang_up(looker);
	}
	return NULL;
}

/* obey runs the child. */
static void obey(void)
{
	static const char *const paths[] = {"/", "/topics", "/timers", "/dead", "/schedules"};
	static struct looker lookers[LOOKERS];
	pthread_t thread;
	int port;

	for (unsigned i = 0; i < LOOKERS; i++) {
		bool is_page = i < PAGES;

		lookers[i] = (struct looker){.path = is_page ? paths[i % 5] : "/metrics",
					     .number = i,
					     .every_ms = is_page ? PAGE_EVERY_MS : SCRAPE_EVERY_MS,
					     .count = is_page ? &shared->pages : &shared->scrapes,
					     .fd = -1,
					     .buffer = bench_alloc(BUFFER, 1)};
		bench_require(pthread_create(&thread, NULL, look, &lookers[i]) == 0, "a thread");
	}
	while (read(orders[0], &port, sizeof port) == (ssize_t)sizeof port) {
		(void)pthread_mutex_lock(&mutex);
		present_port = port;
		(void)pthread_cond_broadcast(&changed);
		(void)pthread_mutex_unlock(&mutex);
	}
	_exit(0); /* the benchmark has ended */
}

void lookers_fork(void)
{
	shared =
	    mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bench_require(shared != MAP_FAILED && pipe2(orders, O_CLOEXEC) == 0, "memory and a pipe");
	process = fork();
	bench_require(process >= 0, "fork");
	if (process == 0) {
		(void)close(orders[1]);
		obey();
	}
	(void)close(orders[0]);
}

void lookers_at(int port)
{
	bench_require(write(orders[1], &port, sizeof port) == (ssize_t)sizeof port, "an order");
}

struct lookers_seen lookers_seen(void)
{
	return (struct lookers_seen){.pages = atomic_load(&shared->pages),
				     .scrapes = atomic_load(&shared->scrapes),
				     .failures = atomic_load(&shared->failures)};
}

void lookers_end(void)
{
	(void)close(orders[1]);
	(void)waitpid(process, NULL, 0);
	(void)munmap(shared, sizeof *shared);
}
