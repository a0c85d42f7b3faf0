/* A store in front of a harness's store, which behaves like a store on a network. It has a lease
 * and a turn of its own, it can lose its ownership, and its answers may come late or never. */
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
	bool refused; /* the server refuses all operations on the shard */
	bool foreign; /* another process owns the shard */
};

struct leased {
	dw_store store; /* the public view; must be first */
	struct harness *harness;
	dw_usec lease; /* the steady time at which the lease ends */
	dw_usec due;   /* the steady time of the next turn */
	dw_usec turned_at;
	int turns;

	bool fenced; /* another process owns the store */
	bool is_free;
	bool newer;  /* the store has timers of a newer version */
	int trouble; /* the status that trouble() returns; DW_OK: none */
	int failing; /* the status with which operations except scans fail, or DW_OK */
	bool keeps;  /* operations are not answered, except scans */
	int unknown; /* the number of puts that are carried out and answered with DW_EUNKNOWN */
	bool knows;  /* a repeated put is answered as carried out before */
	int asked[DW_OP_MEND + 1]; /* the number of submitted operations of each kind */
	unsigned flags;            /* the flags of the last put */
	struct op_queue answers;
	struct op_queue kept;
	dw_op *parked; /* the INBOX operation that waits */
	dw_store_class type;
	struct leased_shard shards[LEASED_SHARDS];
	unsigned surplus; /* the number of shards that a peer should give away */
	bool leaves;      /* a peer should give all shards away */
	dw_sharing sharing;
	int gives;        /* the status with which a GIVE is answered */
	unsigned scanned; /* a bit for each shard that the last SCAN was about */
	dw_shard_news news[LEASED_SHARDS * 2]; /* news that the engine has not taken yet */
	size_t news_count;
};

/* leased_new makes a harness, and leased_free frees it. leased_begin also adds a handler for topic
 * t, and waits until all timers are loaded. leased_end checks the engine and frees the harness. */
struct harness *leased_new(struct leased *, void (*set)(struct engine_env *));
void leased_free(struct leased *);
struct harness *leased_begin(struct leased *);
void leased_end(struct leased *);

/* leased_keep_topics makes the store keep topics from now on. The engine then reads their
 * settings. */
void leased_keep_topics(struct leased *);

/* leased_begin_divided does the same on a store of LEASED_SHARDS shards. The first letter of an id
 * selects its shard: "a" is in shard 0. All leases are valid. */
struct harness *leased_begin_divided(struct leased *);

/* leased_begin_peer does the same for a peer. */
struct harness *leased_begin_peer(struct leased *);

/* leased_refuse makes the server refuse all operations on the shard from now on. leased_tell_shard
 * tells the engine the state of a shard. DW_SHARD_OWNED and DW_SHARD_FOREIGN also change who owns
 * the shard. The next turn takes the news. */
void leased_refuse(struct leased *, unsigned shard);
void leased_tell_shard(struct leased *, unsigned shard, dw_shard_state);

/* leased_fence lets another process take over the store. leased_fenced does so, too, and lets the
 * engine notice. */
void leased_fence(struct leased *);
void leased_fenced(struct leased *);

/* leased_say answers an operation that was kept. leased_tell answers the INBOX with a client's
 * change of a timer of topic t, or with its end. The next turn takes the answers. */
void leased_say(struct leased *, dw_op *, int status);
void leased_tell(struct leased *, const char *id, dw_head, bool gone);

/* leased_speak carries out the operations that were kept. */
void leased_speak(struct leased *);

/* leased_put_each puts a timer in each shard: "a" to "d". leased_given returns how many shards
 * another process owns. leased_want_fewer makes the store ask that `surplus` shards be given away,
 * and lets time pass. */
void leased_put_each(struct leased *, dw_usec delay);
unsigned leased_given(const struct leased *);
void leased_want_fewer(struct leased *, unsigned surplus, dw_usec time);

#endif
