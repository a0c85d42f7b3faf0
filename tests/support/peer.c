#include "support/peer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/usec.h"
#include "support/cmocka.h"

enum { WORKS_MAX = 1000000 };

static void listen_at(struct peer *peer)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	temp_make(peer->folder);
	temp_file(peer->path, peer->folder, "sock");
	memcpy(address.sun_path, peer->path, strlen(peer->path) + 1);
	peer->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(peer->listener, 8), 0);
}

void peer_open(struct peer *peer, const struct socket_options *options)
{
	char url[TEMP_SIZE + 16];

	memset(peer, 0, sizeof *peer);
	peer->fd = -1;
	peer->now = DW_SECONDS(1000);
	listen_at(peer);
	linked_open(&peer->linked, linked_url(url, sizeof url, peer->path, 0), options);
}

void peer_close(struct peer *peer)
{
	linked_close(&peer->linked);
	if (peer->fd >= 0)
		(void)close(peer->fd); /* nothing is lost */
	(void)close(peer->listener);
	temp_remove(peer->folder);
}

static void read_all(struct peer *peer)
{
	size_t room = sizeof peer->seen - 1 - peer->seen_size;
	ssize_t got;

	while (peer->fd >= 0 && room > 0 &&
	       (got = recv(peer->fd, peer->seen + peer->seen_size, room, MSG_DONTWAIT)) > 0) {
		peer->seen_size += (size_t)got;
		peer->seen[peer->seen_size] = '\0';
		room -= (size_t)got;
	}
	assert_true(room > 0);
}

static bool welcome_one(struct peer *peer)
{
	int fd = accept4(peer->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return false;
	if (peer->fd >= 0)
		(void)close(peer->fd); /* the link has hung up */
	peer->fd = fd;
	peer->seen_size = 0;
	peer->seen[0] = '\0';
	peer->dials++;
	peer->dialled = peer->now;
	if (peer->greets)
		peer_say(peer, peer->greets);
	if (peer->hangs_up) {
		read_all(peer); /* unread bytes would cause a reset */
		(void)close(peer->fd);
		peer->fd = -1;
	}
	return true;
}

/* is_woken returns true if the link's descriptor would wake the loop. */
static bool is_woken(const struct peer *peer)
{
	struct pollfd ready = {.fd = link_descriptor(peer->linked.link), .events = POLLIN};

	return link_due(peer->linked.link) != 0 && poll(&ready, 1, 0) > 0;
}

static void work(struct peer *peer)
{
	int works = 0;

	do {
		assert_true(works++ < WORKS_MAX);
		link_work(peer->linked.link, peer->now);
		read_all(peer);
	} while (welcome_one(peer) || is_woken(peer));
}

void peer_pass(struct peer *peer, dw_usec span)
{
	dw_usec end = usec_add(peer->now, span);
	dw_usec at;

	work(peer);
	/* link_due() is 0 if there is a reply, which the test may take afterwards. */
	for (int i = 0; (at = link_due(peer->linked.link)) != 0 && at <= end; i++) {
		assert_true(i < WORKS_MAX);
		peer->now = usec_max(peer->now, at);
		work(peer);
	}
	peer->now = end;
	work(peer);
}

void peer_away(struct peer *peer, dw_usec span)
{
	peer->now = usec_add(peer->now, span);
	work(peer);
}

static void send_all(struct peer *peer, const char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t sent = send(peer->fd, bytes + at, size - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN)
			return; /* the link may hang up at any time */
		if (sent < 0)
			link_work(peer->linked.link, peer->now);
		at += sent > 0 ? (size_t)sent : 0;
	}
}

void peer_say(struct peer *peer, const char *text)
{
	send_all(peer, text, strlen(text));
}

void peer_fill(struct peer *peer, size_t size)
{
	char *bytes = calloc(1, size);

	assert_non_null(bytes);
	memset(bytes, 'x', size);
	send_all(peer, bytes, size);
	free(bytes);
}

unsigned peer_saw(struct peer *peer, const char *word)
{
	unsigned count = 0;

	for (const char *at = strstr(peer->seen, word); at; at = strstr(at + 1, word))
		count++;
	return count;
}

bool peer_is_up(const struct peer *peer)
{
	return link_connection(peer->linked.link) != 0;
}
