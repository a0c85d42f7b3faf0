/* A service of several replicas on one server, and the judge of what they report. Every confirmed
 * timer starts, or becomes a message that is taken, exactly once. So does each occurrence of a
 * recurring timer. A timer may start again only near a fault. While the service runs, the test
 * watches the leases of all shards. */
#ifndef DW_TESTS_REDIS_REPLICAS_H
#define DW_TESTS_REDIS_REPLICAS_H

#include <hiredis/hiredis.h>
#include <stdio.h>

#include "faults/faults.h"
#include "faults/process.h"
#include "faults/redis/replica.h"
#include "faults/redis/run.h"

#define REPLICAS_NAME "service"
enum { REPLICAS_MAX = 11, LIVES_MAX = 128, FAULTS_MAX = 128, REPEATS_MAX = 2048 };

/* What the test knows about one timer or one occurrence. */
struct start_count {
	bool confirmed;
	uint8_t starts;
};

/* The timers of one life of a replica, or the occurrences of one recurring timer. */
struct start_list {
	struct start_count *all;
	size_t count;
};

struct repeat {
	char id[DW_ID_SIZE];
	dw_usec due;
	unsigned attempt;
};

struct lateness {
	dw_usec *all;
	size_t count, room;
};

struct replicas {
	struct faults *faults;
	struct redis_server server;
	char url[RUN_URL_SIZE];
	redisContext *watch;
	struct process processes[REPLICAS_MAX];
	struct replica_task tasks[REPLICAS_MAX];
	bool ready[REPLICAS_MAX];
	unsigned lives, a_second, beat_count;
	struct start_list timers[LIVES_MAX], beats[REPLICA_BEATS];
	struct lateness fired, taken;
	dw_usec began;
	FILE *notes; /* what the replicas log; a failed test keeps this file */
	struct {
		dw_usec from, until;
	} disturbed[FAULTS_MAX];
	size_t disturbed_count, outages;
	struct repeat repeats[REPEATS_MAX];
	size_t repeated; /* the number of repeats */

	/* The state of the watch on the shards. */
	bool watches;
	dw_usec free_since[RUN_SHARDS], longest_free;
	unsigned longest_shard;
	size_t moves;
	char holders[RUN_SHARDS][64];
};

/* replicas_begin starts a server and `count` replicas, and waits until each has shards. Together
 * they put a_second timers a second and REPLICA_BEATS recurring ones, or fewer on a slow
 * machine. */
void replicas_begin(struct replicas *, struct faults *, unsigned count, unsigned a_second);

/* replicas_start starts a replica, with this user of the server, or the default user if NULL.
 * replicas_stop ends a replica as a service manager does. replicas_kill kills a replica. */
void replicas_start(struct replicas *, unsigned number, const char *user);
bool replicas_wait_ready(struct replicas *, unsigned number);
void replicas_stop(struct replicas *, unsigned number);
void replicas_kill(struct replicas *, unsigned number);

/* replicas_pass lets time pass. replicas_fault tells the judge that timers due in this time may
 * start again. */
void replicas_pass(struct replicas *, dw_usec duration);
void replicas_fault(struct replicas *, dw_usec from, dw_usec until);

/* replicas_held returns how many shards have an owner with a valid lease. */
unsigned replicas_held(const struct replicas *);

/* replicas_finish ends all replicas, and judges. No shard may have been without an owner for longer
 * than free_max. */
void replicas_finish(struct replicas *, dw_usec free_max);

#endif
