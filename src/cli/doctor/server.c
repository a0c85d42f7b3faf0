#include "cli/doctor/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/facts.h"
#include "cli/doctor/nodes.h"
#include "cli/out/text.h"
#include "cli/session.h"
#include "durawheel/facts.h"

#define CONNECTING DW_SECONDS(2)     /* how long Sentinels and nodes may take to answer */
#define LEAST_BULK (2 * 1024 * 1024) /* the least limit for a timer of 1 MiB */

/* ---- Judgements ---------------------------------------------------------------------------- */

static void judge_version(const struct server *server)
{
	const char *valkey = fact(server, "valkey_version"), *redis = fact(server, "redis_version");
	dw_usec latency = fact_number(server, "latency_us");
	char span[TEXT_SPAN_SIZE], slow[CHANGE_SIZE];

	text_span(latency, 1, span);
	find(server->findings,
	     (struct finding){latency > DW_MILLISECONDS(500)  ? FINDING_SICK
			      : latency > DW_MILLISECONDS(20) ? FINDING_ADVICE
							      : FINDING_OK,
			      "server",
			      latency > DW_MILLISECONDS(20)
				  ? server_change(server, slow, "SLOWLOG GET shows slow commands")
				  : ""},
	     "%s: %s %s answers in %s", server->name, valkey ? "Valkey" : "Redis",
	     valkey  ? valkey
	     : redis ? redis
		     : "of an unknown version",
	     span);
}

static void judge_clock(const struct server *server)
{
	dw_usec apart = fact_number(server, "clock_us");
	char span[TEXT_SPAN_SIZE];

	if (!fact(server, "clock_us"))
		return;
	text_span(apart < 0 ? -apart : apart, 1, span);
	if (apart >= -DW_MILLISECONDS(100) && apart <= DW_MILLISECONDS(100))
		find(server->findings, (struct finding){FINDING_OK, "clock", ""},
		     "%s: its clock and that of this machine differ by %s", server->name, span);
	else
		find(server->findings,
		     (struct finding){apart < -DW_SECONDS(1) || apart > DW_SECONDS(1)
					  ? FINDING_SICK
					  : FINDING_ADVICE,
				      "clock", "timedatectl set-ntp true, on both machines"},
		     "%s: the clock of this machine is %s %s that of the server", server->name,
		     span, apart > 0 ? "ahead of" : "behind");
}

/* judge_loading need not recognize a replica, because dw_open() refuses a store on a replica. */
static void judge_loading(const struct server *server)
{
	if (fact_is(server, "loading", "1"))
		find(server->findings,
		     (struct finding){FINDING_SICK, "server", "wait until it has loaded its data"},
		     "%s: it still loads its data", server->name);
}

static void judge_persistence(const struct server *server)
{
	bool has_log =
	    fact_is(server, "aof_enabled", "1") || fact_is(server, "config.appendonly", "yes");
	const char *save = fact(server, "config.save");
	char log[CHANGE_SIZE], sync[CHANGE_SIZE];

	(void)server_change(server, log, "CONFIG SET appendonly yes, and the same in redis.conf");
	if (fact_is(server, "aof_last_write_status", "err") ||
	    fact_is(server, "rdb_last_bgsave_status", "err"))
		find(
		    server->findings,
		    (struct finding){FINDING_SICK, "persist",
				     "look into the log of the server, and free space on its disk"},
		    "%s: it cannot write its data to the disk", server->name);
	if (has_log && fact_is(server, "config.appendfsync", "no"))
		find(server->findings,
		     (struct finding){
			 FINDING_ADVICE, "persist",
			 server_change(server, sync, "CONFIG SET appendfsync everysec")},
		     "%s: appendfsync is no: a power cut loses what the system had not written",
		     server->name);
	else if (has_log)
		find(server->findings, (struct finding){FINDING_OK, "persist", ""},
		     "%s: appendonly is yes, appendfsync is %s", server->name,
		     fact(server, "config.appendfsync") ? fact(server, "config.appendfsync")
							: "not shown");
	else if (save && !*save)
		find(server->findings, (struct finding){FINDING_SICK, "persist", log},
		     "%s: it keeps nothing on its disk: a restart loses all timers", server->name);
	else if (fact(server, "aof_enabled"))
		find(server->findings, (struct finding){FINDING_ADVICE, "persist", log},
		     "%s: it only saves snapshots (%s): a restart loses what came after the last",
		     server->name, save ? save : "settings are not shown");
}

/* judge_memory need not check maxmemory-policy, because dw_open() refuses a store on a server that
 * evicts keys. */
static void judge_memory(const struct server *server)
{
	int64_t most = fact_number(server, "maxmemory"), used = fact_number(server, "used_memory");
	char change[CHANGE_SIZE];

	if (fact_number(server, "evicted_keys") > 0)
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "memory", "durawheel check"},
		     "%s: keys that it has deleted because it was full: %" PRId64, server->name,
		     fact_number(server, "evicted_keys"));
	if (most > 0 && used > most / 100 * 80)
		find(server->findings,
		     (struct finding){
			 used > most / 100 * 95 ? FINDING_SICK : FINDING_ADVICE, "memory",
			 server_change(server, change, "CONFIG SET maxmemory BYTES, with more")},
		     "%s: %" PRId64 " of %" PRId64 " MiB are used", server->name, used >> 20,
		     most >> 20);
	else if (fact(server, "used_memory") && most > 0)
		find(server->findings, (struct finding){FINDING_OK, "memory", ""},
		     "%s: %" PRId64 " of %" PRId64 " MiB are used", server->name, used >> 20,
		     most >> 20);
	else if (fact(server, "used_memory"))
		find(server->findings, (struct finding){FINDING_OK, "memory", ""},
		     "%s: %" PRId64 " MiB are used, without a limit", server->name, used >> 20);
}

/* judge_least gives advice on a limit that is too small for the largest timer. */
static void judge_least(const struct server *server, const char *name)
{
	char key[80], change[CHANGE_SIZE];

	(void)snprintf(key, sizeof key, "config.%s", name); /* it fits */
	if (!fact(server, key) || fact_number(server, key) >= LEAST_BULK)
		return;
	(void)server_change(server, change, "CONFIG SET %s %d", name, LEAST_BULK);
	find(server->findings, (struct finding){FINDING_ADVICE, "limits", change},
	     "%s: %s is %s: timers of 1 MiB do not fit", server->name, name, fact(server, key));
}

/* judge_output examines the limit of normal clients. The setting looks like "normal 0 0 0 slave ...
 * pubsub ...". */
static void judge_output(const struct server *server)
{
	const char *limits = fact(server, "config.client-output-buffer-limit");
	const char *normal = limits ? strstr(limits, "normal ") : NULL;
	int64_t hard = normal ? strtoll(normal + strlen("normal "), NULL, 10) : 0;
	char change[CHANGE_SIZE];

	if (hard > 0 && hard < LEAST_BULK)
		find(server->findings,
		     (struct finding){
			 FINDING_ADVICE, "limits",
			 server_change(server, change,
				       "CONFIG SET client-output-buffer-limit 'normal 0 0 0'")},
		     "%s: client-output-buffer-limit of normal clients is %" PRId64
		     " bytes: large pages are cut off",
		     server->name, hard);
}

static void judge_connections(const struct server *server)
{
	int64_t timeout = fact_number(server, "config.timeout");
	char change[CHANGE_SIZE];

	if (timeout > 0 && timeout < 10)
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "limits",
				      server_change(server, change, "CONFIG SET timeout 0")},
		     "%s: it closes connections that are idle for %" PRId64 " s", server->name,
		     timeout);
	if (fact_is(server, "config.tcp-keepalive", "0"))
		find(
		    server->findings,
		    (struct finding){FINDING_ADVICE, "limits",
				     server_change(server, change, "CONFIG SET tcp-keepalive 300")},
		    "%s: tcp-keepalive is 0: it keeps connections of machines that are gone",
		    server->name);
	judge_least(server, "client-query-buffer-limit");
	judge_least(server, "proto-max-bulk-len");
	judge_output(server);
}

static void judge_right(const struct server *server, const char *command, const char *lacks,
			const char *rights)
{
	char name[40], change[CHANGE_SIZE];

	(void)snprintf(name, sizeof name, "refused.%s", command); /* it fits */
	if (fact(server, name))
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "rights",
				      server_change(server, change, "ACL SETUSER NAME %s", rights)},
		     "%s: %s: %s", server->name, lacks, fact(server, name));
}

static void judge_rights(const struct server *server)
{
	judge_right(server, "INFO", "it does not show INFO", "+info");
	judge_right(server, "TIME", "it does not tell its time", "+time");
	judge_right(server, "CONFIG", "it does not show its settings, so they were not judged",
		    "'+config|get'");
	judge_right(server, "CLUSTER", "it does not say how its cluster is", "'+cluster|info'");
}

static void judge(const struct server *server)
{
	if (nodes_judge(server))
		return;
	judge_version(server);
	judge_clock(server);
	judge_loading(server);
	judge_persistence(server);
	judge_memory(server);
	judge_connections(server);
	judge_rights(server);
	nodes_judge_replicas(server);
	nodes_judge_cluster(server);
}

/* ---- Asking -------------------------------------------------------------------------------- */

struct server_ask {
	struct findings *findings; /* NULL: nothing is judged yet */
	int status;
	bool has_trouble; /* a Sentinel or a node has not answered */
};

/* is_first returns true if no earlier fact is about the same server. */
static bool is_first(const dw_fact *facts, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (strcmp(facts[i].server, facts[number].server) == 0)
			return false;
	return true;
}

/* has_tls returns true if any server uses TLS. Then all servers and Sentinels use TLS. */
static bool has_tls(const dw_fact *facts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(facts[i].server, "rediss:", 7) == 0)
			return true;
	return false;
}

/* has_trouble returns true if a server has not answered yet. */
static bool has_trouble(const dw_fact *facts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(facts[i].name, ".trouble"))
			return true;
	return false;
}

/* server_facts_answered judges each server. The facts about several servers may be mixed. */
static void server_facts_answered(dw *d, int status, const dw_fact *facts, size_t count, void *user)
{
	struct server_ask *ask = user;
	dw_fact *its;

	(void)d;
	ask->status = status;
	ask->has_trouble = has_trouble(facts, count);
	if (!ask->findings)
		return;
	its = malloc((count + 1) * sizeof *its);
	ask->status = status == DW_OK && !its ? DW_ENOMEM : status;
	for (size_t i = 0; i < count && its; i++) {
		struct server server = {.findings = ask->findings,
					.name = facts[i].server,
					.is_tls = has_tls(facts, count),
					.facts = its};

		if (!is_first(facts, i))
			continue;
		for (size_t j = i; j < count; j++)
			if (strcmp(facts[j].server, server.name) == 0)
				its[server.count++] = facts[j];
		judge(&server);
	}
	free(its);
}

static int ask_servers(dw *d, struct server_ask *ask)
{
	int status = dw_facts(d, server_facts_answered, ask);

	if (status == DW_OK)
		status = session_try_sync(d);
	return status == DW_OK ? ask->status : status;
}

/* server_examine asks twice, because a handle that was opened a moment ago may not have reached all
 * Sentinels and nodes yet. */
int server_examine(struct findings *findings, dw *d)
{
	struct server_ask first = {.status = DW_ESTORE};
	struct server_ask ask = {.findings = findings, .status = DW_ESTORE};
	int status = ask_servers(d, &first);
	dw_usec until = session_steady() + CONNECTING;

	while (status == DW_OK && first.has_trouble && session_steady() < until &&
	       session_turn(d, 100) != DW_ESYS)
		;
	return status == DW_OK ? ask_servers(d, &ask) : status;
}
