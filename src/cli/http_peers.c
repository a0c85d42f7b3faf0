#include "cli/http_peers.h"

#include <poll.h>
#include <sys/socket.h>

#include "cli/session.h"

/* libmicrohttpd ends a connection that is silent. These end one that sends, or reads, a byte now
 * and then. */
#define REQUEST_PATIENCE DW_SECONDS(5)
#define REPLY_PATIENCE DW_SECONDS(30)
#define ABANDON_AFTER DW_SECONDS(1)

void peers_open(struct peers *peers)
{
	for (size_t i = 0; i < PEERS_MAX; i++)
		peers->peers[i] = (struct peer){.fd = -1};
}

struct peer *peers_take(struct peers *peers, int fd)
{
	for (size_t i = 0; i < PEERS_MAX; i++) {
		struct peer *peer = &peers->peers[i];

		if (peer->fd >= 0)
			continue;
		*peer = (struct peer){.fd = fd, .end_at = session_steady() + REQUEST_PATIENCE};
		return peer;
	}
	return NULL;
}

void peer_leave(struct peer *peer)
{
	peer->fd = -1;
}

void peer_began(struct peer *peer)
{
	peer->end_at = session_steady() + REPLY_PATIENCE;
}

void peer_ended(struct peer *peer)
{
	peer->end_at = session_steady() + REQUEST_PATIENCE;
}

bool peer_is_late(const struct peer *peer)
{
	return session_steady() >= peer->end_at;
}

bool peer_is_gone(const struct peer *peer)
{
	struct pollfd link = {.fd = peer->fd, .events = POLLRDHUP};

	(void)poll(&link, 1, 0); /* a failure says nothing: it is asked again */
	return link.revents & (POLLHUP | POLLERR) ||
	       (link.revents & POLLRDHUP &&
		session_steady() >= peer->end_at - REPLY_PATIENCE + ABANDON_AFTER);
}

static bool is_over(const struct peer *peer, dw_usec steady)
{
	return peer->fd >= 0 && !peer->is_held && steady >= peer->end_at;
}

void peers_turn(struct peers *peers)
{
	dw_usec steady = session_steady();

	for (size_t i = 0; i < PEERS_MAX; i++)
		if (is_over(&peers->peers[i], steady))
			(void)shutdown(peers->peers[i].fd, SHUT_RDWR);
}
