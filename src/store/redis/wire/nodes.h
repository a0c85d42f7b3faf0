/* The nodes of a store: one server, or the masters of a cluster. A node that is away affects only
 * its own shards. */
#ifndef DW_STORE_REDIS_NODES_H
#define DW_STORE_REDIS_NODES_H

#include <stdbool.h>

#include "store/redis/owner/layout.h"
#include "store/redis/wire/node.h"

enum { NODES_MAX = 32 };

struct shard;
struct sentinels;
struct cluster;

struct nodes {
	struct node *list[NODES_MAX];
	unsigned count;
	/* Has the first shard, and with it the number of shards and the list of members. */
	struct node *home;
	struct node *place[SHARDS_MAX]; /* the node of each shard; NULL: `home`, or not known */
	bool has_moved;                 /* a server said that a slot is at another node */
	struct sentinels *sentinels;    /* NULL: the URL does not name Sentinels */
	struct cluster *cluster;        /* NULL: the URL does not name a cluster */
	dw_usec pause_until;            /* see nodes_rest() (steady clock) */
};

/* nodes_add adds a node, which is empty but for its link, if it has one yet. Returns false if the
 * list is full. */
bool nodes_add(struct redis_store *, struct node *);

/* nodes_follow moves a shard to the node that has it now, as soon as none of the shard's requests
 * are under way. Until then nothing is sent to the shard. At the new node the handshake comes
 * first. */
void nodes_follow(struct redis_store *, struct shard *);

/* nodes_connection returns the number under which the server knows the shard's connection. It never
 * falls, even if the shard moves to a node whose connection is older. */
uint64_t nodes_connection(const struct shard *);

/* nodes_moved is called when a server says that a slot is at another node. */
void nodes_moved(struct redis_store *);

/* nodes_rest is called when a node of a cluster refuses a command for a reason that soon passes. It
 * sets pause_until. Until then operations on all shards or on topics are not sent, so that they are
 * not refused in a loop. */
void nodes_rest(struct redis_store *);

/* nodes_new returns a node that only its last owner may use yet, or NULL. */
const struct node *nodes_new(const struct redis_store *);

/* nodes_are_up returns true if at least one node is connected. nodes_have_work returns true if a
 * connected node owes a reply or has answers that are held back. */
bool nodes_are_up(const struct nodes *);
bool nodes_have_work(const struct nodes *);

/* nodes_wire writes all commands, and takes the replies that have arrived. nodes_due returns when
 * to call it next. */
void nodes_wire(struct redis_store *);
dw_usec nodes_due(const struct redis_store *);

/* nodes_drop closes the connections on which replies are under way. While there are scans, it
 * closes all connections. */
void nodes_drop(struct redis_store *, const char *why);

/* nodes_lose gives up all requests. No request can be sent afterwards. */
void nodes_lose(struct redis_store *);

/* nodes_careful makes every link careful. nodes_blame returns true if a server closed that
 * connection because of one request. */
void nodes_careful(struct redis_store *);
bool nodes_blame(const struct nodes *, uint32_t closed_on);

#endif
