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
	char free[80]; /* the channel on which peers hear of free shards; "" for all others */
	/* How many connections there have been so far, on all links: a shard may come to another
	 * link, and a renewal with a lower number is refused. */
	uint64_t connections;
	char holder[256];
	unsigned incarnations; /* how many incarnations this store has named so far */
	/* Room for those in the command that is being made. */
	char token[TOKEN_SIZE], incarnation[INCARNATION_SIZE];
};

/* An acquisition: the number of its incarnation, and when the lease that it asks for ends at the
 * latest (steady clock). */
struct token_ask {
	unsigned number;
	dw_usec until;
};

/* The owner's lease of one shard. */
struct shard_lease {
	bool is_ours;     /* this store is the owner of the shard */
	bool loss_untold; /* it was lost, and the engine does not know it yet */
	uint64_t fence;   /* 0 if this store does not own the shard */
	uint64_t told;    /* the highest fence that this store has had */
	/* The acquisition that is under way, and the last one whose reply was lost. */
	struct token_ask asking;
	struct token_ask asked;
	dw_usec again_at; /* an owner without this shard tries to acquire it then (steady clock) */
	char token[TOKEN_SIZE];
	char incarnation[INCARNATION_SIZE];
	dw_usec until;    /* the lease is ours until then (steady clock) */
	dw_usec asked_at; /* when it was asked for that was renewed last (steady clock) */
	/* Nobody could use the server for this long since the lease was confirmed. */
	dw_usec away;
	char server[48]; /* run_id of the server that has confirmed the lease last, or "" */
	bool is_moved;   /* the voters have named another server since it was confirmed */
	bool is_renewing;
	bool is_giving;   /* it is being given back */
	unsigned refused; /* so often it was not, because the server has another token */
	uint64_t jump;    /* a claim of a version up to this one raises the attempt by `step` */
	uint32_t step;
	uint64_t high;  /* the highest version that the server has told */
	unsigned newer; /* format of a timer too new for us: the lease is given back; 0: none */
};

/* clock_learn takes the server's time from a reply. */
void clock_learn(const struct redis_store *, struct node *, int64_t server_time);

/* clock_is_known returns true if a reply has told the server's time. */
static inline bool clock_is_known(const struct server_clock *clock)
{
	return clock->time != 0;
}

/* clock_latest returns the latest version that the server can have given, as far as is known.
 * clock_version returns the next version for a timer that a command stores there. */
uint64_t clock_latest(const struct server_clock *, dw_usec now);
uint64_t clock_version(const struct redis_store *, struct node *);

/* token_extend is called when a command sent at `sent` has renewed the lease of the shard.
 * token_until returns until when timers of the shard may start, or INT64_MIN if it is not ours, or
 * if it is cut off. token_is_over returns true if another process may have had the shard. While
 * nobody can use the server, nobody can have it: token_connected notes that time. At a new server
 * nobody has had it as long as the server shows our fence. */
void token_extend(struct redis_store *, struct shard *, dw_usec sent);
dw_usec token_until(const struct redis_store *, unsigned number);
bool token_is_over(const struct redis_store *, const struct shard *);
void token_connected(struct redis_store *, const struct node *);

/* token_is_of_before returns true if the server has started since it confirmed the lease;
 * token_is_forgotten, if the lease is over, too. Then it is not renewed. */
bool token_is_of_before(const struct shard *);
bool token_is_forgotten(const struct redis_store *, const struct shard *);

/* token_forget is called when a lease is given up: from now on it proves nothing. */
void token_forget(struct shard *);

/* token_of writes the token that the shard has on the current connection. */
void token_of(const struct redis_store *, const struct shard *, char *ret_token);

/* token_is_ours returns true if the lease that a HELD names is one of ours, and nobody else can
 * have had the shard since. As long as our lease holds, each one is. Later only the one that was
 * asked for last is, until it would end. */
bool token_is_ours(const struct redis_store *, const struct shard *, const struct reply *held);

/* What an acquisition knows of the lease that it may replace. */
struct token_seen {
	const char *token; /* the token of that lease, or "" */
	uint64_t fence;    /* the shard's last fence; an acquisition after a loss names it */
	bool is_ours;      /* see token_is_ours() */
};

/* token_add_acquire makes the command that acquires the shard. */
void token_add_acquire(struct redis_store *, struct shard *, const struct token_seen *);

/* token_ask_lost is called when the reply to an acquisition is lost. It may have made a lease. */
void token_ask_lost(struct shard *);

/* token_incarnation writes the incarnation that the acquisition with that number gives to a new
 * shard. */
void token_incarnation(const struct names *, unsigned number, char *ret_incarnation);

/* token_take reads the token out of the OK of an acquisition. If the shard is new, and was not
 * ours, its tombstones go. Returns false if the size of the token is wrong. */
bool token_take(struct redis_store *, struct shard *, const struct reply *);

/* token_note_version remembers a version that the shard has given, so that it is not given
 * again. */
void token_note_version(struct shard *, uint64_t version);
void token_note_row(struct shard *, const dw_row *);

/* token_has_holder returns true if the words name a process that holds a shard. */
bool token_has_holder(const struct reply *holder);

/* token_is_dead returns true if the process that holds the shard does not exist any more. */
bool token_is_dead(const struct reply *held);

/* token_is_succeeded returns true if the refusal of a renewal, handshake or acquisition names
 * another owner of the same incarnation with a higher fence. Any other refusal means that the shard
 * lost data: a lower fence was given before ours, so the shard was set back to that time. */
bool token_is_succeeded(const struct redis_store *, const struct shard *, const struct reply *);

/* token_goes_on returns true if an owner before us may have its shard again, because a server has
 * taken the place of another one, and lacks our acquisition. */
bool token_goes_on(const struct shard *, const struct reply *);

/* token_went_back returns true if the reply to a renewal or handshake shows an older state. */
bool token_went_back(const struct shard *, const struct reply *);

#endif
