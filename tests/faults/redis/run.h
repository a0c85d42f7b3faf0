/* A run: a redis-server, the actors that do their parts of a plan, and the history of all
 * events. */
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
	struct process process; /* pid 0: there is no process */
	struct actor_task task;
	unsigned life;     /* its number in the history */
	size_t unanswered; /* calls without an answer */
	bool ready;        /* the actor has opened the store */
	bool is_owner;
	size_t shards;       /* that a peer has */
	size_t owner_events; /* DW_EVENT_OWNER */
	size_t lost_events;  /* DW_EVENT_OWNER_LOST */
	size_t corrupt_events;
};

struct run {
	struct faults *faults;
	struct redis_server server;    /* with a town: its master now, which the town ends */
	struct sentinel_town *town;    /* NULL: there is one server */
	struct redis_cluster *cluster; /* the same */
	char url[RUN_URL_SIZE];
	bool is_replicated; /* see actor.h */
	struct plan plan;
	bool has_journals;
	dw_outage outage; /* of the owner */
	char journals[PLAN_HANDS][TEMP_SIZE];
	struct history *history;
	struct run_actor actors[PLAN_HANDS];
	unsigned lives;
	dw_usec lease;
	dw_usec longest_turn;
	size_t gained;  /* shards that peers have gained */
	unsigned shown; /* timers with a broken promise */
};

/* run_begin starts a server that loses nothing, and takes a plan made by plan_...(). */
void run_begin(struct run *, struct faults *);

/* run_begin_town: Sentinels watch the server and its replicas. run_follow takes the master that the
 * Sentinels name now. */
void run_begin_town(struct run *, struct faults *, struct sentinel_town *, unsigned replicas);
void run_follow(struct run *);

/* run_begin_cluster: the shards are on the masters of a cluster. run_slot returns the slot of a
 * shard. The parts of the history are the shards. */
void run_begin_cluster(struct run *, struct faults *, struct redis_cluster *);
unsigned run_slot(unsigned shard);

/* run_with_journals gives every actor a journal that outlives its process. The policy is the
 * owner's. */
void run_with_journals(struct run *, dw_outage);

/* run_start starts an actor; run_stop ends it as a service is ended; run_kill kills it, without
 * telling the history. */
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

/* run_drain is the first half of run_finish, run_close the rest. run_end ends the actors: it is
 * part of run_close, or may be called before. The history is only complete after it. */
void run_drain(struct run *);
void run_end(struct run *);
void run_close(struct run *);

/* run_stored: the number of timers in Redis; -1: Redis does not answer. */
long long run_stored(struct run *);

#endif
