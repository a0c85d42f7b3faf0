/* Examines the servers beside a server: its replicas, its cluster, and the Sentinels. */
#ifndef DW_CLI_DOCTOR_NODES_H
#define DW_CLI_DOCTOR_NODES_H

#include "cli/doctor/facts.h"

/* What helps if a master and its replicas are gone for good. */
#define NODES_FIX                                                                                  \
	"redis-cli --cluster fix HOST:PORT --cluster-fix-with-unreachable-masters gives its "      \
	"slots to the others, where a running owner writes their timers again"

/* nodes_judge judges what is no server that answers: a Sentinel, or a node that is away. Returns
 * false if it is a server. */
bool nodes_judge(const struct server *);

/* What a master says of its replicas, and a node of its cluster. */
void nodes_judge_replicas(const struct server *);
void nodes_judge_cluster(const struct server *);

#endif
