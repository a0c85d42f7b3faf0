#include "store/redis/nodes/named.h"

#include <string.h>

#include "base/usec.h"

void vote_take(struct vote *vote, const struct vote *answer, dw_usec now, dw_usec age)
{
	bool goes_on = vote->epoch == answer->epoch && strcmp(vote->server, answer->server) == 0;
	dw_usec since = goes_on ? vote->since : usec_sub(now, usec_max(age, 0));

	*vote = *answer;
	vote->since = since;
}

/* counts returns true if the vote is for the server, and its answer is not too old. */
static bool counts(const struct vote *vote, const char *server, dw_usec now)
{
	return now < usec_add(vote->asked, NAMED_BOUND) && strcmp(vote->server, server) == 0;
}

/* asked_by returns the time since which all voters of a majority were asked, if each of them has
 * named the server at least since named->since. If there are several such majorities, it returns
 * the latest time. INT64_MIN: there is no such majority. */
static dw_usec asked_by(const struct nomination *named, const struct vote *votes, unsigned count,
			unsigned majority, dw_usec now)
{
	dw_usec latest = INT64_MIN;

	for (unsigned i = 0; i < count; i++) {
		unsigned agree = 0;

		for (unsigned k = 0; k < count; k++)
			agree += counts(&votes[k], named->server, now) &&
				 votes[k].since <= named->since && votes[k].asked >= votes[i].asked;
		if (agree >= majority)
			latest = usec_max(latest, votes[i].asked);
	}
	return latest;
}

/* prove looks for the majority that has named the server for the longest time. */
static void prove(struct nomination *named, const struct vote *votes, unsigned count,
		  unsigned majority, dw_usec now)
{
	dw_usec since = DW_NEVER, longest = INT64_MIN;

	for (unsigned i = 0; i < count; i++) {
		dw_usec asked, length;

		if (!counts(&votes[i], named->server, now))
			continue;
		named->since = votes[i].since;
		asked = asked_by(named, votes, count, majority, now);
		length = asked == INT64_MIN ? INT64_MIN : usec_sub(asked, votes[i].since);
		if (length > longest) {
			longest = length;
			since = votes[i].since;
		}
	}
	named->since = since;
	named->length = longest;
}

bool named_count(struct nomination *ret_named, const struct vote *votes, unsigned count,
		 unsigned majority, dw_usec now)
{
	struct nomination named = {.since = DW_NEVER};

	for (unsigned i = 0; i < count; i++) {
		dw_usec asked;

		if (!votes[i].server[0])
			continue;
		memcpy(named.server, votes[i].server, sizeof named.server);
		asked = asked_by(&named, votes, count, majority, now);
		if (asked == INT64_MIN)
			continue;
		named.until = usec_add(asked, NAMED_BOUND);
		prove(&named, votes, count, majority, now);
		*ret_named = named;
		return true;
	}
	return false;
}
