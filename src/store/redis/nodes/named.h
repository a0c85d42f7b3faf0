/* Which server a majority of voters names. The voters are the Sentinels of a master, or the masters
 * of a cluster. Each says which server is the master, in which epoch it has decided so, and for how
 * long it has said so.
 *
 * A server is used from when its `length` is NAMED_FOR, and until `until` (steady clock):
 *
 *	length      for so long a majority, all at once, has named it. This time begins when the
 *	            last of them began to say so. It ends when the first of their last answers
 *	            was asked for.
 *	until       NAMED_BOUND after the first of the last answers of a majority was asked for
 *
 * Two majorities share a voter. So before a new server is used, the old one is not used any more,
 * and all leases at the old one have ended, whatever the old one still says. */
#ifndef DW_STORE_REDIS_NAMED_H
#define DW_STORE_REDIS_NAMED_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* A Sentinel notices steps of its clock of more than 2 s, and those of less make the time for which
 * it has named a server wrong by as much. So the two differ by 2 s. */
#define NAMED_FOR DW_SECONDS(6)
#define NAMED_BOUND DW_SECONDS(4)

/* All others use a new server for so much later than its last owner, who writes again what the
 * server does not have. Else a client would be told that a timer does not exist, and it would
 * start. */
#define NAMED_OTHERS DW_SECONDS(1)

enum { VOTERS_MAX = 32, VOTE_SIZE = 280 };

/* What one voter has said last. */
struct vote {
	char server[VOTE_SIZE]; /* host, a space, port; "": it has not answered */
	uint64_t epoch;         /* grows when the voter changes its mind */
	dw_usec asked;          /* when its last answer was asked for */
	dw_usec since;          /* it has named this server since then at the latest */
};

struct nomination {
	char server[VOTE_SIZE]; /* the server that a majority names or has named; "": none yet */
	dw_usec since;          /* the latest time since when one of the majority says so */
	dw_usec until;
	dw_usec length; /* for how long a majority, all at once, has named it */
};

/* vote_take takes an answer that is read `now`: the voter has named the server for `age`. If it
 * has named it in the same epoch before, what it said then counts. */
void vote_take(struct vote *, const struct vote *answer, dw_usec now, dw_usec age);

/* named_count counts the votes of `count` voters, of which `majority` must agree. Returns true if
 * a majority names a server; otherwise *ret_named stays as it is. */
bool named_count(struct nomination *ret_named, const struct vote *votes, unsigned count,
		 unsigned majority, dw_usec now);

/* named_majority returns how many of all voters must agree. */
static inline unsigned named_majority(unsigned voters)
{
	return voters / 2 + 1;
}

/* named_others returns how many masters of a cluster must name a new master in place of another
 * one, without its own word. The last one has its own word and those of others, together a
 * majority; so it takes so many others that one of them would have to name both. */
static inline unsigned named_others(unsigned masters)
{
	return masters - masters / 2;
}

static inline bool named_is_usable(const struct nomination *named, bool is_owner, dw_usec now)
{
	return named->length >= NAMED_FOR + (is_owner ? 0 : NAMED_OTHERS) && now < named->until;
}

#endif
