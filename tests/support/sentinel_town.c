#include "support/sentinel_town.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MASTER "orders"
#define PATIENCE_SECONDS 60

static void give_up(const char *what)
{
	(void)fprintf(stderr, "sentinel_town: %s\n", what);
	abort();
}

/* ask returns NULL if the server does not answer. */
static redisReply *ask(const struct redis_server *server, const char *format, ...)
{
	const struct timeval patience = {.tv_sec = 2};
	redisContext *context = redisConnectUnixWithTimeout(server->path, patience);
	redisReply *reply = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (context && !context->err && redisSetTimeout(context, patience) == REDIS_OK)
		reply = redisvCommand(context, format, arguments);
	va_end(arguments);
	redisFree(context);
	return reply;
}

static void rest(void)
{
	const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};

	(void)nanosleep(&moment, NULL); /* the callers try again */
}

static const char *field(const redisReply *fields, const char *name)
{
	for (size_t i = 0; fields && i + 1 < fields->elements; i += 2)
		if (strcmp(fields->element[i]->str, name) == 0)
			return fields->element[i + 1]->str;
	return "";
}

/* ---- Starting ------------------------------------------------------------------------------ */

static void start_servers(struct sentinel_town *town, unsigned replicas)
{
	/* A server that is started again has this user, too. */
	static const char *const options[] = {"--appendonly",
					      "no",
					      "--repl-diskless-sync-delay",
					      "0",
					      "--user",
					      "program",
					      "on",
					      ">x",
					      "~*",
					      "&*",
					      "+@all",
					      NULL};

	town->count = 1 + replicas;
	for (unsigned i = 0; i < town->count; i++) {
		redis_server_start(&town->servers[i], true, options);
		if (i > 0)
			freeReplyObject(ask(&town->servers[i], "REPLICAOF 127.0.0.1 %u",
					    town->servers[0].port));
	}
}

static void start_sentinels(struct sentinel_town *town)
{
	static const char *const options[] = {"--sentinel", NULL};

	for (unsigned i = 0; i < TOWN_SENTINELS; i++) {
		(void)snprintf(town->configs[i], sizeof town->configs[i],
			       "sentinel monitor " MASTER " 127.0.0.1 %u 2\n"
			       "sentinel down-after-milliseconds " MASTER " 1500\n"
			       "sentinel failover-timeout " MASTER " 3000\n",
			       town->servers[0].port);
		redis_server_start_file(&town->sentinels[i], town->configs[i], options);
	}
	(void)snprintf(town->url, sizeof town->url,
		       "redis+sentinel://program:x@127.0.0.1:%u,127.0.0.1:%u/" MASTER,
		       town->sentinels[0].port, town->sentinels[1].port);
}

static bool knows_all(const struct sentinel_town *town, const struct redis_server *sentinel)
{
	redisReply *reply = ask(sentinel, "SENTINEL MASTER " MASTER);
	bool knows = strtol(field(reply, "num-slaves"), NULL, 10) == (long)town->count - 1 &&
		     strtol(field(reply, "num-other-sentinels"), NULL, 10) == TOWN_SENTINELS - 1;

	freeReplyObject(reply);
	return knows;
}

void sentinel_town_start(struct sentinel_town *town, unsigned replicas)
{
	time_t end = time(NULL) + PATIENCE_SECONDS;

	memset(town, 0, sizeof *town);
	start_servers(town, replicas);
	start_sentinels(town);
	for (unsigned i = 0; i < TOWN_SENTINELS; i++)
		while (!knows_all(town, &town->sentinels[i])) {
			if (time(NULL) > end)
				give_up("the Sentinels do not find each other");
			rest();
		}
}

/* ---- The master ---------------------------------------------------------------------------- */

static unsigned named_by(const struct sentinel_town *town, const struct redis_server *sentinel)
{
	redisReply *reply = ask(sentinel, "SENTINEL MASTER " MASTER);
	unsigned port = (unsigned)strtol(field(reply, "port"), NULL, 10);
	unsigned number = 0;

	freeReplyObject(reply);
	while (number < town->count && town->servers[number].port != port)
		number++;
	return number;
}

unsigned sentinel_town_named(const struct sentinel_town *town)
{
	unsigned votes[TOWN_SERVERS_MAX + 1] = {0};

	for (unsigned i = 0; i < TOWN_SENTINELS; i++)
		votes[named_by(town, &town->sentinels[i])]++;
	for (unsigned i = 0; i < town->count; i++)
		if (votes[i] > TOWN_SENTINELS / 2)
			return i;
	return town->count;
}

unsigned sentinel_town_await(const struct sentinel_town *town, unsigned last)
{
	time_t end = time(NULL) + PATIENCE_SECONDS;
	unsigned found = sentinel_town_named(town);

	while (found == town->count || found == last) {
		if (time(NULL) > end)
			give_up("the Sentinels name no other server");
		rest();
		found = sentinel_town_named(town);
	}
	return found;
}

unsigned sentinel_town_master(const struct sentinel_town *town)
{
	return sentinel_town_await(town, town->count);
}

void sentinel_town_cut(const struct sentinel_town *town, unsigned number)
{
	const struct redis_server *server = &town->servers[number];

	/* A Sentinel comes as the default user, and is refused even PING. */
	freeReplyObject(ask(server, "ACL SETUSER default -@all +acl"));
	freeReplyObject(ask(server, "CLIENT KILL TYPE normal SKIPME yes"));
}

void sentinel_town_mend(const struct sentinel_town *town, unsigned number)
{
	freeReplyObject(ask(&town->servers[number], "ACL SETUSER default +@all"));
}

void sentinel_town_end(struct sentinel_town *town)
{
	for (unsigned i = 0; i < TOWN_SENTINELS; i++)
		redis_server_end(&town->sentinels[i]);
	for (unsigned i = 0; i < town->count; i++)
		redis_server_end(&town->servers[i]);
}
