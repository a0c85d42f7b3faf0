/* Replicas of a service are replaced one after the other, under load. In other tests a replica may
 * not use all shards, or stands still for longer than its lease. The usual lease is 5 s. */
#include "faults/redis/redis_faults.h"

#include <signal.h>

#include "faults/redis/admin.h"
#include "faults/redis/replicas.h"

enum { REPLICAS = 10, A_SECOND = 700 }; /* replicas, and timers a second beside REPLICA_BEATS */

/* While one member lives, no shard may be without an owner for longer than this: the lease or the
 * heartbeat, and 8 s. */
#define FREE_MAX (DW_SECONDS(5 + 8) * faults_slowness())

/* deploy starts each new replica when the old one has ended. Nobody is killed, so nothing is lost
 * or started again. */
void deploy(struct faults *faults)
{
	size_t count = faults_amount(faults, 4, 3 * (size_t)REPLICAS);
	struct replicas replicas;

	replicas_begin(&replicas, faults, faults->is_long ? REPLICAS : 4,
		       faults->is_long ? A_SECOND : A_SECOND / 4);
	for (size_t i = 0; i < count; i++) {
		unsigned number = (unsigned)(i % (faults->is_long ? REPLICAS : 4));

		replicas_pass(&replicas, faults_between(faults, DW_SECONDS(1), DW_SECONDS(4)));
		replicas_stop(&replicas, number);
		replicas_start(&replicas, number, NULL);
		(void)replicas_wait_ready(&replicas, number); /* it complains itself */
	}
	if (replicas.moves < count)
		faults_fail(faults, "only %zu moves in %zu replacements", replicas.moves, count);
	replicas_finish(&replicas, FREE_MAX);
}

/* replica_refused starts two replicas with fewer rights: one may use the shards 0 to 9, the other
 * only shard 0. They take no more shards than they may use, and the healthy replicas take the
 * others. */
void replica_refused(struct faults *faults)
{
	struct replicas replicas;

	replicas_begin(&replicas, faults, 2, A_SECOND / 4);
	admin_do(&replicas.server, "ACL SETUSER narrow on >word +@all &* ~{" REPLICAS_NAME
				   "}* ~{" REPLICAS_NAME ":0*");
	admin_do(&replicas.server,
		 "ACL SETUSER reader on >word +@all &* %%R~* %%RW~{" REPLICAS_NAME ":00}*");
	replicas_start(&replicas, 2, "narrow");
	replicas_start(&replicas, 3, "reader");
	(void)replicas_wait_ready(&replicas, 2); /* it complains itself */
	(void)replicas_wait_ready(&replicas, 3);
	replicas_pass(&replicas, DW_SECONDS(9));
	replicas_stop(&replicas, 0); /* the other healthy replica must take the rest */
	replicas_pass(&replicas, DW_SECONDS(6));
	replicas_stop(&replicas, 2); /* these two may not write messages of due timers */
	replicas_stop(&replicas, 3);
	replicas_finish(&replicas, FREE_MAX);
}

/* replica_stalled makes a replica stand still. Timers that it had started before start again at
 * another replica, because its verdicts come too late. */
void replica_stalled(struct faults *faults)
{
	size_t count = faults_amount(faults, 1, 10);
	struct replicas replicas;

	replicas_begin(&replicas, faults, 3, A_SECOND / 4);
	for (size_t i = 0; i < count; i++) {
		dw_usec from = faults_now();

		process_signal(&replicas.processes[i % 3], SIGUSR2);
		replicas_pass(&replicas, REPLICA_STALL + DW_SECONDS(10));
		replicas_fault(&replicas, from - DW_SECONDS(3), faults_now());
	}
	replicas_finish(&replicas, FREE_MAX);
}

static void start(struct replicas *replicas, unsigned number)
{
	replicas_start(replicas, number, NULL);
	(void)replicas_wait_ready(replicas, number); /* it complains itself */
}

static void kill_one(struct replicas *replicas, unsigned number)
{
	dw_usec from = faults_now();

	replicas_kill(replicas, number);
	replicas_pass(replicas, faults_between(replicas->faults, 0, DW_SECONDS(3)));
	start(replicas, number);
	replicas_fault(replicas, from - DW_SECONDS(3), faults_now());
}

/* halt_one stops a replica for less than its lease, or for longer. */
static void halt_one(struct replicas *replicas, unsigned number)
{
	dw_usec from = faults_now();

	process_signal(&replicas->processes[number], SIGSTOP);
	replicas_pass(replicas, faults_between(replicas->faults, DW_SECONDS(1), DW_SECONDS(12)));
	process_signal(&replicas->processes[number], SIGCONT);
	replicas_pass(replicas, DW_SECONDS(1));
	replicas_fault(replicas, from - DW_SECONDS(3), faults_now());
}

static void replace_one(struct replicas *replicas, unsigned number)
{
	replicas_stop(replicas, number);
	start(replicas, number);
}

/* replicas_disturbed kills, halts or replaces one of three replicas at random. */
void replicas_disturbed(struct faults *faults)
{
	static void (*const kinds[])(struct replicas *, unsigned) = {kill_one, halt_one,
								     replace_one};
	dw_usec until = faults_now() + (faults->is_long ? DW_MINUTES(10) : DW_SECONDS(20));
	size_t counts[3] = {0};
	struct replicas replicas;

	replicas_begin(&replicas, faults, 3, A_SECOND / 4);
	while (faults_now() < until) {
		unsigned kind = (unsigned)rng_below(&faults->rng, 3);

		kinds[kind](&replicas, (unsigned)rng_below(&faults->rng, 3));
		counts[kind]++;
		replicas_pass(&replicas, faults_between(faults, 0, DW_SECONDS(4)));
	}
	(void)printf("    %zu killed, %zu stood still, %zu replaced\n", counts[0], counts[1],
		     counts[2]); /* only for people */
	replicas_finish(&replicas, FREE_MAX);
}
