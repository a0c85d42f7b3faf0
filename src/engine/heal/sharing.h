/* What a peer notices of all peers, and tells the program: clocks that differ, too few shards,
 * shards that nobody has, and why this peer cannot give shards away. */
#ifndef DW_ENGINE_SHARING_H
#define DW_ENGINE_SHARING_H

#include <stdbool.h>

#include "durawheel/store.h"

struct engine;

#define SHARING_WORDS 160

struct sharing {
	dw_usec looked;     /* wall clock; when the store was asked last */
	dw_sharing last;    /* what the store has said then */
	bool clock_is_told; /* the program was told that the clock differs */
	bool few_is_told;   /* the program was told that there are few shards for so many peers */
	bool was_loaded;    /* all timers of this peer were in memory once */
	/* Steady; since when timers are being loaded; 0: none is being loaded. */
	dw_usec loads_since;
};

void sharing_round(struct engine *, dw_usec now);

/* sharing_loads returns true if a peer loads timers for the first time, or has been loading for
 * long. A shard that moves is loaded in a moment, which does not count. */
bool sharing_loads(const struct engine *);

/* sharing_unowned returns how many shards have had no owner for long. */
unsigned sharing_unowned(const struct engine *);

/* sharing_busy writes the topics of the deliveries that keep this peer from giving a shard away,
 * and for how long they have run: "orders (20 s), mail (3 s)". It returns in how many of its shards
 * deliveries run; 0 if it has not too many shards. */
unsigned sharing_busy(struct engine *, char ret_words[SHARING_WORDS]);

/* sharing_lacks writes the topics of due timers that have no handler here: "orders (5)". It returns
 * how many such timers there are. */
uint64_t sharing_lacks(struct engine *, char ret_words[SHARING_WORDS]);

#endif
