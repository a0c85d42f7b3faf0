/* A server in the test's own thread, in step with a link. The test moves the clock of both. So
 * minutes of the link take the test no time, and the load of the machine changes nothing. */
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
	int fd; /* the last connection; -1: none */
	/* What every connection is told at once, and whether it is closed behind that. */
	const char *greets;
	bool hangs_up;
	unsigned dials;
	dw_usec dialled;    /* the last time */
	char seen[1 << 16]; /* what the link has sent on it, as a string */
	size_t seen_size;
};

void peer_open(struct peer *, const struct socket_options *);
void peer_close(struct peer *);

/* peer_pass lets so much time pass: the link works whenever it wants to. peer_away: the program is
 * away for so long, and the link works then. */
void peer_pass(struct peer *, dw_usec span);
void peer_away(struct peer *, dw_usec span);

/* peer_say sends text; the link reads as far as is needed for that. */
void peer_say(struct peer *, const char *text);
void peer_fill(struct peer *, size_t size); /* so many bytes of a string */

/* peer_saw: how often the link has sent that word. */
unsigned peer_saw(struct peer *, const char *word);
bool peer_is_up(const struct peer *);

#endif
