/* The nodes of a Redis Cluster. Every node that the URL names, or another node knows, is asked each
 * second which nodes there are, on a connection of its own. The answers say two things.
 *
 * Which node has a slot: the one that claims it with the highest configuration epoch. So a shard
 * follows its slot.
 *
 * Which nodes are used: those that a majority of the masters names as masters with slots (named.h).
 * A node that takes the place of another one was a replica before, so no master names both. Its own
 * word does not count until it is used. */
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
	struct redis_url url;         /* host, port and name are its own; the rest is the store's */
	char id[CLUSTER_ID_SIZE];     /* "" until it has told */
	struct link *voter;           /* asks which nodes there are; NULL: another entry does */
	uint64_t connection;          /* the voter's connection, as last seen */
	unsigned asked;               /* answers that are still to come */
	bool asks_proof;              /* the last of them is to the question for the proof */
	dw_usec asked_at, ask_at;     /* steady clock */
	struct vote votes[NODES_MAX]; /* whether each other entry names it */
	unsigned masters; /* how many masters with slots it knows; 0: it is none itself */
	uint64_t epoch;   /* its configuration epoch, as it says itself */
	/* When it had been named for long enough, last; INT64_MIN: never (steady clock). */
	dw_usec proved_at;
	dw_usec noted_at;  /* when a note was read that it was used in this epoch */
	unsigned first;    /* its first shard, which has the note; SHARDS_MAX: it has none */
	uint64_t noted;    /* the epoch that this store has noted last; 0: none */
	unsigned noted_in; /* the shard in which it has done so */
	bool is_double;    /* another entry is the same node */
	bool lacks_others; /* too few others name it, and no note says that it was used */
	bool is_useless;   /* it is none of a cluster; a person must change something first */
	char words[DW_MESSAGE_SIZE]; /* why its last answer was no use, or "" */
};

/* Where the slot of a shard is. */
struct cluster_place {
	unsigned slot;
	struct member_node *member; /* NULL: no node is known to have it */
	uint64_t epoch;             /* of the claim */
};

/* A node that nobody has named yet. */
static const struct nomination cluster_unnamed = {.since = DW_NEVER, .until = INT64_MIN};

struct cluster {
	struct member_node *list[NODES_MAX];
	unsigned count;
	bool is_full;                   /* it was told that there are more nodes */
	bool has_answers;               /* since the votes were counted */
	struct vote counted[NODES_MAX]; /* room for those that are counted */
	struct cluster_place places[SHARDS_MAX];
};

/* cluster_open makes links to the nodes of the store's URL, if it is one of a cluster. Returns
 * DW_OK, DW_ENOMEM or DW_ESYS. */
int cluster_open(struct redis_store *);

/* votes_count counts the votes if there are new ones, and tells each node whether it is used. */
void votes_count(struct redis_store *);

/* cluster_note notes which nodes this store uses, if it writes: one that is opened later need not
 * wait. */
void cluster_note(struct redis_store *);

/* cluster_work asks, takes the answers, notes, and lets the shards follow their slots. */
void cluster_work(struct redis_store *);
dw_usec cluster_due(const struct redis_store *);

/* cluster_settling_until returns until when a store that is opened waits for nodes that are not
 * used yet; INT64_MIN: it does not wait. */
dw_usec cluster_settling_until(const struct redis_store *);

/* member_note_refusal notes why the answer about the nodes is no use. */
void member_note_refusal(struct member_node *, const struct reply *);

/* store_why says why no server is used, in words that may need the room (DW_MESSAGE_SIZE bytes);
 * "": there is no trouble. *ret_fatal: a person must change something first. */
const char *store_why(const struct redis_store *, char *room, bool *ret_fatal);

void cluster_free(struct redis_store *);

#endif
