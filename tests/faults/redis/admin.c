#include "faults/redis/admin.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATIENCE_S = 30 };

static redisReply *ask(const struct redis_server *server, const char *format, va_list arguments)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	redisContext *context = redisConnectUnixWithTimeout(server->path, patience);
	redisReply *reply = NULL;

	if (context && !context->err && redisSetTimeout(context, patience) == REDIS_OK)
		reply = redisvCommand(context, format, arguments);
	redisFree(context);
	return reply;
}

redisReply *admin_ask(const struct redis_server *server, const char *format, ...)
{
	va_list arguments;
	redisReply *reply;

	va_start(arguments, format);
	reply = ask(server, format, arguments);
	va_end(arguments);
	return reply;
}

void admin_do(const struct redis_server *server, const char *format, ...)
{
	va_list arguments;
	redisReply *reply;

	va_start(arguments, format);
	reply = ask(server, format, arguments);
	va_end(arguments);
	if (!reply || reply->type == REDIS_REPLY_ERROR) {
		(void)fprintf(stderr, "%s: %s\n", format, reply ? reply->str : "no answer");
		abort(); /* the test cannot continue */
	}
	freeReplyObject(reply);
}

long long admin_number(const struct redis_server *server, const char *format, ...)
{
	va_list arguments;
	redisReply *reply;
	long long number;

	va_start(arguments, format);
	reply = ask(server, format, arguments);
	va_end(arguments);
	number = reply && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
	freeReplyObject(reply);
	return number;
}
