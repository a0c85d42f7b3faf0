/* The wake channels, one a shard: clients publish the number of the shard there when they have
 * written to its inbox, and 't' when they have changed settings of topics. An owner subscribes to
 * all of them, on a connection of its own. */
#include "store/redis/wire/wake_channel.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/rng.h"
#include "redis/connection.h"
#include "store/redis/core.h"
#include "store/redis/store.h"

void wake_channel_watch(struct wake_channel *wake, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (wake->descriptor >= 0 && fd >= 0)
		(void)epoll_ctl(wake->descriptor, EPOLL_CTL_ADD, fd, &event);
}

void redis_hear(struct redis_store *store, struct link *subscriber)
{
	store->wake.link = subscriber;
	wake_channel_watch(&store->wake, link_descriptor(subscriber));
}

void wake_channel_free(struct wake_channel *wake)
{
	link_free(wake->link);
	if (wake->descriptor >= 0)
		(void)close(wake->descriptor); /* the descriptor holds no data */
}

/* log_line passes warnings of the link on. While the store is being opened, redis_store_open()
 * reports why there is no connection, so these warnings are left out. */
static void log_line(dw_log_level level, const char *line, void *user)
{
	const struct redis_store *store = user;
	size_t size = strlen(store->url.name);

	if (store->opened || level != DW_LOG_WARN || strncmp(line, store->url.name, size) != 0)
		store->env.log(level, line, store->env.log_user);
}

int link_open(struct redis_store *store, const char *channels, struct link **ret_link)
{
	char probe_key[sizeof store->names.name + 16];
	struct socket_options options = {.alloc = store->alloc,
					 .url = &store->url,
					 .name = "durawheel",
					 .seed = rng_seed(),
					 .channels = channels,
					 .probe_key = channels ? NULL : probe_key,
					 .reply_patience = store->env.reply_patience,
					 .log = store->env.log ? log_line : NULL,
					 .log_user = store};

	(void)snprintf(probe_key, sizeof probe_key, "{%s}:probe",
		       store->names.name); /* the name always fits */
	return socket_link_new(ret_link, &options);
}

/* channels_of returns the names of the channels of all shards, with '\n' between them; NULL: no
 * memory. */
static char *channels_of(struct redis_store *store)
{
	size_t size = 1, used = 0;
	char *text;

	for (unsigned i = 0; i < store->shard_count; i++)
		size += store->shards[i].keys.size[NAME_WAKE] + 1;
	text = alloc_new(&store->alloc, size);
	for (unsigned i = 0; text && i < store->shard_count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "\n" : "",
					 store->shards[i].keys.name[NAME_WAKE]);
	return text;
}

static void wake_channel_open(struct redis_store *store)
{
	struct link *subscriber = NULL;
	char *channels = store->url.name[0] ? channels_of(store) : NULL;

	/* If this fails, the owner learns of changes from the renewals, which count the inbox. */
	if (channels && link_open(store, channels, &subscriber) == DW_OK) {
		redis_hear(store, subscriber);
		store->wake.shards = store->shard_count;
	}
	alloc_free(&store->alloc, channels);
}

/* wake_channel_follow: the namespace has another number of shards now. */
static void wake_channel_follow(struct redis_store *store)
{
	if (!store->wake.shards || store->wake.shards == store->shard_count)
		return;
	link_free(store->wake.link);
	store->wake = (struct wake_channel){.has_topics = store->wake.has_topics,
					    .descriptor = store->wake.descriptor};
}

static void hear(struct redis_store *store, const struct reply *message)
{
	uint64_t number = (uint64_t)reply_number(message);

	if (reply_is(message, "t"))
		store->wake.has_topics = true;
	else if (number < store->shard_count)
		shard_expect_news(&store->sets, &store->shards[number]);
}

void wake_channel_work(struct redis_store *store)
{
	struct reply *reply;

	wake_channel_follow(store);
	if (!store->wake.link && store->ownership.role == DW_OWNER && !store->stopped)
		wake_channel_open(store);
	if (!store->wake.link)
		return;
	link_work(store->wake.link, store->now);
	if (link_connection(store->wake.link) != store->wake.connection) {
		store->wake.connection = link_connection(store->wake.link);
		inbox_expect_all(store); /* messages were lost while there was no connection */
	}
	while ((reply = link_take(store->wake.link))) {
		if (reply->kind == REPLY_ARRAY && reply->count == 3)
			hear(store, &reply->items[2]);
		reply_free(reply);
	}
}
