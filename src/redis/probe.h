/* The questions of a link to its server, one at a time: whether it is there and accepts changes.
 * Every fourth question is whether its maxmemory-policy still keeps what we store. */
#ifndef DW_REDIS_PROBE_H
#define DW_REDIS_PROBE_H

#include "redis/hello.h"

struct probe {
	const char *key; /* never exists; NULL: of a listener, which sends PING */
	unsigned count;  /* sent on this connection */
	bool asks_policy;
	bool refuses; /* every change */
	bool evicts;
};

enum probe_news { PROBE_NOTHING, PROBE_TROUBLE, PROBE_TROUBLE_OVER };

/* probe_begin: there is a new connection. */
void probe_begin(struct probe *);

/* probe_send queues the next question: DW_OK, DW_ENOMEM. */
int probe_send(struct probe *, struct output *);

/* probe_take takes the answer to a probe, or the last answer of a hello. ret_words
 * (DW_MESSAGE_SIZE) say what is new, if anything is. */
enum probe_news probe_take(struct probe *, const struct hello *, const struct reply *,
			   char *ret_words);

#endif
