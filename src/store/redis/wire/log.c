/* Writes warnings to the program's log, and limits how many. */
#include "store/redis/wire/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "store/redis/core.h"

#define COMPLAINT_EVERY DW_SECONDS(10)

bool may_complain(const struct redis_store *store)
{
	/* While the store is being opened, redis_store_open() reports the reason itself. */
	return store->env.log && store->opened &&
	       !(store->complained_at && store->now < store->complained_at + COMPLAINT_EVERY);
}

static void say(struct redis_store *store, const char *address, const char *format,
		va_list arguments)
{
	char line[2 * DW_MESSAGE_SIZE];
	int size;

	if (!may_complain(store))
		return;
	store->complained_at = store->now;
	size = snprintf(line, sizeof line, "%s: ", address);
	/* A long line is cut. */
	(void)vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
	store->env.log(DW_LOG_WARN, line, store->env.log_user);
}

void complain(struct redis_store *store, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(store, store->url.name, format, arguments);
	va_end(arguments);
}

void complain_of(struct redis_store *store, const struct node *node, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(store, node_address(store, node), format, arguments);
	va_end(arguments);
}

const char *node_address(const struct redis_store *store, const struct node *node)
{
	return node && node->name ? node->name : store->url.name;
}

void complain_of_key(struct redis_store *store, const struct reply *reply)
{
	/* Before the first release a queue was a stream. */
	const char *words = reply_is(&reply->items[2], "stream") ? " (an old queue)" : "";

	complain(store,
		 "the key %.150s is of the type %.20s instead of %.20s%s: rename or delete it",
		 reply->items[1].bytes, reply->items[2].bytes, reply->items[3].bytes, words);
}
