/* Consumers that wait for messages. Each is noted in the shards of its topics, and each process
 * hears on a channel of its own which of them a push calls. */
#ifndef DW_STORE_REDIS_CONSUMERS_H
#define DW_STORE_REDIS_CONSUMERS_H

#include "durawheel/store.h"
#include "redis/link.h"

struct later;
struct redis_store;

struct redis_consumers {
	struct link *link;   /* subscribed to the channel; NULL: nobody has waited */
	uint64_t connection; /* the connection that was seen last */
	bool is_anew;        /* calls may have been lost */
	char name[17];       /* names the process */
	char channel[96];
};

enum { CONSUMER_NAME_SIZE = 48 };

/* consumers_name returns the text by which a push calls the one with the number; "": it cannot be
 * called now, or does not wait (number 0). */
const char *consumers_name(const struct redis_consumers *, uint64_t number,
			   char room[CONSUMER_NAME_SIZE]);

/* consumers_listen reads what was told. consumers_take_call returns the next call. */
void consumers_listen(struct redis_store *);
bool consumers_take_call(struct redis_store *, dw_take_call *ret_call);

void consumers_free(struct later *);

#endif
