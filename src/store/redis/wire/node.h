/* A node: one server, its connection, and what this store knows of the server. Commands go out in
 * order, and each reply goes to the sender of its command. Replies come in the order of the
 * commands, over all shards of the node. Each master of a cluster is a node; every other store has
 * one node.
 *
 * Each command that changes something carries the shard's next number. The script refuses any
 * number but the one after the last that it applied. So when a command fails, the server also
 * refuses the commands behind it, and the store sends them all again. After a lost connection the
 * handshake tells which commands were applied. */
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

/* What is known of the scripts on a server. */
struct scripts {
	bool loading[SCRIPT_COUNT]; /* for each script: SCRIPT LOAD is under way */
	/* The server refused to load the script that was sent to it last. */
	bool unloadable;
	char refusal[DW_MESSAGE_SIZE]; /* what the server said in its last refusal */
	dw_usec refused_at;            /* when that refusal came (steady clock) */
	/* Which command for scripts the server refused when the store was opened; "" if none. */
	char missing[DW_MESSAGE_SIZE];
	bool is_unknown; /* the server does not know that command at all */
};

struct server_clock {
	dw_usec time; /* the server's clock at the moment `at` */
	dw_usec at;   /* the same moment on our steady clock */
	/* The highest version that a command asked for or that a reply has shown. */
	uint64_t floor;
};

/* The answers that are held back until the replicas of a node have the changes (held.h). */
struct held {
	struct request_list requests; /* in the order in which their replies came */
	uint64_t count;               /* the number of the last request that was held */
	bool is_late; /* the replicas are late, so answers are not held back (replicas.h) */
	dw_replica_stats stats;
};

struct node {
	struct link *link;
	const char *name; /* the server's URL for messages; NULL: the URL of the store */
	/* The number of the connection, which is unique in this store. 0 while there is none, or
	 * while this store must not use the server (named.h). */
	uint64_t connection;
	/* What the voters say of the server. A server without voters is always used. */
	struct nomination named;
	uint64_t seen; /* the number that the link uses for the connection */
	/* `connection` and `seen` of the last connection. `blamed`: the number of the last
	 * connection, if the server closed it because of one request; otherwise 0. */
	uint64_t last, last_seen, blamed;
	/* While `connection` is 0: when the connection was lost (steady clock). */
	dw_usec down_since;
	/* Requests without a reply, in the order in which they were sent. */
	struct request_list under_way;
	bool went_down; /* a connection was lost since the last turn */
	bool came_up;   /* a connection came up since the last turn */
	struct held held;
	/* Asks the replicas; NULL: none are configured, or the link is not made yet. */
	struct replicas *replicas;
	char server[48]; /* run_id and replication id, as in link_server.h */
	char replication[48];
	uint64_t arrived; /* how many shards came to this node from another server */
	uint64_t history; /* grows when `server` or `replication` changes */
	bool more;        /* there are received replies that are left for the next turn */
	struct scripts scripts;
	struct server_clock clock;
};

/* The command that is being made. */
struct redis_draft {
	struct redis_command words;
	const struct redis_script *script; /* the script that it calls; NULL: a plain command */
	const struct shape *shape;         /* the shape of the reply */
	struct node *node; /* the node that has the keys; NULL: the node with the first shard */
};

enum handshake { HANDSHAKE_NONE, HANDSHAKE_ASKED, HANDSHAKE_DONE };

/* The command numbers of one shard on the current connection. They belong to the owner's token, or
 * to the client's session. */
struct channel {
	enum handshake handshake;
	/* Grows with each handshake; a reply to an earlier handshake does not count. */
	unsigned handshakes;
	uint64_t next;      /* the number of the next command */
	uint64_t acked;     /* the highest number that the server is known to have applied */
	unsigned under_way; /* how many numbered commands are under way */
	bool is_broken; /* a command failed, so the server also refuses the commands behind it */
	dw_usec pause_until; /* no command is sent before this time (steady clock) */
	/* No command is sent until the shard is at the node that has its slot now. */
	bool is_moving;
	/* A connection number from when the shard came to its node, or 0. If the connection is
	 * older, its number counts as this one. */
	uint64_t moved;
};

/* channel_forget is called when the shard needs a new handshake. The reply to a handshake that is
 * under way does not count, because it names a state from before the commands that will be sent. */
static inline void channel_forget(struct channel *channel)
{
	channel->handshake = HANDSHAKE_NONE;
	channel->handshakes++;
}

/* node_refuses returns true if the server is connected but refuses commands. */
bool node_refuses(const struct node *);

/* node_trouble_at returns when a lost connection is reported. A connection that comes back before
 * that time is not reported, because its commands are sent again. */
static inline dw_usec node_trouble_at(const struct node *node)
{
	return node->connection ? DW_NEVER : usec_add(node->down_since, TROUBLE_AFTER);
}

/* node_name takes over what the voters say. node_is_new returns true while only the last owner may
 * use the server. node_is_usable returns true if this store may use the server. */
void node_name(struct redis_store *, struct node *, const struct nomination *);
bool node_is_new(const struct node *);
bool node_is_usable(const struct redis_store *, const struct node *);

/* node_watch notices a lost or a new connection. */
void node_watch(struct redis_store *, struct node *);

/* node_wire writes the commands to the socket, and takes the replies that have arrived. */
void node_wire(struct redis_store *, struct node *);

#endif
