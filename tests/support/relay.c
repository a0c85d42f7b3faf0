#include "support/relay.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/cmocka.h"

#define LOOK 2 /* ms: how often the thread checks whether the relay was cut */

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	assert_true(strlen(path) < sizeof address.sun_path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	return address;
}

static void drop(int pair[RELAY_WAYS])
{
	for (int way = 0; way < RELAY_WAYS; way++) {
		if (pair[way] >= 0)
			(void)close(pair[way]); /* the peer notices */
		pair[way] = -1;
	}
}

static int dial(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		(void)close(fd); /* the server is away */
		return -1;
	}
	return fd;
}

static struct sockaddr_in address_at(unsigned port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				    .sin_port = htons((uint16_t)port)};
}

/* send_at_once turns off Nagle's algorithm, so that each piece is a packet. */
static void send_at_once(int fd)
{
	int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fd may be -1 */
}

static int dial_port(unsigned port)
{
	struct sockaddr_in address = address_at(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		(void)close(fd); /* the server is away */
		return -1;
	}
	return fd;
}

static void let_in(struct relay *relay)
{
	int pair[RELAY_WAYS] = {accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC), -1};

	if (pair[RELAY_REQUESTS] < 0)
		return; /* the client has gone */
	if (!atomic_load(&relay->cut))
		pair[RELAY_REPLIES] =
		    relay->server ? dial(relay->server) : dial_port(relay->server_port);
	for (int way = 0; way < RELAY_WAYS && relay->server_port; way++)
		send_at_once(pair[way]);
	for (unsigned i = 0; i < RELAY_PAIRS && pair[RELAY_REPLIES] >= 0; i++)
		if (relay->pairs[i][RELAY_REQUESTS] < 0) {
			memcpy(relay->pairs[i], pair, sizeof pair);
			return;
		}
	drop(pair);
}

static bool pass_on(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

static bool is_poisoned(struct relay *relay, const char *bytes, size_t size)
{
	const char *poison = atomic_load(&relay->poison);

	if (!poison || !memmem(bytes, size, poison, strlen(poison)))
		return false;
	(void)atomic_fetch_add(&relay->poisoned, 1);
	return true;
}

/* carry passes bytes on. Returns false if the connection is over. */
static bool carry(struct relay *relay, int pair[RELAY_WAYS], enum relay_way way)
{
	char bytes[65536];
	long left = atomic_load(&relay->left[way]);
	int piece = atomic_load(&relay->piece);
	ssize_t size =
	    recv(pair[way], bytes, piece > 0 ? (size_t)piece : sizeof bytes, MSG_DONTWAIT);

	if (size < 0 && errno == EAGAIN)
		return true;
	if (size <= 0)
		return false;
	if (way == RELAY_REQUESTS && is_poisoned(relay, bytes, (size_t)size))
		return false;
	if (left >= 0 && size > left) {
		(void)pass_on(pair[!way], bytes, (size_t)left); /* the connection is cut anyway */
		atomic_store(&relay->left[way], -1);
		atomic_store(&relay->cut, 1);
		return false;
	}
	if (left >= 0)
		atomic_store(&relay->left[way], left - size);
	return pass_on(pair[!way], bytes, (size_t)size);
}

static void serve(struct relay *relay)
{
	struct pollfd ready[1 + RELAY_PAIRS * RELAY_WAYS] = {{relay->listener, POLLIN, 0}};

	for (unsigned i = 0; i < RELAY_PAIRS; i++)
		for (int way = 0; way < RELAY_WAYS; way++)
			ready[1 + i * RELAY_WAYS + (unsigned)way] =
			    (struct pollfd){relay->pairs[i][way], POLLIN, 0};
	(void)poll(ready, sizeof ready / sizeof *ready, LOOK);
	for (unsigned i = 0; i < RELAY_PAIRS; i++) {
		int *pair = relay->pairs[i];

		if (atomic_load(&relay->cut))
			drop(pair);
		for (int way = 0; way < RELAY_WAYS && pair[0] >= 0; way++)
			if (ready[1 + i * RELAY_WAYS + (unsigned)way].revents != 0 &&
			    !carry(relay, pair, (enum relay_way)way))
				drop(pair);
	}
	if (ready[0].revents & POLLIN)
		let_in(relay);
}

static void *run(void *user)
{
	struct relay *relay = user;

	while (!atomic_load(&relay->ends))
		serve(relay);
	for (unsigned i = 0; i < RELAY_PAIRS; i++)
		drop(relay->pairs[i]);
	return NULL;
}

static void prepare(struct relay *relay, int family)
{
	memset(relay, 0, sizeof *relay);
	memset(relay->pairs, -1, sizeof relay->pairs);
	relay_open(relay);
	/* A client may be gone before it is accepted. The thread must not wait for the next one. */
	relay->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(relay->listener >= 0);
}

static void begin(struct relay *relay)
{
	assert_int_equal(listen(relay->listener, RELAY_PAIRS), 0);
	assert_int_equal(pthread_create(&relay->thread, NULL, run, relay), 0);
}

void relay_start(struct relay *relay, const char *path, const char *server)
{
	struct sockaddr_un address = address_of(path);

	prepare(relay, AF_UNIX);
	memcpy(relay->path, path, strlen(path) + 1);
	relay->server = server;
	assert_int_equal(bind(relay->listener, (struct sockaddr *)&address, sizeof address), 0);
	begin(relay);
}

void relay_start_tcp(struct relay *relay, unsigned server_port)
{
	struct sockaddr_in address = address_at(0);
	socklen_t size = sizeof address;

	prepare(relay, AF_INET);
	relay->server_port = server_port;
	assert_int_equal(bind(relay->listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(relay->listener, (struct sockaddr *)&address, &size), 0);
	relay->port = ntohs(address.sin_port);
	begin(relay);
}

void relay_end(struct relay *relay)
{
	atomic_store(&relay->ends, true);
	assert_int_equal(pthread_join(relay->thread, NULL), 0);
	(void)close(relay->listener); /* nobody connects any more */
}

void relay_cut_after(struct relay *relay, enum relay_way way, long bytes)
{
	atomic_store(&relay->left[way], bytes);
}

void relay_cut(struct relay *relay)
{
	atomic_store(&relay->cut, 1);
}

void relay_open(struct relay *relay)
{
	atomic_store(&relay->left[RELAY_REQUESTS], -1);
	atomic_store(&relay->left[RELAY_REPLIES], -1);
	atomic_store(&relay->cut, 0);
}
