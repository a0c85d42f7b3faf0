/* Examines the servers beside a server: its replicas, its cluster, and the Sentinels. */
#ifndef DW_CLI_DOCTOR_NODES_H
#define DW_CLI_DOCTOR_NODES_H

#include "cli/doctor/facts.h"

/* The advice if a master and its replicas are gone for good. */
#define NODES_FIX                                                                                  \
	"redis-cli --cluster fix HOST:PORT --cluster-fix-with-unreachable-masters gives its "      \
	"slots to the others, where a running owner writes their timers again"

/* nodes_judge examines a Sentinel, or a node that does not answer. Returns false for any other
 * server. */
bool nodes_judge(const struct server *);

/* nodes_judge_replicas examines what a master reports about its replicas. nodes_judge_cluster
 * examines what a node reports about its cluster. */
void nodes_judge_replicas(const struct server *);
void nodes_judge_cluster(const struct server *);

#endif
