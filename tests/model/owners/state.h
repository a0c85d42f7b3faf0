/* state: one moment of the model. The world is one id in one shard, and four parties:
 *
 *	A and B   two processes that may own the shard
 *	client    a third one, whose calls are answered at once
 *	server    Redis, which may restart with old data, or without any
 *
 * The structure has bytes only, so that equal states have equal bytes. */
#ifndef MODEL_OWNERS_STATE_H
#define MODEL_OWNERS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define GENERATIONS 4u /* g1 to g3; 0 is none */
#define PARTIES 2u

enum record_kind { RECORD_NONE, RECORD_PENDING, RECORD_CLAIMED };

/* The timer in Redis. fence: of its claim. open: an earlier claim may start yet. */
struct record {
	uint8_t kind, generation, version, attempt, fence, open;
};

/* The token of a lease. fence 0: there is none. life: the nonce; a process that starts again has
 * another one. ask: which of the party's acquisitions has made the lease. */
struct token {
	uint8_t fence, party, life, connection, ask;
};

/* What a server that is set back has as it was. holder: the last owner has not released. mark:
 * the owner's last command. longest: the longest lease, 1 or 2. run: of the server, when the
 * lease was acquired last. inbox: the version of a client's change that the owner has
 * not acknowledged, or 0. */
struct data {
	struct record record;
	struct token lease;
	uint8_t fence, era, version, holder, mark, longest, run, inbox;
};

/* run: counts its starts. young: 2 right after a start, 1 when it is up for a short lease, 0 for a
 * long one. is_old: the lease came back with old data, so it may end at any time. is_behind: its
 * clock is. fences, versions: the highest ever given.
 *
 * keeper: 1 + the party that was the owner when the server stopped. stale: 1: old data is back, and
 * only the keeper knows the rest; 2: it has acquired the shard again. */
struct server {
	struct data data, saved;
	uint8_t up, run, young, is_old, is_behind, fences, versions, keeper, stale;
};

enum request_kind {
	REQUEST_NONE,
	REQUEST_ACQUIRE,
	REQUEST_RENEW,
	REQUEST_RELEASE,
	REQUEST_GIVE,
	REQUEST_WRITE,
	REQUEST_CLAIM,
	REQUEST_SETTLE,
	REQUEST_NEXT
};
enum stage { STAGE_IDLE, STAGE_SENT, STAGE_RUN };
enum reply { REPLY_NONE, REPLY_OK, REPLY_GONE, REPLY_FENCED, REPLY_HELD };

/* What an owner knows of the lease of a shard. */
struct sight {
	struct token lease;
	uint8_t fence, era;
};

/* token: of the caller. seen: what an acquisition names. is_timely: the lease that it asks for
 * would still hold. floor: the highest fence that the caller knows. number: of the owner's last
 * command, as the caller knows it. */
struct request {
	struct token token;
	struct sight seen;
	uint8_t kind, floor, era, generation, version, attempt, is_timely, number;
};

enum timer_kind { TIMER_NONE, TIMER_PENDING, TIMER_CLAIMED, TIMER_RUNNING };

struct timer {
	uint8_t kind, generation, version, attempt;
};

enum role { ROLE_NONE, ROLE_LOADING, ROLE_OWNER };

/* lease: it may start timers. proof: nobody else can have had the shard since. asks: the lease
 * that it has asked for last would still hold; 1 + the run of the server then. run: of the
 * server, when the lease was confirmed last. restores: nothing of the shard starts. writes: 1:
 * the shard is to be acquired again and restored; 2: it is acquired. before: what the server runs
 * of the other party came later. refused: the server was away for a lease. dead: the highest
 * version known to be gone. seen: the highest known. told: the highest fence that it had. ask:
 * how often it has asked. from: the first acquisition since the last answer. held: which of these
 * acquisitions gave it the lease. gives: it has sent a release, and does not know yet whether the
 * shard is still its own. */
struct party {
	struct timer timer;
	struct request request, late;
	struct sight reply_seen;
	uint8_t up, life, connection, ask, from, held, linked, role, fence, era, told, lease, proof,
	    asks, run, restores, writes, before, refused, dead, seen, mark, gives;
	uint8_t stage, reply, reply_number, reply_version;
};

/* What was promised about one generation, and what became of it. ended: nothing must start any
 * more. attempt: the highest that was started. */
struct history {
	uint8_t confirmed, cancelled, settled, ended, starts, attempt;
};

struct spent {
	uint8_t faults, saves, releases, puts, cancels, nexts, jumps, gives, losses;
};

struct state {
	struct server server;
	struct party parties[PARTIES];
	uint8_t generations;
	struct history history[GENERATIONS];
	struct spent spent;
};

#endif
