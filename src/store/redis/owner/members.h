/* The peers: which there are, how many shards this one should have, and which it should take. */
#ifndef DW_STORE_REDIS_MEMBERS_H
#define DW_STORE_REDIS_MEMBERS_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

struct members {
	bool is_in;      /* this store is a peer, and enters itself each second */
	bool is_leaving; /* it takes nothing, and gives all that it has */
	dw_op *own;      /* the OWN operation that waits for the first list */
	dw_usec since;   /* when it joined (the server's clock); 0: that clock is not known yet */
	dw_usec beat_at; /* when it enters itself next (steady clock) */
	dw_usec sent;    /* when it has done so last (steady clock) */
	/* When the last list was asked for that has come (steady clock); 0: none has come. */
	dw_usec listed;
	dw_usec asks_since; /* since when the list can be asked for (steady clock) */
	dw_usec away_since; /* since when its server is away, and others are not; 0: it is not */
	unsigned share;     /* how many shards it should have */
	/* How many it can have. After a refusal that is what it had then, until try_at (steady
	 * clock): then it tries one. */
	unsigned room;
	dw_usec try_at;
	unsigned tried;       /* the shard that it has tried last */
	dw_usec takes_from;   /* it takes nothing before (steady clock) */
	dw_usec gives_from;   /* it gives nothing before (steady clock) */
	dw_usec clock;        /* its wall clock minus the server's */
	dw_usec clock_way;    /* how long the reply took that told the server's */
	unsigned count;       /* how many members the last list had */
	char zones[16];       /* the version of its time zone data, or "" */
	dw_usec zones_at;     /* when that is read again (steady clock) */
	bool has_newer_zones; /* another member has newer data */
};

/* What is known of one shard. */
struct shard_share {
	bool is_announced; /* it was given away since this store has asked for it last */
	dw_usec held_at;   /* when the server has said last that another one has it; 0: never */
	dw_usec
	    free_since; /* no peer of the list has it since then (steady clock); 0: one has it */
};

/* members_own takes the OWN of a peer. It is answered when the list of members has come: from then
 * on this store is an owner of any number of shards. */
void members_own(struct redis_store *, dw_op *);

/* members_leave removes this store from the list. */
void members_leave(struct redis_store *);

/* members_work enters this store into the list each second, and takes shards. */
void members_work(struct redis_store *);
dw_usec members_due(const struct redis_store *);

/* members_enter does so now, because this store has fewer shards from now on. */
void members_enter(struct redis_store *);

/* members_hear is called when a shard was given away. members_look reads the list soon, because
 * some news may be lost. */
void members_hear(struct redis_store *, unsigned number);
void members_look(struct redis_store *);

/* members_refused is called when the server refuses this store a shard that nobody has;
 * members_accepted, when it does not: the shard is ours now, or another's. */
void members_refused(struct redis_store *);
void members_accepted(struct redis_store *);

/* members_held is called when the server says that another one has the shard. */
void members_held(struct redis_store *, struct shard *);

/* members_sharing implements dw_store_class.sharing. */
void members_sharing(const dw_store *, dw_sharing *);

/* members_surplus implements dw_store_class.surplus: how many shards this store should give to
 * others now. members_has_all returns true if it has every shard. */
unsigned members_surplus(const dw_store *);
bool members_has_all(const struct redis_store *);

/* members_give_all implements dw_store_class.leave. */
void members_give_all(dw_store *);

/* members_end answers the OWN that waits. */
void members_end(struct redis_store *, int status);

#endif
