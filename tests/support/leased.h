/* A store in front of a harness's store, with the properties of a store on a network: a lease, a
 * turn of its own, ownership that it can lose, and answers that come late or never. */
#ifndef DW_TESTS_LEASED_H
#define DW_TESTS_LEASED_H

#include <stdbool.h>

#include "port/op.h"
#include "support/harness.h"

#define LEASED_PATIENCE DW_SECONDS(4)
#define LEASED_TROUBLE "nobody is there"
#define LEASED_REFUSAL "NOPERM no right"

#define LEASED_SHARDS 4

/* One shard of a store that has several. */
struct leased_shard {
	dw_usec lease;
	bool refused; /* the server refuses what is asked of it */
	bool foreign; /* another process has it */
};

struct leased {
	dw_store store; /* must be first: the public view */
	struct harness *harness;
	dw_usec lease; /* the steady time at which the lease ends */
	dw_usec due;   /* the steady time of the next turn */
	dw_usec turned_at;
	int turns;

	bool fenced; /* another process owns the store */
	bool is_free;
	bool newer;  /* the store has timers of a newer version */
	int trouble; /* DW_OK: none */
	int failing; /* the status with which all operations but scans fail; DW_OK: they do not */
	bool keeps;  /* operations are not answered, except scans */
	int unknown; /* puts to carry out and to answer with DW_EUNKNOWN */
	bool knows;  /* a repeated put is answered as done before */
	int asked[DW_OP_MEND + 1]; /* operations submitted, by kind */
	unsigned flags;            /* flags of the last put */
	struct op_queue answers;
	struct op_queue kept;
	dw_op *parked; /* the INBOX operation that waits */
	dw_store_class type;
	struct leased_shard shards[LEASED_SHARDS];
	unsigned surplus; /* how many shards a peer should give */
	bool leaves;      /* it should give all */
	dw_sharing sharing;
	int gives;        /* the status with which a GIVE is answered */
	unsigned scanned; /* a bit for each shard that the last SCAN was about */
	dw_shard_news news[LEASED_SHARDS * 2]; /* news that the engine has not taken yet */
	size_t news_count;
};

/* leased_new makes a harness. leased_free() frees it. leased_begin makes one with a handler for
 * topic t that has loaded all timers. leased_end frees it and checks the engine before. */
struct harness *leased_new(struct leased *, void (*set)(struct engine_env *));
void leased_free(struct leased *);
struct harness *leased_begin(struct leased *);
void leased_end(struct leased *);

/* leased_keep_topics: from now on the store keeps topics. The engine reads their settings then. */
void leased_keep_topics(struct leased *);

/* leased_begin_divided is leased_begin on a store of LEASED_SHARDS shards. The first letter of an
 * id says which one it is in: "a" is in shard 0. Their leases hold. */
struct harness *leased_begin_divided(struct leased *);

/* leased_begin_peer is the same for a peer. */
struct harness *leased_begin_peer(struct leased *);

/* leased_refuse: from now on the server refuses what is asked of the shard. leased_tell_shard tells
 * the engine the state of a shard; with DW_SHARD_OWNED and DW_SHARD_FOREIGN it is so from now on.
 * The next turn takes the news. */
void leased_refuse(struct leased *, unsigned shard);
void leased_tell_shard(struct leased *, unsigned shard, dw_shard_state);

/* leased_fence: another process takes over the store. leased_fenced: the engine also notices. */
void leased_fence(struct leased *);
void leased_fenced(struct leased *);

/* leased_say answers an operation that was kept. leased_tell answers the INBOX with a client's
 * change of a timer of topic t, or its end. The next turn takes the answers. */
void leased_say(struct leased *, dw_op *, int status);
void leased_tell(struct leased *, const char *id, dw_head, bool gone);

/* leased_speak carries out the kept operations. */
void leased_speak(struct leased *);

/* leased_put_each puts a timer of each shard: "a" to "d". leased_given returns how many shards
 * another process has. leased_want_fewer lets the store say that so many shards should be given,
 * and lets time pass. */
void leased_put_each(struct leased *, dw_usec delay);
unsigned leased_given(const struct leased *);
void leased_want_fewer(struct leased *, unsigned surplus, dw_usec time);

#endif
