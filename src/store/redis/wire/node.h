/* A node: one server, its connection, and what is known of it. Commands go out in order, and each
 * reply goes to the sender of its command. Replies come in the order of the commands, over all
 * shards of the node. The masters of a cluster are nodes; every other store has one.
 *
 * Each command that changes something carries the shard's next number. The script refuses any
 * number but the one after the last that it applied. So when a command fails, the server also
 * refuses those behind it, and all are sent again. After a lost connection the handshake tells
 * which were applied. */
#ifndef DW_STORE_REDIS_NODE_H
#define DW_STORE_REDIS_NODE_H

#include <stdbool.h>

#include "base/usec.h"
#include "port/op.h"
#include "redis/command.h"
#include "redis/link.h"
#include "store/redis/nodes/named.h"
#include "store/redis/wire/request.h"
#include "store/redis/wire/script.h"

/* The connection must be down for this long before it is reported. */
#define TROUBLE_AFTER DW_MILLISECONDS(200)

struct redis_store;
struct redis_request;
struct replicas;
struct shape;
struct shard;

/* The scripts of a server. */
struct scripts {
	bool loading[SCRIPT_COUNT]; /* for each script: SCRIPT LOAD is under way */
	bool unloadable; /* the server refused to load the last script that was sent to it */
	char refusal[DW_MESSAGE_SIZE]; /* the server's words of its last refusal */
	dw_usec refused_at;            /* when that refusal came (steady clock) */
	/* The command that the server refused when the store was opened; "" if none. */
	char missing[DW_MESSAGE_SIZE];
	bool is_unknown; /* the server does not know the command in `missing` */
};

struct server_clock {
	dw_usec time;   /* the server's clock at the moment `at` */
	dw_usec at;     /* the same moment on our steady clock */
	uint64_t floor; /* the highest version that was asked for or seen */
};

/* The answers that are held until the replicas of a node have what they say (held.h). */
struct held {
	struct request_list requests; /* in the order in which their replies came */
	uint64_t count;               /* the number of the last request that was held */
	bool is_late;                 /* the replicas are late, so nothing is held (replicas.h) */
	dw_replica_stats stats;
};

struct node {
	struct link *link;
	const char *name; /* of the server, for messages; NULL: that of the store's URL */
	/* The number of the connection, which no other connection of the store has; 0 while there
	 * is none, or while the server is not to be used: see named.h. */
	uint64_t connection;
	struct nomination
	    named;     /* what the voters say of the server; without voters it is always used */
	uint64_t seen; /* the number that the link gives to the connection */
	/* The same of the last connection; and that one, if the server closed it on one request. */
	uint64_t last, last_seen, blamed;
	dw_usec down_since; /* when the connection was lost (steady clock), while connection is 0 */
	/* Requests without a reply, in the order in which they were sent. */
	struct request_list under_way;
	bool went_down; /* a connection was lost since the last turn */
	bool came_up;   /* a connection came up since the last turn */
	struct held held;
	struct replicas *replicas; /* asks the replicas; NULL: there is none, or none yet */
	char server[48];           /* run_id and replication id, as in link_server.h */
	char replication[48];
	uint64_t arrived; /* shards that came here from another server */
	uint64_t history; /* counts these: it grows when either changes */
	bool more;        /* replies that were received but left for the next turn */
	struct scripts scripts;
	struct server_clock clock;
};

/* The command that is being made. */
struct redis_draft {
	struct redis_command words;
	const struct redis_script *script; /* the script that it calls; NULL: a plain command */
	const struct shape *shape;         /* the shape of the reply */
	struct node *node; /* the node that has the keys; NULL: the one with the first shard */
};

enum handshake { HANDSHAKE_NONE, HANDSHAKE_ASKED, HANDSHAKE_DONE };

/* The command numbers of one shard on the current connection. They belong to the owner's token, or
 * to the client's session. */
struct channel {
	enum handshake handshake;
	unsigned
	    handshakes; /* grows with each handshake; the reply to an earlier one does not count */
	uint64_t next;  /* the number of the next command */
	uint64_t acked; /* the highest number that the server is known to have applied */
	unsigned under_way; /* how many numbered commands are under way */
	bool is_broken; /* a command failed, so the server also refuses the commands behind it */
	dw_usec pause_until; /* nothing is sent before this time (steady clock) */
	bool is_moving; /* nothing is sent until the shard is at the node that has its slot now */
	uint64_t moved; /* the least number of a connection, since the shard came to its node */
};

/* channel_forget is called when the shard needs a new handshake. The reply to one that is under way
 * does not count: it names a mark from before the commands that will be sent. */
static inline void channel_forget(struct channel *channel)
{
	channel->handshake = HANDSHAKE_NONE;
	channel->handshakes++;
}

/* node_refuses returns true if the server is connected but refuses commands. */
bool node_refuses(const struct node *);

/* node_trouble_at returns when a lost connection is reported. A connection that comes back before
 * that is not reported, because its commands are sent again. */
static inline dw_usec node_trouble_at(const struct node *node)
{
	return node->connection ? DW_NEVER : usec_add(node->down_since, TROUBLE_AFTER);
}

/* node_name takes what the voters say. node_is_new returns true while the server is left to its
 * last owner. node_is_usable returns true if this store may use the server. */
void node_name(struct redis_store *, struct node *, const struct nomination *);
bool node_is_new(const struct node *);
bool node_is_usable(const struct redis_store *, const struct node *);

/* node_watch notices a lost or a new connection. */
void node_watch(struct redis_store *, struct node *);

/* node_wire writes the commands to the socket, and takes the replies that have come. */
void node_wire(struct redis_store *, struct node *);

#endif
