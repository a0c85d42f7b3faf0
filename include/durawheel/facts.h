/* What the servers of a store say of themselves, for an operator: versions, memory, settings and
 * times. `durawheel doctor` judges them.
 *
 * Only a store in Redis has servers. The facts are words of the server, for example "maxmemory" and
 * "1073741824"; another version of the server may say others. Secrets are not among them. */
#ifndef DURAWHEEL_FACTS_H
#define DURAWHEEL_FACTS_H

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names:
 *	latency_us, clock_us       how long a command took; how far the wall clock of this handle is
 *	                           ahead of the server's; < 0: behind
 *	those of INFO              redis_version, used_memory, role, aof_enabled and so on
 *	those of CLUSTER INFO      of a node of a cluster: cluster_state, cluster_size and so on
 *	replicas.wanted            N of replicas=N in the URL, if it has one
 *	config.NAME                a setting, as CONFIG GET says it: config.appendfsync and so on
 *	refused.COMMAND            the server has refused it; value: its words
 *	sentinel.NAME              of a Sentinel: names, the server that it names; master, under
 *	                           which name; knows, how many Sentinels; quorum; replicas, how
 *	                           many; down_after_ms; tilt. Or only trouble: why it is no help
 *	cluster.trouble            why a node of the cluster does not answer */
typedef struct dw_fact {
	const char *server; /* its address, without secrets */
	const char *name;
	const char *value;
} dw_fact;

/* Called once. The facts are valid until it returns. If status is not DW_OK, facts is NULL. */
typedef void (*dw_facts_fn)(dw *, int status, const dw_fact *facts, size_t count, void *user);

/* dw_facts asks each server of the store that is connected; in a cluster it asks the masters. The
 * answer also has what is known of the Sentinels, and of nodes that do not answer. Any role. The
 * call changes nothing. The handle's thread. DW_EINVAL: the callback is NULL, or the store has no
 * server. DW_ENOMEM, DW_ELIMIT. In the answer DW_ESTORE: no server answers. */
DW_API int dw_facts(dw *, dw_facts_fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
