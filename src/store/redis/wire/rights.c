/* A server may lack the commands for scripts (rename-command, a proxy), and a user may lack the
 * right to them. Then the handle would open, and each of its operations would be refused. So the
 * store asks when it is opened, and only then: a right that is lost later can be given again. */
#include "store/redis/wire/rights.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

#define TEXT "return 1"
#define TEXT_SHA1 "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"

static void right_answered(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	struct scripts *scripts = &store->scripts;
	bool is_unknown = reply_fails(reply, "ERR unknown command");
	const char *command = request->shape->command;

	request_free(&store->alloc, request);
	if (scripts->missing[0] || !(is_unknown || reply_fails(reply, "NOPERM")))
		return;
	scripts->is_unknown = is_unknown;
	/* Behind the comma are the words of the command. */
	(void)snprintf(scripts->missing, sizeof scripts->missing,
		       "%s: the server refuses %s: %.*s: durawheel needs EVAL, EVALSHA and SCRIPT "
		       "LOAD",
		       store->url.name, command, (int)strcspn(reply->bytes, ","),
		       reply->bytes); /* cut if long */
}

/* right_lost: the store asks again, or is not opened. */
static void right_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
}

/* post: without memory the operations say what is refused. */
static void post(struct redis_store *store)
{
	(void)request_post(store, NULL, right_answered, right_lost, NULL);
}

void rights_ask(struct redis_store *store)
{
	struct redis_command *words = &store->pipeline.words;

	store->scripts.missing[0] = '\0';
	command_begin(&store->pipeline, COMMAND_SCRIPT);
	command_text(words, "LOAD");
	command_text(words, TEXT);
	post(store);
	command_begin(&store->pipeline, COMMAND_EVALSHA);
	command_text(words, TEXT_SHA1);
	command_number(words, 0);
	post(store);
	command_begin(&store->pipeline, COMMAND_EVAL);
	command_text(words, TEXT);
	command_number(words, 0);
	post(store);
}
