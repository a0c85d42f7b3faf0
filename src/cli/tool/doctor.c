/* durawheel doctor: examines a machine and a store, and says what it would change. It changes
 * nothing. */
#include "cli/commands.h"

#include <string.h>

#include "cli/doctor/facts.h"
#include "cli/doctor/findings.h"
#include "cli/doctor/machine.h"
#include "cli/doctor/nodes.h"
#include "cli/doctor/server.h"
#include "cli/doctor/state.h"
#include "cli/out/errors.h"
#include "cli/session.h"

/* The examinations of a store, in this order. A store in a file has neither servers nor peers. */
static const struct {
	int (*examine)(struct findings *, dw *);
	const char *what;
	bool is_of_servers;
} examinations[] = {
    {server_examine, "the settings of the server", true},
    {state_owner, "the owner", false},
    {state_members, "the peers", true},
    {state_topics, "the topics", false},
    {state_zones, "the time zones of timers", false},
    {state_damage, "damage", false},
};

static void examine_store(struct findings *findings, dw *d, bool has_servers)
{
	for (size_t i = 0; i < sizeof examinations / sizeof *examinations; i++) {
		int status = DW_OK;

		if (has_servers || !examinations[i].is_of_servers)
			status = examinations[i].examine(findings, d);
		if (status != DW_OK)
			find(findings, (struct finding){FINDING_SICK, "store", "durawheel stats"},
			     "%s could not be examined: %s", examinations[i].what, why(d, status));
	}
}

static void examine_machine(struct findings *findings, const char *file, const char *journal)
{
	machine_clock(findings);
	machine_limits(findings);
	machine_zones(findings);
	if (file)
		machine_disk(findings, file);
	if (journal)
		machine_disk(findings, journal);
}

/* change_of returns what the user can do so that the store can be opened. Often the message itself
 * says what to do. */
static const char *change_of(const char *message, char room[CHANGE_SIZE])
{
	const struct server server = {.name = message,
				      .is_tls = strncmp(message, "rediss:", 7) == 0};

	if (strstr(message, "maxmemory-policy"))
		return server_change(&server, room,
				     "CONFIG SET maxmemory-policy noeviction, and the same in "
				     "redis.conf");
	if (strstr(message, "is a replica"))
		return "name the master in --store, or use redis+sentinel://";
	if (strstr(message, "no majority of the Sentinels"))
		return "start the Sentinels that do not answer, and look whether they see the "
		       "master: redis-cli -p 26379 SENTINEL CKQUORUM NAME";
	if (strstr(message, " masters of the cluster ") || strstr(message, "is cut off"))
		return "start the masters that do not answer, or let a replica of each take over: "
		       "CLUSTER FAILOVER TAKEOVER at the replica; if both are gone for "
		       "good, " NODES_FIX;
	if (strstr(message, "no connection"))
		return "start the server, or name another one with --store";
	return "do what this message says; durawheel(7) says more";
}

int command_doctor(const struct options *options)
{
	struct findings findings = {.json = options->value[OPT_JSON] != NULL};
	char path[SESSION_STORE_SIZE], message[DW_MESSAGE_SIZE], room[CHANGE_SIZE];
	const char *file;
	int code = session_check(options), ended;
	dw *d;

	if (code != EXIT_DONE)
		return code;
	file = session_file(options, path);
	examine_machine(&findings, file, options->value[OPT_JOURNAL]);
	code = session_try(options, &d, message);
	if (code == EXIT_DONE) {
		examine_store(&findings, d, !file);
		code = session_close(d, EXIT_DONE);
	} else {
		find(&findings, (struct finding){FINDING_SICK, "store", change_of(message, room)},
		     "%s", message);
	}
	ended = findings_end(&findings);
	if (session_flush() != EXIT_DONE)
		return EXIT_FAILED;
	return code == EXIT_DONE ? ended : code;
}
