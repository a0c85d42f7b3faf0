/* What peers promise of the shards that they give away: the shard is quiet (A3), and nobody gives
 * one for a peer that has just started (A2). */
#ifndef SIM_FLEET_PEERS_H
#define SIM_FLEET_PEERS_H

#include "base/usec.h"

#define LIVES_MAX 16u

struct effect;
struct fleet;
struct process;

/* The last lives of a process, the last one first, as the list of peers knows them. A killed one is
 * in the list for a while. */
struct listed {
	char nonces[LIVES_MAX][20];
	dw_usec settled_at[LIVES_MAX]; /* steady: when it last had a share; 0: never */
};

/* peers_watch looks at the list of peers. */
void peers_watch(struct fleet *);

/* peers_released is called when the server has carried out a release. */
void peers_released(const struct effect *);

/* peers_gives is called when the process is about to give a shard away. */
void peers_gives(struct fleet *, const struct process *);

/* peers_running returns a shard of the process in which a delivery runs; -1: there is none. */
int peers_running(const struct fleet *, const struct process *);

#endif
