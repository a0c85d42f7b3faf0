/* The questions that a link asks an idle or a busy server, one at a time: whether it is there and
 * takes changes, and now and then whether its maxmemory-policy still keeps what we store. */
#ifndef DW_REDIS_PROBE_H
#define DW_REDIS_PROBE_H

#include "redis/hello.h"

struct probe {
	const char *key; /* never exists; NULL: a listener's, which only asks who is there */
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

/* probe_take takes the answer, or the last one of a hello. Unless there is nothing new,
 * ret_words (DW_MESSAGE_SIZE) say it. */
enum probe_news probe_take(struct probe *, const struct hello *, const struct reply *,
			   char *ret_words);

#endif
