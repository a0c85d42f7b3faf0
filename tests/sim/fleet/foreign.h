/* Another program puts a key of its own in the place of a key of a shard. After a while it puts our
 * key back. */
#ifndef SIM_FLEET_FOREIGN_H
#define SIM_FLEET_FOREIGN_H

#include <stdbool.h>

#include "base/usec.h"
#include "redis/reply.h"

struct fleet;
struct packet;

struct foreign {
	unsigned shard;
	dw_usec until; /* steady */
};

void foreign_begin(struct fleet *);

/* foreign_disturbs: there is such a key, or was a moment ago: without the arbiter's lease nobody
 * rebuilds anything. */
bool foreign_disturbs(const struct fleet *);

/* foreign_reply: the server's reply to a command that meets the key; NULL: it does not. */
struct reply *foreign_reply(struct fleet *, const struct packet *, const char *script);

#endif
