/* The nodes of a Redis Cluster. Every node that the URL names, or that another node knows, is asked
 * each second which nodes the cluster has, on a connection of its own. The answers say two things.
 *
 * Which node has a slot: the node that claims the slot with the highest configuration epoch. So a
 * shard follows its slot.
 *
 * Which nodes are used: the nodes that a majority of the masters names as masters with slots
 * (named.h). A node that takes the place of another one was a replica before, so no master names
 * both. The node's own word does not count until it is used. */
#ifndef DW_STORE_REDIS_CLUSTER_H
#define DW_STORE_REDIS_CLUSTER_H

#include "redis/link.h"
#include "redis/url.h"
#include "store/redis/nodes/cluster_text.h"
#include "store/redis/nodes/named.h"
#include "store/redis/wire/nodes.h"

struct redis_store;

struct member_node {
	struct node node;
	/* host, port and name are those of this node; everything else is as in the store's URL. */
	struct redis_url url;
	char id[CLUSTER_ID_SIZE]; /* "" until the node has told its id */
	struct link *voter;       /* asks this node which nodes the cluster has; not if is_double */
	uint64_t connection;      /* the voter's connection, as last seen */
	unsigned asked;           /* number of answers that are still to come */
	bool asks_proof;          /* the last of them answers ask_proof() */
	dw_usec asked_at, ask_at; /* steady clock */
	struct vote votes[NODES_MAX]; /* how each node of the list names this node */
	/* How many masters with slots this node knows; 0: it is not such a master itself. */
	unsigned masters;
	uint64_t epoch; /* the node's configuration epoch, as it says itself */
	/* When the node last had been named for long enough; INT64_MIN: never (steady clock). */
	dw_usec proved_at;
	/* When this store read a note that the node was used in this epoch (steady clock).
	 * INT64_MIN: never. */
	dw_usec noted_at;
	/* The first shard at this node, which has the note; SHARDS_MAX: no shard is here. */
	unsigned first;
	uint64_t noted;    /* the epoch in the last note that this store has written; 0: none */
	unsigned noted_in; /* the shard in which that note is */
	/* Another entry is the same node; this entry keeps its voter, but the voter does not
	 * ask. */
	bool is_double;
	bool lacks_others; /* too few others name the node, and no note says that it was used */
	/* The node is not part of a cluster. A person must change something first. */
	bool is_useless;
	char words[DW_MESSAGE_SIZE]; /* why the node's last answer could not be used, or "" */
};

/* Where the slot of a shard is. */
struct cluster_place {
	unsigned slot;
	struct member_node *member; /* NULL: no node is known to have the slot */
	uint64_t epoch;             /* epoch of the node that claims the slot */
};

/* A node that nobody has named yet. */
static const struct nomination cluster_unnamed = {.since = DW_NEVER, .until = INT64_MIN};

struct cluster {
	struct member_node *list[NODES_MAX];
	unsigned count;
	bool is_full;     /* a warning has said that the cluster has more nodes than are used */
	bool has_answers; /* there are answers since the votes were last counted */
	struct vote counted[NODES_MAX]; /* buffer for the votes that are counted */
	struct cluster_place places[SHARDS_MAX];
};

/* cluster_open makes links to the nodes of the store's URL, if that is the URL of a cluster.
 * Returns DW_OK, DW_ENOMEM or DW_ESYS. */
int cluster_open(struct redis_store *);

/* votes_count counts the votes if there are new ones, and notes for each node from when and until
 * when it may be used. */
void votes_count(struct redis_store *);

/* cluster_note writes a note about each node that this store uses, if this store writes at all. A
 * store that is opened later, and reads the note, need not wait before it uses that node. */
void cluster_note(struct redis_store *);

/* cluster_work asks the nodes, takes their answers, writes notes, and lets the shards follow their
 * slots. */
void cluster_work(struct redis_store *);
dw_usec cluster_due(const struct nodes *);

/* cluster_settling_until returns until when a store that is being opened waits for nodes that may
 * not be used yet. INT64_MIN: it does not wait. */
dw_usec cluster_settling_until(const struct redis_store *);

/* member_note_refusal notes why the node's answer could not be used. */
void member_note_refusal(struct member_node *, const struct reply *);

/* store_why returns why no server is used; "": there is no trouble. The text may be in `room`
 * (DW_MESSAGE_SIZE bytes). *ret_fatal: a person must change something first. */
const char *store_why(const struct redis_store *, char *room, bool *ret_fatal);

void cluster_free(struct redis_store *);

#endif
