/* The peers: which peers there are, how many shards this peer should have, and which shards it
 * should take. */
#ifndef DW_STORE_REDIS_MEMBERS_H
#define DW_STORE_REDIS_MEMBERS_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

struct members {
	bool is_in;      /* this store is a peer, and enters itself into the list each second */
	bool is_leaving; /* this store takes no shards, and gives all its shards away */
	dw_op *own;      /* the OWN operation, which waits for the first list; NULL: none waits */
	/* When this store joined (the server's clock); 0: the server's clock is not known yet. */
	dw_usec since;
	dw_usec beat_at; /* when this store next enters itself (steady clock) */
	dw_usec sent;    /* when this store last entered itself (steady clock) */
	/* When the last list that has arrived was asked for (steady clock); 0: no list has
	 * arrived. */
	dw_usec listed;
	dw_usec asks_since; /* since when this store can ask for the list (steady clock) */
	/* Since when the server of the list is away while other servers are not; 0: it is not. */
	dw_usec away_since;
	unsigned share; /* how many shards this store should have */
	/* How many shards this store can have. After a refusal this is the number that it had then.
	 * At try_at (steady clock) it tries to take one more. */
	unsigned room;
	dw_usec try_at;
	unsigned tried;       /* the shard that it tried last */
	dw_usec takes_from;   /* before this time this store takes no shard (steady clock) */
	dw_usec gives_from;   /* before this time this store gives no shard (steady clock) */
	dw_usec clock;        /* this machine's wall clock minus the server's clock */
	dw_usec clock_way;    /* how long the reply took from which `clock` was computed */
	unsigned count;       /* how many members the last list had */
	char zones[16];       /* the version of this machine's time zone data, or "" */
	dw_usec zones_at;     /* when the version of the data is next read (steady clock) */
	bool has_newer_zones; /* another member has newer time zone data */
};

/* What this peer knows of one shard. */
struct shard_share {
	/* A peer has given the shard away since this store last asked for it. */
	bool is_announced;
	/* When the server last said that another process has the shard; 0: never. */
	dw_usec held_at;
	dw_usec
	    /* Since when no peer in the list has it (steady clock); 0: a peer has it. */
	    free_since;
};

/* members_own takes the OWN of a peer. It is answered when the list of members has arrived. From
 * then on this store is an owner, of any number of shards. */
void members_own(struct redis_store *, dw_op *);

/* members_leave removes this store from the list. */
void members_leave(struct redis_store *);

/* members_work enters this store into the list each second, and takes shards. */
void members_work(struct redis_store *);
dw_usec members_due(const struct redis_store *);

/* members_enter enters this store into the list at once, because it has fewer shards from now
 * on. */
void members_enter(struct redis_store *);

/* members_hear is called when a peer has given a shard away. members_look reads the list soon,
 * because messages about free shards may have been lost. */
void members_hear(struct redis_store *, unsigned number);
void members_look(struct members *);

/* members_refused is called when the server does not let this store have a shard that nobody has.
 * members_accepted is called when the server does not refuse so: the shard is ours now, or another
 * process has it. */
void members_refused(struct redis_store *);
void members_accepted(struct members *);

/* members_held is called when the server says that another process has the shard. */
void members_held(struct redis_store *, struct shard *);

/* members_sharing implements dw_store_class.sharing. */
void members_sharing(const dw_store *, dw_sharing *);

/* members_surplus implements dw_store_class.surplus: it returns how many shards this store should
 * give to other peers now. members_has_all returns true if this store has every shard. */
unsigned members_surplus(const dw_store *);
bool members_has_all(const struct redis_store *);

/* members_give_all implements dw_store_class.leave. */
void members_give_all(dw_store *);

/* members_end answers the OWN operation that waits. */
void members_end(struct redis_store *, int status);

#endif
