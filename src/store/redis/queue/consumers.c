#include "store/redis/queue/consumers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "store/redis/core.h"

const char *consumers_name(const struct redis_consumers *consumers, uint64_t number,
			   char room[CONSUMER_NAME_SIZE])
{
	room[0] = '\0';
	if (number != 0 && consumers->connection != 0)
		(void)snprintf(room, CONSUMER_NAME_SIZE, "%s/%" PRIu64 "/", consumers->name,
			       number); /* always fits */
	return room;
}

/* ---- Hearing ------------------------------------------------------------------------------- */

/* subscribe opens the link to the process's channel. If this fails, waiting consumers look for
 * messages each second. */
static void subscribe(struct redis_store *store)
{
	struct redis_consumers *consumers = &store->later.consumers;

	(void)snprintf(consumers->name, sizeof consumers->name, "%016" PRIx64, rng_seed());
	(void)snprintf(consumers->channel, sizeof consumers->channel, "{%s}:ready:%s",
		       store->names.name, consumers->name); /* always fits */
	if (link_open(store, &store->url, consumers->channel, &consumers->link) == DW_OK)
		wake_channel_watch(&store->wake, link_descriptor(consumers->link));
}

void consumers_listen(struct redis_store *store)
{
	struct redis_consumers *consumers = &store->later.consumers;

	if (!consumers->link)
		return;
	link_work(consumers->link, store->now);
	if (link_connection(consumers->link) == consumers->connection)
		return;
	consumers->connection = link_connection(consumers->link);
	consumers->is_anew = true;
}

/* read_call reads a message of the channel as a call. Returns false if it is not a call. */
static bool read_call(const struct reply *message, dw_take_call *ret_call)
{
	const struct reply *text;
	char *topic;

	if (message->kind != REPLY_ARRAY || message->count != 3)
		return false;
	text = &message->items[2];
	if (text->kind != REPLY_BULK)
		return false;
	ret_call->number = strtoull(text->bytes, &topic, 10);
	if (ret_call->number == 0 || *topic != ' ' || strlen(topic + 1) > DW_TOPIC_MAX)
		return false;
	(void)snprintf(ret_call->topic, sizeof ret_call->topic, "%s", topic + 1); /* it fits */
	return true;
}

bool consumers_take_call(struct redis_store *store, dw_take_call *ret_call)
{
	struct redis_consumers *consumers = &store->later.consumers;
	struct reply *message;
	bool is_call = consumers->is_anew;

	if (!consumers->link && store->url.name[0] && !store->stopped)
		subscribe(store);
	*ret_call = (dw_take_call){0};
	consumers->is_anew = false;
	while (!is_call && consumers->link && (message = link_take(consumers->link))) {
		is_call = read_call(message, ret_call);
		reply_free(message);
	}
	return is_call;
}

void consumers_free(struct later *later)
{
	link_free(later->consumers.link);
}
