/* The fencing token of a shard, and the server's clock. */
#ifndef DW_STORE_REDIS_TOKEN_H
#define DW_STORE_REDIS_TOKEN_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "redis/reply.h"
#include "store/redis/wire/node.h"

struct shard_sets;
struct redis_store;
struct shard;

#define TOKEN_SIZE 96
#define INCARNATION_SIZE 40

/* The names under which the server knows this store. */
struct names {
	char name[64]; /* the name of the namespace */
	char nonce[20];
	char free[80]; /* the channel on which peers hear of free shards; "" if we are no peer */
	/* Connections so far, on all links together: a shard may move to another link, and the
	 * server refuses a renewal with a lower number. */
	uint64_t connections;
	char holder[256];
	unsigned incarnations; /* how many incarnations this store has named so far */
	char token[TOKEN_SIZE], incarnation[INCARNATION_SIZE]; /* of the command being made */
};

/* Acquisitions in a row without a reply: the numbers of their incarnations, and when the lease that
 * the first one asks for ends at the latest (steady clock). */
struct token_asks {
	unsigned first, last;
	dw_usec until;
};

/* The owner's lease of one shard. */
struct shard_lease {
	bool is_ours;     /* this store is the owner of the shard */
	bool loss_untold; /* the lease was lost, and the engine has not been told yet */
	uint64_t fence;   /* the fence of our lease; 0 if this store does not own the shard */
	uint64_t told;    /* the highest fence that this store has had */
	struct token_asks asking; /* `asked`, and the acquisition whose reply is awaited */
	struct token_asks asked;  /* the acquisitions whose replies were lost */
	dw_usec again_at; /* when an owner without this shard tries to acquire it (steady clock) */
	char token[TOKEN_SIZE];
	char incarnation[INCARNATION_SIZE];
	dw_usec until;    /* the lease is ours until then (steady clock) */
	dw_usec asked_at; /* when the last successful renewal was sent (steady clock) */
	dw_usec away;     /* how long nobody could use the server since the lease was confirmed */
	char server[48];  /* run_id of the server that last confirmed the lease, or "" */
	bool is_moved;    /* the voters have named another server since the lease was confirmed */
	bool is_renewing;
	bool is_giving;   /* the command that gives the lease back is under way */
	unsigned refused; /* how often the server refused to take it back: it has another token */
	uint64_t jump;    /* a claim of a version up to this one raises the attempt by `step` */
	uint32_t step;
	uint64_t high;  /* the highest version that the server has shown */
	unsigned newer; /* the newer format because of which the lease was given back, or 0 */
};

/* clock_learn notes the server's time, which a reply has shown. */
void clock_learn(const struct redis_store *, struct node *, int64_t server_time);

/* clock_is_known returns true if a reply has told the server's time. */
static inline bool clock_is_known(const struct server_clock *clock)
{
	return clock->time != 0;
}

/* clock_latest returns the latest version that the server can have given, as far as this store
 * knows. clock_version returns a new floor for the version of the next timer. */
uint64_t clock_latest(const struct server_clock *, dw_usec now);
uint64_t clock_version(const struct redis_store *, struct node *);

/* token_extend is called when a command sent at `sent` has renewed the lease of the shard.
 * token_until returns until when timers of the shard may start, or INT64_MIN if the shard is not
 * ours or is cut off. token_is_over returns true if another process may have had the shard. While
 * nobody can use the server, nobody else can have the shard; token_connected adds that time to the
 * lease. After a change of the server nobody else has had the shard while the new server shows our
 * fence. */
void token_extend(struct redis_store *, struct shard *, dw_usec sent);
dw_usec token_until(const struct redis_store *, unsigned number);
bool token_is_over(const struct redis_store *, const struct shard *);
void token_connected(struct redis_store *, const struct node *);

/* token_is_of_before returns true if the server has started since it confirmed the lease.
 * token_is_forgotten returns true if the lease is over, too. Then the lease is not renewed. */
bool token_is_of_before(const struct shard *);
bool token_is_forgotten(const struct redis_store *, const struct shard *);

/* token_forget is called when a lease is given up: the lease proves nothing from now on. */
void token_forget(struct shard *);

/* token_of writes the token that the shard has on the current connection. */
void token_of(const struct names *, const struct shard *, char *ret_token);

/* token_is_ours returns true if the lease in the reply HELD is one of ours, and nobody else can
 * have had the shard since. While we have a lease that is not over, this is so for every lease with
 * our nonce. Without a lease, it is so only for the last acquisition whose reply was lost, until
 * that lease would end. */
bool token_is_ours(const struct redis_store *, const struct shard *, const struct reply *held);

/* What an acquisition knows of the lease that it may replace. */
struct token_seen {
	const char *token; /* the token of that lease, or "" */
	uint64_t fence;    /* the shard's last fence; an acquisition after a loss sends it */
	bool is_ours;      /* see token_is_ours() */
};

/* token_add_acquire makes the command that acquires the shard. */
void token_add_acquire(struct redis_store *, struct shard *, const struct token_seen *);

/* token_ask_lost is called when the reply to an acquisition is lost. The server may have granted
 * that lease. */
void token_ask_lost(struct shard *);

/* token_incarnation writes the incarnation that the acquisition with this number gives a shard. */
void token_incarnation(const struct names *, unsigned number, char *ret_incarnation);

/* token_take reads the token from the OK of an acquisition. If the shard was not ours and has
 * another incarnation, its tombstones are dropped. Returns false if the size of the token is
 * wrong. */
bool token_take(struct redis_store *, struct shard *, const struct reply *);

/* token_note_version remembers a version that the shard has given, so that the shard does not give
 * this version again. */
void token_note_version(struct shard *, uint64_t version);
void token_note_row(struct shard *, const dw_row *);

/* token_has_holder returns true if the words name a process that holds a shard. */
bool token_has_holder(const struct reply *holder);

/* token_is_dead returns true if the process that holds the shard does not exist any more. */
bool token_is_dead(const struct reply *held);

/* token_is_succeeded returns true if the refusal of a renewal, handshake, release or acquisition
 * names another owner with a higher fence, and the incarnation is the same or our lease has ended.
 * Any other refusal means that the shard lost data. */
bool token_is_succeeded(const struct redis_store *, const struct shard *, const struct reply *);

/* token_goes_on returns true if an earlier owner may have its shard again, because another server
 * has taken the place of the last one, and lacks our acquisition. */
bool token_goes_on(const struct shard *, const struct reply *);

/* token_went_back returns true if the reply to a renewal or handshake shows an older state. */
bool token_went_back(const struct shard *, const struct reply *);

#endif
