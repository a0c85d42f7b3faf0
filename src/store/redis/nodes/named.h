/* Which server a majority of voters names. The voters are the Sentinels of a master, or the masters
 * of a cluster. Each voter says which server is the master, in which epoch it has decided this, and
 * for how long it has named that server.
 *
 * A server is used from when its `length` reaches NAMED_FOR, and until `until` (steady clock):
 *
 *	length      for how long a majority, all at once, has named it. This time begins when the
 *	            last of these voters began to name it. It ends at the earliest time at which
 *	            one of their last answers was asked for.
 *	until       NAMED_BOUND after that earliest time
 *
 * Two majorities share a voter. So before a new server is used, the old server is no longer used,
 * and all leases at the old server have ended, whatever it still says. */
#ifndef DW_STORE_REDIS_NAMED_H
#define DW_STORE_REDIS_NAMED_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* A Sentinel notices if its clock steps by more than 2 s. A smaller step falsifies the time for
 * which the Sentinel has named a server, by up to 2 s. So the two bounds differ by 2 s. */
#define NAMED_FOR DW_SECONDS(6)
#define NAMED_BOUND DW_SECONDS(4)

/* All others use a new server this much later than its last owner, because that owner first writes
 * again what the server does not have. Otherwise a client would be told that a timer does not
 * exist, and then the timer would start. */
#define NAMED_OTHERS DW_SECONDS(1)

enum { VOTERS_MAX = 32, VOTE_SIZE = 280 };

/* The last answer of one voter. */
struct vote {
	char server[VOTE_SIZE]; /* host, a blank and port; "": the voter has not answered */
	uint64_t epoch;         /* it grows when the voter names another server */
	dw_usec asked;          /* when this answer was asked for */
	dw_usec since;          /* the voter has named this server at least since then */
};

struct nomination {
	char server[VOTE_SIZE]; /* the server that a majority names or has named; "": none yet */
	dw_usec since;          /* when the last voter of the majority began to name the server */
	dw_usec until;
	/* For how long all voters of the majority have named the server together. */
	dw_usec length;
};

/* vote_take takes an answer that is read at the time `now`. The voter says that it has named the
 * server for `age`. If it named the same server in the same epoch before, the time of the earlier
 * answer counts. */
void vote_take(struct vote *, const struct vote *answer, dw_usec now, dw_usec age);

/* named_count counts the votes of `count` voters, of which `majority` must agree. Returns true if a
 * majority names a server; otherwise *ret_named stays as it is. */
bool named_count(struct nomination *ret_named, const struct vote *votes, unsigned count,
		 unsigned majority, dw_usec now);

/* named_majority returns how many of all voters must agree. */
static inline unsigned named_majority(unsigned voters)
{
	return voters / 2 + 1;
}

/* named_others returns how many other masters of a cluster must name a new master before it may be
 * used. Its own word does not count. The master that it replaces may still be named by itself and
 * others, together a majority. With this number, one of them would have to name both, which no
 * master does. */
static inline unsigned named_others(unsigned masters)
{
	return masters - masters / 2;
}

static inline bool named_is_usable(const struct nomination *named, bool is_owner, dw_usec now)
{
	return named->length >= NAMED_FOR + (is_owner ? 0 : NAMED_OTHERS) && now < named->until;
}

#endif
