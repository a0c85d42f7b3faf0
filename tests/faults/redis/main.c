/* crash_redis: kills, stops and disturbs owners, clients and servers on Redis, as real processes.
 * Its usage is that of crash (../main.c). */
#include "faults/redis/redis_faults.h"

static const struct faults_test tests[] = {
    {"kill_owner", kill_owner},
    {"kill_server", kill_server},
    {"kill_both", kill_both},
    {"cancel_at_deadline", cancel_at_deadline},
    {"scripts_flushed", scripts_flushed},
    {"server_restarted", server_restarted},
    {"clients_killed", clients_killed},
    {"clients_paused", clients_paused},
    {"server_sleeps", server_sleeps},
    {"server_stopped", server_stopped},
    {"stale_commands", stale_commands},
    {"server_busy", server_busy},
    {"server_demoted", server_demoted},
    {"wrong_types", wrong_types},
    {"memory_full", memory_full},
    {"garbage", garbage},
    {"all_flushed", all_flushed},
    {"owner_stopped", owner_stopped},
    {"owner_died", owner_died},
    {"owner_refused", owner_refused},
    {"queues", queues},
    {"journal_outages", journal_outages},
    {"journal_killed", journal_killed},
    {"journal_fires", journal_fires},
    {"journal_fires_killed", journal_fires_killed},
    {"failover_killed", failover_killed},
    {"failover_asleep", failover_asleep},
    {"failover_cut_off", failover_cut_off},
    {"failover_replicated", failover_replicated},
    {"cluster_killed", cluster_killed},
    {"cluster_asleep", cluster_asleep},
    {"cluster_failover", cluster_failover},
    {"cluster_taken", cluster_taken},
    {"cluster_moves", cluster_moves},
    {"peers_move", peers_move},
    {"peers_killed", peers_killed},
    {"peers_stopped", peers_stopped},
    {"deploy", deploy},
    {"replica_refused", replica_refused},
    {"replica_stalled", replica_stalled},
    {"replicas_disturbed", replicas_disturbed},
};
enum { TESTS = sizeof tests / sizeof tests[0] };

int main(int argc, char **argv)
{
	return faults_main(argc, argv, tests, TESTS);
}
