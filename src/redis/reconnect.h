/* Says when a link connects again after an outage, and logs the trouble. In the first minute the
 * link tries often; then the pauses grow with the outage. Each trouble is logged once. */
#ifndef DW_REDIS_RECONNECT_H
#define DW_REDIS_RECONNECT_H

#include <stdbool.h>

#include "base/rng.h"
#include "redis/url.h"

enum { TROUBLE_SIZE = DW_MESSAGE_SIZE + 2 + sizeof((struct redis_url *)0)->server };

struct reconnect {
	/* Constant, set by the link. */
	const char *server; /* the server's name in messages */
	/* The link is a subscriber. The link for commands beside it reports the same losses. */
	bool listener;
	/* Writes a line of the log; may be NULL. */
	void (*log)(dw_log_level, const char *line, void *user);
	void *log_user;

	struct rng rng;
	uint64_t connections; /* how many connections have been up so far */
	dw_usec out_since;    /* when the outage began; DW_NEVER if there was none yet */
	dw_usec up_since;
	/* How many connections in a row were dropped soon because of LOSS_NONSENSE. */
	unsigned nonsense;
	bool fatal; /* there was never a connection, because the server refuses us */
	char trouble[TROUBLE_SIZE];
	char logged[TROUBLE_SIZE];
};

/* LOSS_REFUSED: a person must change something first. LOSS_NONSENSE: a reply makes no sense, and
 * the next connection may have the same fault, so each pause is twice as long as the last one. */
enum loss { LOSS_PLAIN, LOSS_REFUSED, LOSS_NONSENSE };

/* reconnect_up is called when the server has accepted the link, and reconnect_lasts while the
 * connection is up. */
void reconnect_up(struct reconnect *, dw_usec now);
void reconnect_lasts(struct reconnect *, dw_usec now);

/* reconnect_lost is called when the connection is lost, or could not be made (was_up is false).
 * Returns when to connect again. */
dw_usec reconnect_lost(struct reconnect *, dw_usec now, bool was_up, enum loss, const char *why);

/* reconnect_soon is called when the server answers but cannot serve yet. The link then tries again
 * after a short pause. */
void reconnect_soon(struct reconnect *, dw_usec now);

/* reconnect_useless is called when the connection is up, but the server refuses changes.
 * reconnect_useful is called when the server accepts them again. */
void reconnect_useless(struct reconnect *, const char *why);
void reconnect_useful(struct reconnect *, const char *words);

#endif
