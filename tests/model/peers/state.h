/* state: one moment of the model. The world is a server with some shards, and members that share
 * them. A member is a process; after a kill its place is taken by a new one.
 *
 * The structure has bytes only, so that equal states have equal bytes. Sets of shards are masks. */
#ifndef MODEL_PEERS_STATE_H
#define MODEL_PEERS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define MEMBERS 3u
#define SHARDS 4u /* a world may have fewer */

/* What a member has said of itself. room: how many shards it can hold. */
struct entry {
	uint8_t in, held, since, room;
};

/* lease: 1 + the member that has it, or 0. last: 1 + the last one that had it and has not released.
 * joins: how many members there were. emptied: the data was lost, and not all is restored yet. */
struct server {
	struct entry list[MEMBERS];
	uint8_t shards, lease[SHARDS], last[SHARDS], joins, emptied;
};

/* over: its leases are over, by its own clock. refused: the server refuses that it acquires
 * anything. held: the shards that it takes for its own. listed: it has been in the list. share,
 * part: how many shards it should have, and which free ones it takes, by the list that it read
 * last. waits: the list has forgotten it, so it takes nothing for a while. */
struct member {
	uint8_t up, since, young, paused, over, refused, held, listed, share, part, room, waits;
};

struct spent {
	uint8_t joins, leaves, kills, pauses, losses, refusals;
};

struct state {
	struct server server;
	struct member members[MEMBERS];
	struct spent spent;
};

#endif
