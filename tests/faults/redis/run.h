/* A redis-server, the actors that do their parts of a plan, and the history of all events. */
#ifndef DW_TESTS_REDIS_RUN_H
#define DW_TESTS_REDIS_RUN_H

#include "faults/process.h"
#include "faults/redis/actor.h"
#include "support/history.h"
#include "support/redis_cluster.h"
#include "support/redis_server.h"
#include "support/sentinel_town.h"

#define RUN_NAME "crash"
#define RUN_SHARDS 16
#define RUN_URL_SIZE (TEMP_SIZE + 16)

/* After a fault of the server the owner may find that its lease has ended. For this time it may
 * repeat starts since the fault. */
#define RUN_AFTER (DW_SECONDS(4) * faults_slowness())

struct run_actor {
	struct process process; /* pid 0: the process does not run */
	struct actor_task task;
	unsigned life;     /* the number of its process in the history */
	size_t unanswered; /* the number of calls without an answer */
	bool ready;        /* the actor has opened the store */
	bool is_owner;
	size_t shards;       /* the number of shards that a peer has */
	size_t owner_events; /* the number of DW_EVENT_OWNER */
	size_t lost_events;  /* the number of DW_EVENT_OWNER_LOST */
	size_t corrupt_events;
};

struct run {
	struct faults *faults;
	struct redis_server server;    /* with a town: its present master, which the town ends */
	struct sentinel_town *town;    /* NULL: there is one server */
	struct redis_cluster *cluster; /* NULL: there is no cluster */
	char url[RUN_URL_SIZE];
	bool is_replicated; /* see actor.h */
	struct plan plan;
	bool has_journals;
	dw_outage outage; /* the policy of the owner */
	char journals[PLAN_HANDS][TEMP_SIZE];
	struct history *history;
	struct run_actor actors[PLAN_HANDS];
	unsigned lives;
	dw_usec lease;
	dw_usec longest_turn;
	size_t gained;  /* the number of shards that peers have gained */
	unsigned shown; /* the number of shown timers with a broken promise */
};

/* run_begin starts a server that keeps all data. The caller then makes a plan by plan_...(). */
void run_begin(struct run *, struct faults *);

/* run_begin_town does the same for a server and its replicas that Sentinels watch. run_follow uses
 * the master that the Sentinels name now. */
void run_begin_town(struct run *, struct faults *, struct sentinel_town *, unsigned replicas);
void run_follow(struct run *);

/* run_begin_cluster does the same for a cluster, whose masters share the shards. run_slot returns
 * the slot of a shard. The parts of the history are the shards. */
void run_begin_cluster(struct run *, struct faults *, struct redis_cluster *);
unsigned run_slot(unsigned shard);

/* run_with_journals gives every actor a journal that outlives its process. `outage` is the policy
 * of the owner. */
void run_with_journals(struct run *, dw_outage);

/* run_start starts an actor. run_stop ends it as a service manager does. run_kill kills it, and
 * does not tell the history. */
void run_start(struct run *, unsigned hand, dw_role);
void run_stop(struct run *, unsigned hand);
void run_kill(struct run *, unsigned hand);

/* run_pump handles events until this time. */
void run_pump(struct run *, dw_usec until);
void run_pass(struct run *, dw_usec duration);

/* run_wait_ready waits until the actor has opened the store. */
bool run_wait_ready(struct run *, unsigned hand);

/* run_finish waits until the plan is done and the store is empty. Then it ends all actors and the
 * server, and checks the history. */
void run_finish(struct run *);

/* run_drain is the first half of run_finish, and run_close is the rest. run_end ends the actors. It
 * is a part of run_close, or the caller calls it before. The history is complete only after
 * run_end. */
void run_drain(struct run *);
void run_end(struct run *);
void run_close(struct run *);

/* run_stored returns the number of timers in Redis, or -1 if Redis does not answer. */
long long run_stored(struct run *);

#endif
