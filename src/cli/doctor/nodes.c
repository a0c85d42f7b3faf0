#include "cli/doctor/nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/text.h"

#define SLOTS 16384
#define LATE_S 5                      /* a replica is late if it has sent nothing for longer */
#define LATE_BYTES (16 * 1024 * 1024) /* a replica is late if it lacks more */

/* ---- Replicas ------------------------------------------------------------------------------ */

/* judge_replica judges a line like "ip=1.2.3.4,port=6379,state=online,offset=1,lag=0". */
static void judge_replica(const struct server *server, const char *line)
{
	char ip[80], port[8], state[24], offset[24], lag[12], change[CHANGE_SIZE];
	struct finding late = {FINDING_ADVICE, "replica", change};
	int64_t lacks;

	fact_field(line, "ip", ip, sizeof ip);
	fact_field(line, "port", port, sizeof port);
	fact_field(line, "state", state, sizeof state);
	fact_field(line, "offset", offset, sizeof offset);
	fact_field(line, "lag", lag, sizeof lag);
	lacks = fact_number(server, "master_repl_offset") - strtoll(offset, NULL, 10);
	(void)snprintf(change, sizeof change,
		       "look into its log and at the network: redis-cli -h %.80s -p %.8s INFO "
		       "replication",
		       ip, port); /* it fits */
	if (strcmp(state, "online") != 0)
		find(server->findings, late, "%s: its replica %s:%s is not ready: %s", server->name,
		     ip, port, state);
	else if (strtoll(lag, NULL, 10) > LATE_S)
		find(server->findings, late, "%s: its replica %s:%s has told nothing for %s s",
		     server->name, ip, port, lag);
	else if (lacks > LATE_BYTES)
		find(server->findings, late,
		     "%s: its replica %s:%s is late: it lacks %" PRId64 " MiB", server->name, ip,
		     port, lacks >> 20);
	else
		find(server->findings, (struct finding){FINDING_OK, "replica", ""},
		     "%s: its replica %s:%s follows", server->name, ip, port);
}

/* is_followed returns true if the name is "slave0", "slave1" and so on. */
static bool is_followed(const char *name)
{
	return strncmp(name, "slave", 5) == 0 && name[5] != '\0' &&
	       strspn(name + 5, "0123456789") == strlen(name + 5);
}

/* judge_wanted checks that the server has as many replicas as the URL wants. */
static void judge_wanted(const struct server *server)
{
	int64_t wanted = fact_number(server, "replicas.wanted");
	int64_t has = fact_number(server, "connected_slaves");

	if (has < wanted)
		find(server->findings,
		     (struct finding){FINDING_SICK, "replica",
				      "start the replicas that are away, or want fewer"},
		     "%s: the URL has replicas=%" PRId64 ", and it has %" PRId64
		     ": changes are stored, but not replicated",
		     server->name, wanted, has);
}

void nodes_judge_replicas(const struct server *server)
{
	bool is_guarded = strchr(server->name, '(') != NULL; /* by Sentinels, or its cluster */

	judge_wanted(server);
	for (size_t i = 0; i < server->count; i++)
		if (is_followed(server->facts[i].name))
			judge_replica(server, server->facts[i].value);
	if (is_guarded && fact_is(server, "connected_slaves", "0"))
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "replica", "add a replica of this master"},
		     "%s: it has no replica: without it, its timers wait until it is back",
		     server->name);
}

/* ---- A cluster ----------------------------------------------------------------------------- */

static void judge_slots(const struct server *server)
{
	int64_t without = SLOTS - fact_number(server, "cluster_slots_assigned");
	int64_t failing = fact_number(server, "cluster_slots_fail");
	char change[CHANGE_SIZE], fix[CHANGE_SIZE];

	(void)server_change(
	    server, change,
	    "CLUSTER NODES shows which master is away: start it, or let its replica take over with "
	    "CLUSTER FAILOVER TAKEOVER; if both are gone for good, " NODES_FIX);
	(void)server_change(server, fix,
			    "--cluster fix HOST:PORT, with one of the nodes, shares them out");
	if (without > 0)
		find(server->findings, (struct finding){FINDING_SICK, "slots", fix},
		     "%s: slots without a master: %" PRId64, server->name, without);
	if (failing > 0)
		find(server->findings, (struct finding){FINDING_SICK, "slots", change},
		     "%s: slots whose master is away: %" PRId64, server->name, failing);
	else if (without == 0 && !fact_is(server, "cluster_state", "ok"))
		find(server->findings, (struct finding){FINDING_SICK, "cluster", change},
		     "%s: it says that the cluster is down: cluster_state is %s", server->name,
		     fact(server, "cluster_state"));
	else if (without == 0)
		find(server->findings, (struct finding){FINDING_OK, "cluster", ""},
		     "%s: all slots have a master; masters: %" PRId64 ", nodes: %" PRId64,
		     server->name, fact_number(server, "cluster_size"),
		     fact_number(server, "cluster_known_nodes"));
}

void nodes_judge_cluster(const struct server *server)
{
	char change[CHANGE_SIZE];

	if (!fact(server, "cluster_state"))
		return;
	judge_slots(server);
	if (fact_is(server, "config.cluster-require-full-coverage", "yes"))
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "cluster",
				      server_change(server, change,
						    "CONFIG SET cluster-require-full-coverage no, "
						    "and the same in redis.conf")},
		     "%s: cluster-require-full-coverage is yes: one master that is away stops the "
		     "timers of all",
		     server->name);
}

/* ---- Sentinels ----------------------------------------------------------------------------- */

static void judge_quorum(const struct server *server)
{
	int64_t knows = fact_number(server, "sentinel.knows");
	int64_t quorum = fact_number(server, "sentinel.quorum");
	const char *master = fact(server, "sentinel.master");
	char change[CHANGE_SIZE], word[TEXT_SHELL_SIZE];

	(void)server_change(server, change, "SENTINEL SET %.200s quorum %" PRId64,
			    text_shell_word(master, word), knows / 2 + 1);
	if (knows < 3)
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "sentinel",
				      "start more, on other machines, until there are three"},
		     "%s: Sentinels that it knows, with itself: %" PRId64
		     ": without one of them there is no majority",
		     server->name, knows);
	if (quorum > knows)
		find(server->findings, (struct finding){FINDING_SICK, "sentinel", change},
		     "%s: its quorum is %" PRId64 " of %" PRId64 ": no master is ever replaced",
		     server->name, quorum, knows);
	else if (quorum == knows && knows > 1)
		find(server->findings, (struct finding){FINDING_ADVICE, "sentinel", change},
		     "%s: its quorum is %" PRId64 " of %" PRId64
		     ": no master is replaced while a Sentinel is away",
		     server->name, quorum, knows);
}

static void judge_patience(const struct server *server)
{
	int64_t down_after = fact_number(server, "sentinel.down_after_ms");
	char change[CHANGE_SIZE], word[TEXT_SHELL_SIZE];

	if (down_after >= 1000 && down_after <= 30000)
		return;
	(void)server_change(server, change, "SENTINEL SET %.200s down-after-milliseconds 5000",
			    text_shell_word(fact(server, "sentinel.master"), word));
	find(server->findings, (struct finding){FINDING_ADVICE, "sentinel", change},
	     down_after < 1000 ? "%s: down-after-milliseconds is %" PRId64
				 ": a short pause is taken for a loss"
			       : "%s: down-after-milliseconds is %" PRId64
				 ": so long nothing fires when the master is lost",
	     server->name, down_after);
}

static void judge_sentinel(const struct server *server)
{
	char names[300];

	(void)snprintf(names, sizeof names, "%s", fact(server, "sentinel.names")); /* cut if long */
	names[strcspn(names, " ")] = ':';
	find(server->findings, (struct finding){FINDING_OK, "sentinel", ""},
	     "%s: it answers, and names %s; quorum %" PRId64 " of %" PRId64, server->name, names,
	     fact_number(server, "sentinel.quorum"), fact_number(server, "sentinel.knows"));
	judge_quorum(server);
	judge_patience(server);
	if (fact_number(server, "sentinel.replicas") == 0)
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "sentinel", "add a replica of the master"},
		     "%s: the master has no replica that could take its place", server->name);
	if (fact_number(server, "sentinel.tilt") > 0)
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "sentinel",
				      "timedatectl set-ntp true, on its machine"},
		     "%s: it is in TILT, because its clock was set or it stood still",
		     server->name);
}

/* trouble_of returns the value of a fact, or NULL. It leaves out the name of the server if the
 * value begins with it. */
static const char *trouble_of(const struct server *server, const char *name)
{
	const char *trouble = fact(server, name);
	size_t size = strlen(server->name);

	if (trouble && strncmp(trouble, server->name, size) == 0 &&
	    strncmp(trouble + size, ": ", 2) == 0)
		return trouble + size + 2;
	return trouble;
}

/* ---- All ----------------------------------------------------------------------------------- */

bool nodes_judge(const struct server *server)
{
	const char *sentinel = trouble_of(server, "sentinel.trouble");
	const char *node = trouble_of(server, "cluster.trouble");

	if (fact(server, "sentinel.names"))
		judge_sentinel(server);
	else if (sentinel)
		find(server->findings,
		     (struct finding){FINDING_ADVICE, "sentinel",
				      "start it; if it is gone for good, SENTINEL RESET NAME on "
				      "each of the others"},
		     "%s: %s", server->name, sentinel);
	else if (node)
		find(
		    server->findings,
		    (struct finding){FINDING_ADVICE, "node",
				     "start it; if it is gone for good, give its slots away, if it "
				     "has any, then CLUSTER FORGET its id on each of the others"},
		    "%s: %s", server->name, node);
	else
		return false;
	return true;
}
