/* A server may lack the commands for scripts (rename-command, a proxy), and a user may lack the
 * right to use them. Then the handle would open, and each of its operations would be refused. So
 * the store asks when it is opened, and only then, because a right that is lost later can be
 * granted again. */
#include "store/redis/wire/rights.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

#define TEXT "return 1"
#define TEXT_SHA1 "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"

static void right_answered(struct redis_store *store, struct redis_request *request,
			   const struct reply *reply)
{
	struct scripts *scripts = &store->nodes.home->scripts;
	bool is_unknown = reply_fails(reply, "ERR unknown command");
	const char *command = request->shape->command;

	request_free(&store->alloc, request);
	if (scripts->missing[0] || !(is_unknown || reply_fails(reply, "NOPERM")))
		return;
	scripts->is_unknown = is_unknown;
	/* The server repeats the words of the command after the comma. */
	(void)snprintf(scripts->missing, sizeof scripts->missing,
		       "%s: the server refuses %s: %.*s: durawheel needs EVAL, EVALSHA and SCRIPT "
		       "LOAD",
		       store->url.name, command, (int)strcspn(reply->bytes, ","),
		       reply->bytes); /* long words are cut */
}

/* right_lost has nothing to do: the store asks again, or is not opened. */
static void right_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
}

/* post sends the question. Without memory it is not sent; then the first operations show what the
 * server refuses. */
static void post(struct redis_store *store)
{
	(void)request_post(store, NULL, right_answered, right_lost, NULL);
}

void rights_ask(struct redis_store *store)
{
	struct redis_command *words = &store->draft.words;

	store->nodes.home->scripts.missing[0] = '\0';
	command_begin(&store->draft, COMMAND_SCRIPT);
	command_text(words, "LOAD");
	command_text(words, TEXT);
	post(store);
	command_begin(&store->draft, COMMAND_EVALSHA);
	command_text(words, TEXT_SHA1);
	command_number(words, 0);
	post(store);
	command_begin(&store->draft, COMMAND_EVAL);
	command_text(words, TEXT);
	command_number(words, 0);
	post(store);
}
