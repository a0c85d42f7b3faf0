/* The times in which a server may have confirmed what the one that took its place does not have. */
#ifndef SIM_SERVERS_GAPS_H
#define SIM_SERVERS_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/durawheel.h"

#define GAPS_MAX 256u

struct servers;
struct site;

struct gap {
	uint64_t parts;        /* the shards */
	dw_usec from;          /* wall */
	dw_usec until;         /* wall; DW_NEVER: nobody has used the new server yet */
	const struct site *at; /* the new server */
};

struct gaps {
	struct gap list[GAPS_MAX];
	unsigned count;
};

/* gaps_begin: the site leads these shards from now on, and lacks what was written since then
 * (steady). */
void gaps_begin(struct servers *, const struct site *, uint64_t parts, dw_usec since);

/* gaps_used: a script was carried out there. From now on what it confirms is true. */
void gaps_used(struct servers *, const struct site *, unsigned shard);

/* gaps_tell tells the history. */
void gaps_tell(struct servers *);

#endif
