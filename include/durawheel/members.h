/* Several processes share one namespace in Redis: the peers.
 *
 *	dw_options options = {.size = sizeof options,
 *			      .store = "redis://10.0.0.7",
 *			      .name = "orders",
 *			      .role = DW_PEER};
 *
 * A namespace has 16 shards, unless its first owner has set another number (dw_options.shards). An
 * id is always in the same shard, and ids with the same "{tag}" are in the same one. Each shard is
 * owned by one peer at a time, which starts its timers. When a peer joins or leaves, shards move
 * until each peer has its share: of S shards and M peers S / M, or one more. A shard moves in a
 * quiet moment: none of its timers is claimed or being delivered. So a move loses and doubles no
 * start. It makes due timers late by some milliseconds. If deliveries run in all shards of a peer,
 * up to four shards start no timers for at most 6 s; if that is too short, one of them for at most
 * 30 s, now and then.
 *
 * Every peer takes calls about every id. In a shard of another peer it is a client, so a cancel
 * shortly before the deadline may be DW_ELATE. Every peer registers a handler for each topic: a due
 * timer without a handler waits at its owner (DW_EVENT_NO_HANDLER). Deadlines are kept in order
 * within a shard, and over the shards of one peer.
 *
 * A peer that dies on this machine is replaced within a second; on another machine, when its lease
 * and its heartbeat have ended (5 s, unless dw_options.lease_us says more). dw_close gives all
 * shards away, quiet shards at once, the others when their deliveries have ended.
 * A DW_OWNER owns all shards or none: it is refused with DW_EOWNED while peers live, and peers wait
 * while it lives. A peer keeps no journal. Only a peer that has all shards may dw_purge() the
 * store. dw_pause() pauses this peer, whose shards stay its own. */
#ifndef DURAWHEEL_MEMBERS_H
#define DURAWHEEL_MEMBERS_H

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DW_MEMBERS_MAX 50 /* peers of a namespace; one more stands by (DW_EVENT_LIMIT) */

typedef struct dw_member {
	size_t size;
	const char *who;        /* "HOST pid N" */
	const char *version;    /* the version of its durawheel */
	dw_usec since;          /* when it joined, by the clock of the server */
	dw_usec until;          /* when it counts as gone, unless it reports again */
	dw_usec clock_us;       /* how far its clock is ahead of the server's; < 0: behind */
	const unsigned *shards; /* the numbers of the shards that it has, in order */
	size_t shard_count;
	size_t room;  /* how many shards it can have; fewer than all if Redis refuses it some */
	int is_self;  /* this handle */
	int is_dead;  /* it has ended, or reported nothing for 5 s: its shards have no owner */
	size_t share; /* how many shards it should have; 0: it has not reported yet */
	/* Why it has more shards than `share`: in busy_count of its shards deliveries run, of the
	 * topics "orders (20 s), mail (3 s)". 0 and "": no delivery is in the way. */
	size_t busy_count;
	const char *busy_topics;
	int is_leaving; /* it gives all its shards away: dw_leave() or dw_close() */
	/* How many due timers of its shards have no handler there: "orders (5), mail (2)". */
	uint64_t unhandled;
	const char *unhandled_topics;
} dw_member;

typedef struct dw_member_list {
	size_t size;
	const dw_member *members; /* in the order in which they joined */
	size_t count;             /* 0: the namespace is not shared, or has no owner */
	size_t shard_count;       /* how many shards the namespace has */
} dw_member_list;

/* Called once. If status is not DW_OK, list is NULL. The list is valid inside the call. */
typedef void (*dw_members_fn)(dw *, int status, const dw_member_list *list, void *user);

/* dw_members asks who shares the namespace. Any role. Its own thread only. DW_EINVAL: the callback
 * is NULL, or the store is not in Redis. */
DW_API int dw_members(dw *, dw_members_fn, void *user);

/* dw_owns returns 1 if this handle owns the shard of the id now, else 0. A program can route its
 * calls by this: calls about an id are fastest at its owner. The result may change at any turn
 * (DW_EVENT_SHARDS). Its own thread only. DW_EINVAL: the id is not valid. */
DW_API int dw_owns(dw *, const char *id);

/* dw_leave prepares the end of a peer. From now on the peer takes no shard and starts no timer;
 * calls and deliveries that have started go on. It gives each of its shards to the other peers as
 * soon as the deliveries of that shard have ended, quiet shards at once. dw_close() begins in the
 * same way. If a program waits for its own work before it closes, it should call dw_leave() first.
 * Otherwise its due timers wait, too. Its own thread only. DW_EROLE: the handle is no peer. */
DW_API int dw_leave(dw *);

#define DW_NODE_NAME_SIZE 160 /* bytes of dw_node.name, with the NUL */
#define DW_NODE_SHARDS 256    /* a namespace has no more shards */

/* A server of a store that may have several: the masters of a Redis Cluster, or the server that the
 * Sentinels name. */
typedef struct dw_node {
	size_t size;                          /* sizeof(dw_node): set it */
	char name[DW_NODE_NAME_SIZE];         /* its address, without user and password */
	uint64_t shards[DW_NODE_SHARDS / 64]; /* bit n % 64 of [n / 64]: it has the shard n */
	/* 0: this handle does not use the server. It has not done so for away_us; `why` says
	 * why. */
	int is_connected;
	dw_usec away_us;
	char why[DW_MESSAGE_SIZE];
	/* How many shards came to it from another server since this handle was opened: their slots
	 * were moved, or a replica took the place of its master. */
	uint64_t arrived;
	unsigned replicas; /* how many must have a change before its call is answered; 0: none */
	int is_late;       /* the replicas do not keep up, so calls are answered as DW_STORED */
} dw_node;

/* dw_get_node returns what this handle knows now of a server. Numbers begin at 0. Its own thread
 * only. DW_ENOENT: there are no more servers, or the store is always on the same server. */
DW_API int dw_get_node(const dw *, size_t number, dw_node *ret_node);

#ifdef __cplusplus
}
#endif

#endif
