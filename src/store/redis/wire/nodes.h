/* The nodes of a store: one server, or the masters of a cluster. A node that is away concerns its
 * own shards alone. */
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
	struct node *home; /* has the first shard, and so the number of shards and the members */
	struct node *place[SHARDS_MAX]; /* which node has each shard; NULL: home, or nobody knows */
	bool has_moved;                 /* a server said that a slot is at another node */
	struct sentinels *sentinels;    /* NULL: the URL names none */
	struct cluster *cluster;        /* NULL: the URL is not of a cluster */
	dw_usec pause_until;            /* as nodes_rest() says (steady clock) */
};

/* nodes_add adds a node that is empty but for its link, if it has one yet. Returns false if there
 * is no room. */
bool nodes_add(struct redis_store *, struct node *);

/* nodes_follow brings a shard to the node that has it now, when nothing of it is under way. Until
 * then nothing is sent to it. Its handshake comes first at the new node. */
void nodes_follow(struct redis_store *, struct shard *);

/* nodes_connection returns the number under which the server knows the shard's connection. It grows
 * even if the shard comes to a node whose connection is older. */
uint64_t nodes_connection(const struct shard *);

/* nodes_moved is called when a server says that a slot is at another node. */
void nodes_moved(struct redis_store *);

/* nodes_rest is called when a node of a cluster refuses what it, or another one, does in a moment.
 * What can be asked again at once waits until then. */
void nodes_rest(struct redis_store *);

/* nodes_new returns a node that others leave to its last owner for a while; NULL: there is none. */
const struct node *nodes_new(const struct redis_store *);

/* nodes_are_up returns true if one node at least is connected; nodes_have_work, if a connected node
 * owes a reply. */
bool nodes_are_up(const struct redis_store *);
bool nodes_have_work(const struct redis_store *);

/* nodes_wire writes all commands, and takes the replies that have come. nodes_due returns when that
 * is needed next. */
void nodes_wire(struct redis_store *);
dw_usec nodes_due(const struct redis_store *);

/* nodes_drop closes the connections on which replies are under way. */
void nodes_drop(struct redis_store *, const char *why);

/* nodes_lose gives up all requests. No request can be sent from then on. */
void nodes_lose(struct redis_store *);

/* nodes_careful makes every link careful. nodes_blame returns true if the server of a node closed
 * that connection on one request. */
void nodes_careful(struct redis_store *);
bool nodes_blame(const struct redis_store *, uint32_t closed_on);

#endif
