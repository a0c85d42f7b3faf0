/* Asks a link's server, one question at a time, whether it answers and accepts changes. Every
 * fourth question is whether its maxmemory-policy would evict timers or leases. */
#ifndef DW_REDIS_PROBE_H
#define DW_REDIS_PROBE_H

#include "redis/hello.h"

struct probe {
	const char *key; /* a key that never exists; NULL for a subscriber, which sends PING */
	unsigned count;  /* how many probes were sent on this connection */
	bool asks_policy;
	bool refuses; /* the server refuses every change */
	bool evicts;
};

enum probe_news { PROBE_NOTHING, PROBE_TROUBLE, PROBE_TROUBLE_OVER };

/* probe_begin starts with a new connection. */
void probe_begin(struct probe *);

/* probe_send queues the next question. Returns DW_OK or DW_ENOMEM. */
int probe_send(struct probe *, struct output *);

/* probe_take takes the reply to a probe, or the last reply of a hello. If the result is not
 * PROBE_NOTHING, ret_words (DW_MESSAGE_SIZE) say what has changed. */
enum probe_news probe_take(struct probe *, const struct hello *, const struct reply *,
			   char *ret_words);

#endif
