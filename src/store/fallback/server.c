/* Writes into the file what is known of the server and its clock, for use while the server is
 * away. */
#include <string.h>

#include "base/usec.h"
#include "store/fallback/core.h"

#define NOTE_PAUSE DW_SECONDS(1)

static void guess_floor(struct fallback *fallback, dw_replay *stamp)
{
	struct journal *journal = &fallback->journal;
	dw_usec guess = usec_add((dw_usec)stamp->floor, journal->origin.ahead);

	stamp->floor = (uint64_t)usec_max(guess, 0);
	if (stamp->floor < journal->origin.floor)
		stamp->floor = journal->origin.floor;
	if (stamp->floor <= journal->floor)
		stamp->floor = journal->floor + 1;
	journal->floor = stamp->floor;
}

void server_stamp(struct fallback *fallback, const char *id, dw_replay *ret_stamp)
{
	*ret_stamp = (dw_replay){0};
	fallback->front->type->stamp(fallback->front, id, ret_stamp);
	if (ret_stamp->flags & DW_REPLAY_UNSURE)
		guess_floor(fallback, ret_stamp);
}

void server_note(struct fallback *fallback, bool at_once)
{
	const struct origin *known = &fallback->journal.origin;
	struct origin origin = {.ahead = 0};
	bool is_other;

	if (fallback->now < fallback->note_at && !at_once)
		return;
	fallback->note_at = usec_add(fallback->now, NOTE_PAUSE);
	fallback->front->type->origin(fallback->front, &origin.server);
	is_other = strcmp(known->server.address, origin.server.address) != 0;
	if (origin.server.clock == 0 && !is_other)
		return;
	origin.floor = origin.server.floor;
	if (origin.server.clock != 0)
		origin.ahead =
		    usec_sub(origin.server.clock, fallback->env.now(fallback->env.now_user));
	if (at_once || is_other || origin_is_old(known, &origin.server, origin.ahead))
		journal_note(&fallback->journal, &origin);
}
