/* Planted bugs of single shards, between the engine and the Redis store. */
#ifndef SIM_FLEET_SHARD_BUGS_H
#define SIM_FLEET_SHARD_BUGS_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "port/op.h"
#include "sim/fleet/server.h"

struct process;
struct sim;

struct shard_bugs {
	struct process *process;
	unsigned lost_next;                 /* the next shard that is said to be lost */
	unsigned lost_end;                  /* no shard from this one on */
	unsigned under_way[SHARDS_MAX_SIM]; /* operations without an answer */
	struct op_queue held;               /* answers that wait */
	dw_op *given;                       /* a GIVE that the engine does not know; NULL: none */
};

void shard_bugs_submit(struct shard_bugs *, dw_op *);

/* shard_bugs_collect returns the answers that the engine gets of these. */
dw_op *shard_bugs_collect(struct shard_bugs *, dw_op *answers);
int shard_bugs_take(struct shard_bugs *, dw_store *real, dw_shard_news *ret_news);

/* shard_bugs_answer changes an answer. shard_bugs_surplus is called when a peer has too many
 * shards. */
void shard_bugs_answer(struct shard_bugs *, dw_op *);
void shard_bugs_surplus(struct shard_bugs *, dw_store *real);

/* shard_bugs_begin returns true if any lease is said to hold. */
bool shard_bugs_begin(const struct sim *);

#endif
