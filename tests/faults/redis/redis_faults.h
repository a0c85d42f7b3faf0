/* The crash tests on Redis. */
#ifndef DW_TESTS_REDIS_FAULTS_H
#define DW_TESTS_REDIS_FAULTS_H

#include "faults/faults.h"

/* kill.c */
void kill_owner(struct faults *);
void kill_server(struct faults *);
void kill_both(struct faults *);

/* cancel.c */
void cancel_at_deadline(struct faults *);

/* disturb.c */
void scripts_flushed(struct faults *);
void server_restarted(struct faults *);
void clients_killed(struct faults *);
void clients_paused(struct faults *);
void server_sleeps(struct faults *);
void server_stopped(struct faults *);
void stale_commands(struct faults *);
void server_busy(struct faults *);
void server_demoted(struct faults *);
void all_flushed(struct faults *);
void wrong_types(struct faults *);
void memory_full(struct faults *);
void garbage(struct faults *);

/* own.c */
void owner_stopped(struct faults *);
void owner_died(struct faults *);
void owner_refused(struct faults *);

/* queues.c */
void queues(struct faults *);

/* journal.c */
void journal_outages(struct faults *);
void journal_killed(struct faults *);
void journal_fires(struct faults *);
void journal_fires_killed(struct faults *);

/* failover.c */
void failover_killed(struct faults *);
void failover_asleep(struct faults *);
void failover_cut_off(struct faults *);
void failover_replicated(struct faults *);

/* cluster.c */
void cluster_killed(struct faults *);
void cluster_asleep(struct faults *);
void cluster_failover(struct faults *);
void cluster_taken(struct faults *);
void cluster_moves(struct faults *);

/* peers.c */
void peers_move(struct faults *);
void peers_killed(struct faults *);
void peers_stopped(struct faults *);

/* deploy.c */
void deploy(struct faults *);
void replica_refused(struct faults *);
void replica_stalled(struct faults *);
void replicas_disturbed(struct faults *);

#endif
