#include "support/replicated.h"

#if DW_WITH_REDIS

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "support/cmocka.h"

#define PATIENCE DW_SECONDS(60)
#define TURNS_MAX 6000

static const char *const options[] = {"--repl-diskless-sync-delay", "0",
				      "--repl-ping-replica-period", "1", NULL};

static void happened(dw *d, const dw_event *event, void *user)
{
	struct replicated *r = user;
	bool is_late = event->kind == DW_EVENT_REPLICAS_LATE;
	bool is_back = event->kind == DW_EVENT_REPLICAS_BACK;

	(void)d;
	r->late += is_late;
	r->back += is_back;
	if (is_late || is_back)
		(void)snprintf(r->message, sizeof r->message, "%s", event->message);
}

static dw_verdict hold(dw *d, const dw_firing *firing, void *user)
{
	struct replicated *r = user;

	(void)d;
	r->held++;
	r->token = *firing->token;
	return DW_HOLD;
}

void replicated_done(dw *d, const dw_result *result, void *user)
{
	struct replicated_answer *answer = user;

	(void)d;
	answer->count++;
	answer->status = result->status;
	answer->level = result->level;
}

/* ---- Servers ------------------------------------------------------------------------------- */

static redisReply *ask(struct replicated *r, unsigned number, const char *command)
{
	redisContext *redis = redisConnectUnix(r->servers[number].path);
	redisReply *reply;

	assert_true(redis && !redis->err);
	reply = redisCommand(redis, command);
	assert_non_null(reply);
	redisFree(redis);
	return reply;
}

long long replicated_command(struct replicated *r, unsigned number, const char *command)
{
	redisReply *reply = ask(r, number, command);
	long long integer = reply->integer;

	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s: %s", command, reply->str);
	freeReplyObject(reply);
	return integer;
}

static bool shows(struct replicated *r, unsigned number, const char *text)
{
	redisReply *reply = ask(r, number, "INFO replication");
	bool does = strstr(reply->str, text) != NULL;

	freeReplyObject(reply);
	return does;
}

/* is_behind returns true if the replica is not in use yet. The master counts a replica only after
 * the replica's first report, up to a second later. */
static bool is_behind(struct replicated *r, unsigned number)
{
	return !shows(r, number, "master_link_status:up") || !shows(r, r->master, "state=online");
}

void replicated_follow(struct replicated *r, unsigned number)
{
	char command[64];

	if (!r->servers[number].folder[0])
		redis_server_start(&r->servers[number], true, options);
	else if (r->servers[number].pid == 0)
		redis_server_restart(&r->servers[number]);
	if (r->replication.port)
		relay_end(&r->replication);
	memset(&r->replication, 0, sizeof r->replication);
	relay_start_tcp(&r->replication, r->servers[r->master].port);
	(void)snprintf(command, sizeof command, "REPLICAOF 127.0.0.1 %u", r->replication.port);
	(void)replicated_command(r, number, command);
	for (int i = 0; i < TURNS_MAX && is_behind(r, number); i++)
		r->d ? replicated_turn(r) : (void)poll(NULL, 0, 10);
	assert_false(is_behind(r, number));
}

void replicated_lag(struct replicated *r)
{
	relay_cut(&r->replication);
}

void replicated_fail_over(struct replicated *r, unsigned number)
{
	relay_cut(&r->to_master);
	redis_server_kill(&r->servers[r->master]);
	(void)replicated_command(r, number, "REPLICAOF NO ONE");
	r->master = number;
	r->to_master.server = r->servers[number].path;
	relay_open(&r->to_master);
}

/* ---- The owner ----------------------------------------------------------------------------- */

void replicated_turn(struct replicated *r)
{
	struct pollfd readable = {.fd = dw_fd(r->d), .events = POLLIN};

	(void)poll(&readable, 1, 10);
	assert_int_equal(dw_turn(r->d), DW_OK);
}

void replicated_await(struct replicated *r, const struct replicated_answer *answer)
{
	for (int i = 0; i < TURNS_MAX && answer->count == 0; i++)
		replicated_turn(r);
	assert_int_equal(answer->count, 1);
}

void replicated_put(struct replicated *r, const char *id, dw_usec delay,
		    struct replicated_answer *answer)
{
	dw_timer timer = {
	    .size = sizeof timer, .id = id, .topic = "t", .due = dw_now(r->d) + delay};

	*answer = (struct replicated_answer){0};
	assert_int_equal(dw_put(r->d, &timer, replicated_done, answer), DW_OK);
}

void replicated_url(const struct replicated *r, const char *after, char *ret_url, size_t size)
{
	(void)snprintf(ret_url, size, "unix://%s%s", r->to_master.path, after);
}

void replicated_handle(struct replicated *r, dw_role role)
{
	char url[TEMP_SIZE + 64], message[DW_MESSAGE_SIZE] = "";
	dw_options opening = {.size = sizeof opening,
			      .store = url,
			      .name = "r",
			      .role = role,
			      .on_event = happened,
			      .on_event_user = r};

	replicated_url(r, "?replicas=1", url, sizeof url);
	if (dw_open(&r->d, &opening, message) != DW_OK)
		fail_msg("%s", message);
	if (role == DW_OWNER)
		assert_int_equal(dw_on(r->d, "t", hold, r), DW_OK);
}

void replicated_open(struct replicated *r, dw_role role)
{
	char path[TEMP_SIZE + 16];

	redis_server_start(&r->servers[0], true, options);
	(void)snprintf(path, sizeof path, "%s-relay", r->servers[0].path);
	relay_start(&r->to_master, path, r->servers[0].path);
	replicated_follow(r, 1);
	replicated_handle(r, role);
}

void replicated_close(struct replicated *r)
{
	if (r->d)
		(void)dw_close(r->d, DW_SECONDS(5));
	relay_end(&r->to_master);
	relay_end(&r->replication);
	for (unsigned i = 0; i < REPLICATED_SERVERS; i++)
		if (r->servers[i].folder[0])
			redis_server_end(&r->servers[i]);
}

#endif
