/* Consumers that wait for messages. Each consumer is noted in the shards of its topics. Each
 * process subscribes to a channel of its own, on which a push tells which of the waiting consumers
 * it calls. */
#ifndef DW_STORE_REDIS_CONSUMERS_H
#define DW_STORE_REDIS_CONSUMERS_H

#include "durawheel/store.h"
#include "redis/link.h"

struct later;
struct redis_store;

struct redis_consumers {
	/* Subscribed to the process's channel; NULL: no consumer has waited yet. */
	struct link *link;
	uint64_t connection; /* the connection that was seen last */
	bool is_anew;        /* calls may have been lost, because the connection was lost */
	char name[17];       /* a random name of this process */
	char channel[96];
};

enum { CONSUMER_NAME_SIZE = 48 };

/* consumers_name writes the text by which a push calls the consumer with this number, and returns
 * it. "": the consumer cannot be called now, or does not wait (number 0). */
const char *consumers_name(const struct redis_consumers *, uint64_t number,
			   char room[CONSUMER_NAME_SIZE]);

/* consumers_listen reads the calls that have arrived. consumers_take_call returns the next call. It
 * returns false if there is none. */
void consumers_listen(struct redis_store *);
bool consumers_take_call(struct redis_store *, dw_take_call *ret_call);

void consumers_free(struct later *);

#endif
