/* A fault in one shard stays in it. While the server refuses some shards, and nothing else is
 * disturbed,
 *	S1  timers of all other shards start in time, and calls about them are answered DW_OK;
 *	S2  after the refusal the timers of its shards start in time, too;
 *	S3  no other shard is read again, or lost;
 *	S4  the owner's program is told once when a shard is refused and once when it is back, and
 *	    of no other trouble, unless all shards are refused. */
#ifndef SIM_FLEET_APART_H
#define SIM_FLEET_APART_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "sim/fleet/server.h"

struct fleet;
struct process;

/* What the program of a process was told. */
struct heard {
	bool failed[SHARDS_MAX_SIM];
};

/* apart_event: the program of the process at work gets an event. */
void apart_event(struct fleet *, const dw_event *);

/* apart_must_work: a call about that id that was made at that time (steady) must not fail. */
bool apart_must_work(const struct fleet *, const char *id, dw_usec since);

/* apart_submitted: the engine of the process at work asks its store. */
void apart_submitted(struct fleet *, const dw_op *);

/* apart_watch checks what is late. */
void apart_watch(struct fleet *);

#endif
