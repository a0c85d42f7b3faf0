/* When a link connects again after an outage, and what it logs. For a minute it tries often. The
 * longer the outage lasts, the longer it waits. Each trouble is logged once. */
#ifndef DW_REDIS_RECONNECT_H
#define DW_REDIS_RECONNECT_H

#include <stdbool.h>

#include "base/rng.h"
#include "redis/url.h"

enum { TROUBLE_SIZE = DW_MESSAGE_SIZE + 2 + sizeof((struct redis_url *)0)->name };

struct reconnect {
	/* Constant, set by the link. */
	const char *server; /* its name in messages */
	bool listener;      /* loses the same server at the same time as the link beside it */
	void (*log)(dw_log_level, const char *line, void *user); /* may be NULL */
	void *log_user;

	struct rng rng;
	uint64_t connections; /* that were up */
	dw_usec out_since;    /* begin of the outage; DW_NEVER: there was none yet */
	dw_usec up_since;
	bool fatal; /* there was never a connection, and the server refuses us */
	char trouble[TROUBLE_SIZE];
	char logged[TROUBLE_SIZE];
};

/* reconnect_up: the server has accepted the link. */
void reconnect_up(struct reconnect *, dw_usec now);

/* reconnect_lost: the connection is lost, or could not be made (was_up: false). refused: a person
 * must change something first. Returns when to connect again. */
dw_usec reconnect_lost(struct reconnect *, dw_usec now, bool was_up, bool refused, const char *why);

/* reconnect_soon: the server answers, but cannot serve yet, so it is asked often again. */
void reconnect_soon(struct reconnect *, dw_usec now);

/* reconnect_useless: the connection is up, and the server refuses to work. reconnect_useful: it
 * works again. */
void reconnect_useless(struct reconnect *, const char *why);
void reconnect_useful(struct reconnect *, const char *words);

#endif
