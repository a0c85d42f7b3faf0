/* A server in the test's own thread, in step with a link. The test moves the clock of both. So
 * minutes of the link cost the test no time, and a loaded machine changes nothing. */
#ifndef DW_TESTS_PEER_H
#define DW_TESTS_PEER_H

#include "support/redis_link.h"
#include "support/temp.h"

struct peer {
	struct linked linked;
	dw_usec now;
	char folder[TEMP_SIZE];
	char path[TEMP_SIZE];
	int listener;
	int fd; /* the last connection; -1 if there is none */
	/* The text that every new connection gets at once, and whether the peer then closes it. */
	const char *greets;
	bool hangs_up;
	unsigned dials;
	dw_usec dialled;    /* the time of the last connection */
	char seen[1 << 16]; /* the bytes that the link has sent on this connection, as a string */
	size_t seen_size;
};

void peer_open(struct peer *, const struct socket_options *);
void peer_close(struct peer *);

/* peer_pass lets time pass while the link works whenever it wants to. peer_away lets time pass
 * first; then the link works. */
void peer_pass(struct peer *, dw_usec span);
void peer_away(struct peer *, dw_usec span);

/* peer_say sends text. The link reads when the socket is full. */
void peer_say(struct peer *, const char *text);
void peer_fill(struct peer *, size_t size); /* sends size times the letter x */

/* peer_saw returns how often the link has sent this word. */
unsigned peer_saw(struct peer *, const char *word);
bool peer_is_up(const struct peer *);

#endif
