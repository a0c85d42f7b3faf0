#include "web/http_peers.h"

#include <poll.h>
#include <sys/socket.h>

#include "cli/session.h"

/* libmicrohttpd closes a connection that is silent. These limits also close one that sends or reads
 * a single byte now and then. */
#define REQUEST_PATIENCE DW_SECONDS(5)
#define REPLY_PATIENCE DW_SECONDS(30)
#define ABANDON_AFTER DW_SECONDS(1)
#define QUIET_MIN DW_MILLISECONDS(200) /* a shorter silence may be a request on its way */
#define LOOK_EVERY DW_SECONDS(1)

void peers_open(struct peers *peers)
{
	peers->was_full = false;
	for (size_t i = 0; i < PEERS_MAX; i++)
		peers->peers[i] = (struct peer){.fd = -1};
}

struct peer *peers_take(struct peers *peers, int fd)
{
	dw_usec steady = session_steady();

	for (size_t i = 0; i < PEERS_MAX; i++) {
		struct peer *peer = &peers->peers[i];

		if (peer->fd >= 0)
			continue;
		*peer = (struct peer){
		    .fd = fd, .end_at = steady + REQUEST_PATIENCE, .quiet_since = steady};
		return peer;
	}
	return NULL;
}

void peer_began(struct peer *peer)
{
	peer->end_at = session_steady() + REPLY_PATIENCE;
	peer->quiet_since = DW_NEVER;
}

void peer_ended(struct peer *peer)
{
	peer->quiet_since = session_steady();
	peer->end_at = peer->quiet_since + REQUEST_PATIENCE;
}

bool peer_is_late(const struct peer *peer)
{
	return session_steady() >= peer->end_at;
}

bool peer_is_gone(const struct peer *peer)
{
	struct pollfd link = {.fd = peer->fd, .events = POLLRDHUP};

	(void)poll(&link, 1, 0); /* on a failure the next call asks again */
	return link.revents & (POLLHUP | POLLERR) ||
	       (link.revents & POLLRDHUP &&
		session_steady() >= peer->end_at - REPLY_PATIENCE + ABANDON_AFTER);
}

void peers_leave(struct peers *peers, struct peer *peer)
{
	size_t taken = 0;

	for (size_t i = 0; i < PEERS_MAX; i++)
		taken += peers->peers[i].fd >= 0;
	peers->was_full = peers->was_full || taken == PEERS_MAX;
	peer->fd = -1;
}

static bool is_open(const struct peer *peer)
{
	return peer->fd >= 0 && !peer->is_ending;
}

static size_t count_open(const struct peers *peers)
{
	size_t count = 0;

	for (size_t i = 0; i < PEERS_MAX; i++)
		count += is_open(&peers->peers[i]);
	return count;
}

bool peers_are_busy(const struct peers *peers)
{
	size_t count = 0;

	for (size_t i = 0; i < PEERS_MAX; i++)
		count += is_open(&peers->peers[i]) && peers->peers[i].quiet_since == DW_NEVER;
	return count > PEERS_ANSWERED;
}

bool peers_are_many(const struct peers *peers)
{
	return count_open(peers) > PEERS_KEPT;
}

static void end(struct peer *peer)
{
	peer->is_ending = true;
	(void)shutdown(peer->fd, SHUT_RDWR); /* the peer may have closed it already */
}

static bool is_over(const struct peer *peer, dw_usec steady)
{
	return is_open(peer) && !peer->is_held && steady >= peer->end_at;
}

/* find_quiet returns the peer that has been without a request for the longest time, or NULL. */
static struct peer *find_quiet(struct peers *peers, dw_usec steady)
{
	struct peer *quiet = NULL;

	for (size_t i = 0; i < PEERS_MAX; i++) {
		struct peer *peer = &peers->peers[i];

		if (is_open(peer) && peer->quiet_since <= steady - QUIET_MIN &&
		    (!quiet || peer->quiet_since < quiet->quiet_since))
			quiet = peer;
	}
	return quiet;
}

/* wake_of returns the steady time of the next turn. After a peer has left a full server, this is
 * now: libmicrohttpd accepts new connections only when it runs again. */
static dw_usec wake_of(struct peers *peers, dw_usec steady)
{
	if (peers->was_full) {
		peers->was_full = false;
		return steady;
	}
	return steady + (count_open(peers) > PEERS_ANSWERED ? QUIET_MIN : LOOK_EVERY);
}

dw_usec peers_turn(struct peers *peers)
{
	dw_usec steady = session_steady();
	struct peer *quiet;

	for (size_t i = 0; i < PEERS_MAX; i++)
		if (is_over(&peers->peers[i], steady))
			end(&peers->peers[i]);
	while (count_open(peers) > PEERS_ANSWERED && (quiet = find_quiet(peers, steady)))
		end(quiet);
	return wake_of(peers, steady);
}
