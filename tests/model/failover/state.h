/* state: one moment of the model. The world is one id in one shard, and
 *
 *	A and B      two processes that may own the shard
 *	C            a client
 *	M, R and Q   servers: a master and its replicas
 *	voters       who decide which server is the master; each has its own view
 *
 * Time is a number of ticks. A message that is not delivered, a partition and a server that sleeps
 * look alike: something that may happen does not happen yet.
 *
 * The structure has bytes only, so that equal states have equal bytes. */
#ifndef MODEL_FAILOVER_STATE_H
#define MODEL_FAILOVER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define GENERATIONS 3u /* g1 and g2; 0 is none */
#define PARTIES 3u     /* A, B and C */
#define OWNERS 2u
#define CLIENT 2u
#define SERVERS 3u
#define NOWHERE SERVERS
#define VOTERS 4u  /* a world may have fewer */
#define CONFIGS 4u /* the first one, and one more for each failover */

enum record_kind { RECORD_NONE, RECORD_PENDING, RECORD_CLAIMED };

/* The timer in a server. fence, party: of its claim. */
struct record {
	uint8_t kind, generation, version, fence, party;
};

/* holder: 1 + the party that has the lease, or 0. left: the ticks of the lease. version: of the
 * last change of the id. */
struct data {
	struct record record;
	uint8_t fence, holder, left, version;
};

/* source: of a replica. up: for how many ticks. */
struct server {
	struct data data;
	uint8_t is_master, source, up;
};

/* config: the last decision that the voter knows. age: for how many ticks it names this server. */
struct voter {
	uint8_t config, age;
};

/* The last answer of a voter. config: 1 + what it said, or 0. sent: the ticks since the question
 * was sent. since: for how many ticks the voter says so, as the asker counts. */
struct answer {
	uint8_t config, sent, since;
};

enum request_kind {
	REQUEST_NONE,
	REQUEST_ACQUIRE,
	REQUEST_RENEW,
	REQUEST_CLAIM,
	REQUEST_SETTLE,
	REQUEST_CANCEL,
	REQUEST_PUT,
	REQUEST_COUNT
};
enum stage { STAGE_IDLE, STAGE_SENT, STAGE_RUN };
enum reply { REPLY_NONE, REPLY_OK, REPLY_REFUSED, REPLY_GONE, REPLY_COUNT };

/* fence: of the caller, or the highest that it knows. seen, seen_fence: what an acquisition names.
 * left: the ticks of the lease that it asks for. may_replace: a put that may replace a timer.
 * is_new: the put found none. lapsed: the server was not named for a moment since the sending. */
struct request {
	uint8_t kind, stage, reply, server, fence, seen, seen_fence, left, generation, version,
	    may_replace, is_new, lapsed;
};

enum timer_kind { TIMER_NONE, TIMER_PENDING, TIMER_CLAIMED, TIMER_RUNNING };

struct timer {
	uint8_t kind, generation, version;
};

/* own: the ticks of the lease. bound: those of the last majority that named the server. */
struct lease {
	uint8_t server, fence, own, bound;
};

/* at: the server that it is connected to. config: the decision by which it has found the server.
 * trust: for how many ticks the server is in effect, as far as the party knows; it has been named
 * for K before. seen: the last version that it has read. dead: the last version known to be
 * settled. restores: nothing starts until the shard is written to the new server. */
struct party {
	struct answer answers[VOTERS];
	struct request request;
	struct lease lease;
	struct timer timer;
	uint8_t at, config, trust, seen, dead, restores;
};

/* over: its cancel, or the put that replaces it, is confirmed. has: the servers that know of this
 * change, a bit each. */
struct history {
	uint8_t over, has, saved, starts;
};

/* An answer that travels. config: 1 + what it says, or 0: there is none. */
struct letter {
	uint8_t party, voter, config, age, sent;
};

struct spent {
	uint8_t failovers, ticks, answers, acquires, delays, resets, restarts, kills, puts, cancels;
};

/* configs: the last decision. serves: the server of each. effect: the last decision by which
 * somebody acquired the shard, or had a call confirmed. ends: how many leases have ended. */
struct state {
	struct server servers[SERVERS];
	struct data saved;
	struct voter voters[VOTERS];
	struct party parties[PARTIES];
	struct letter letter;
	uint8_t configs, serves[CONFIGS], effect, ends, versions, generations;
	struct history history[GENERATIONS];
	struct spent spent;
};

#endif
