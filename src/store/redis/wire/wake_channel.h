/* Subscribes to the wake channels, on which clients say which shard they have written to, or that
 * they have changed settings of topics. */
#ifndef DW_STORE_REDIS_WAKE_CHANNEL_H
#define DW_STORE_REDIS_WAKE_CHANNEL_H

#include <stdbool.h>

#include "redis/link.h"
#include "redis/url.h"
#include "store/redis/owner/shard.h"

struct redis_store;

struct wake_channel {
	struct link *link; /* NULL if the store is not subscribed */
	uint64_t connection;
	struct link *next; /* replaces `link` when it is up; NULL: none */
	/* The number of shards when the link was made. 0: the link came from redis_hear(). */
	unsigned count;
	struct shard_set shards; /* the shards to whose channels the link is subscribed */
	/* A client has changed settings of topics. The answer to the next INBOX reports it. */
	bool has_topics;
	int descriptor; /* an epoll set with the descriptors of both links; -1 in a simulation */
};

/* link_open makes a link to the server of a URL, which must outlive the link. The link subscribes
 * to the channels, which are divided by '\n'. channels is NULL: the link is for commands. */
int link_open(struct redis_store *, const struct redis_url *, const char *channels,
	      struct link **ret_link);

/* voter_link makes a link to a Sentinel, or to a node of a cluster that is asked which nodes the
 * cluster has. The URL must outlive the link. */
int voter_link(struct redis_store *, const struct redis_url *, struct link **ret_link);

/* wake_channel_watch adds a link's descriptor to the epoll set. */
void wake_channel_watch(struct wake_channel *, int fd);
void wake_channel_work(struct redis_store *);
dw_usec wake_channel_due(const struct wake_channel *);
void wake_channel_free(struct wake_channel *);

#endif
