/* The wake channels, one for each shard. Clients publish the number of the shard there when they
 * have written to its inbox, and 't' when they have changed settings of topics. An owner subscribes
 * to the channels of its shards, on a connection of its own. A peer also hears of shards that other
 * peers have given away. */
#include "store/redis/wire/wake_channel.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/ascii.h"
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
	link_free(wake->next);
	if (wake->descriptor >= 0)
		(void)close(wake->descriptor); /* the descriptor holds no data */
}

/* log_line passes warnings of the link to the program's log. While the store is being opened,
 * redis_store_open() reports why there is no connection, so these warnings are left out. */
static void log_line(dw_log_level level, const char *line, void *user)
{
	const struct redis_store *store = user;
	bool is_of_opening =
	    ascii_begins(line, store->url.server) || store->nodes.sentinels || store->nodes.cluster;

	if (store->opened || level != DW_LOG_WARN || !is_of_opening)
		store->env.log(level, line, store->env.log_user);
}

int link_open(struct redis_store *store, const struct redis_url *url, const char *channels,
	      struct link **ret_link)
{
	char probe_key[sizeof store->names.name + 16];
	struct socket_options options = {.alloc = store->alloc,
					 .url = url,
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

int voter_link(struct redis_store *store, const struct redis_url *url, struct link **ret_link)
{
	const struct socket_options options = {.alloc = store->alloc,
					       .url = url,
					       .name = "durawheel",
					       .seed = rng_seed(),
					       .to_sentinel = true,
					       .reply_patience = store->env.reply_patience,
					       .probe_every = DW_SECONDS(1),
					       .log = store->env.log ? log_line : NULL,
					       .log_user = store};

	return socket_link_new(ret_link, &options);
}

/* ---- Which channels ------------------------------------------------------------------------ */

/* hears returns true if the store wants to hear of the shard. A peer hears only of its own shards,
 * because each subscriber makes publishing on a channel more expensive. */
static bool hears(const struct redis_store *store, unsigned shard)
{
	return shard_is_ours(&store->shards[shard]) || !shard_is_shared(store);
}

/* has_changed returns true if the store is not subscribed to exactly the shards of which it wants
 * to hear. */
static bool has_changed(const struct redis_store *store)
{
	const struct wake_channel *wake = &store->wake;

	if (wake->count != store->shard_count)
		return true;
	for (unsigned i = 0; i < store->shard_count; i++)
		if (hears(store, i) != shard_is_in(&wake->shards, i))
			return true;
	return false;
}

/* channels_of returns the names of the channels, with '\n' between them. NULL: there was no
 * memory. */
static char *channels_of(struct redis_store *store)
{
	size_t size = sizeof store->names.free + 1, used = 0;
	char *text;

	for (unsigned i = 0; i < store->shard_count; i++)
		size += store->shards[i].keys.size[NAME_WAKE] + 1;
	text = alloc_new(&store->alloc, size);
	if (text && store->names.free[0])
		used = (size_t)snprintf(text, size, "%s", store->names.free);
	for (unsigned i = 0; text && i < store->shard_count; i++)
		if (hears(store, i))
			used +=
			    (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "\n" : "",
					     store->shards[i].keys.name[NAME_WAKE]);
	return text;
}

/* wake_channel_open opens a link to the channels. If this fails, the owner learns of changes by the
 * renewals, which count the entries of the inbox. */
static struct link *wake_channel_open(struct redis_store *store)
{
	struct wake_channel *wake = &store->wake;
	char *channels = channels_of(store);
	struct link *link = NULL;

	if (channels && link_open(store, &store->url, channels, &link) == DW_OK) {
		wake_channel_watch(wake, link_descriptor(link));
		wake->count = store->shard_count;
		for (unsigned i = 0; i < store->shard_count; i++)
			(hears(store, i) ? shard_add : shard_remove)(&wake->shards, i);
	}
	alloc_free(&store->alloc, channels);
	return link;
}

/* wake_channel_follow opens another link if the store now wants to hear of other shards. Until the
 * new link is up, the old one is used. */
static void wake_channel_follow(struct redis_store *store)
{
	struct wake_channel *wake = &store->wake;
	bool listens = store->ownership.role == DW_OWNER && !store->stopped;

	if (!wake->link && listens && store->url.name[0])
		wake->link = wake_channel_open(store);
	else if (wake->link && wake->count > 0 && !wake->next && listens && has_changed(store))
		wake->next = wake_channel_open(store);
	if (!wake->next)
		return;
	link_work(wake->next, store->now);
	if (!link_connection(wake->next))
		return;
	link_free(wake->link);
	wake->link = wake->next;
	wake->next = NULL;
	wake->connection = 0;
}

/* ---- Hearing ------------------------------------------------------------------------------- */

static void hear(struct redis_store *store, const struct reply *channel,
		 const struct reply *message)
{
	uint64_t number = (uint64_t)reply_number(message);

	if (store->names.free[0] && reply_is(channel, store->names.free)) {
		if (number < store->shard_count)
			members_hear(store, (unsigned)number);
	} else if (reply_is(message, "t"))
		store->wake.has_topics = true;
	else if (number < store->shard_count)
		shard_expect_news(&store->sets, &store->shards[number]);
}

void wake_channel_work(struct redis_store *store)
{
	struct reply *reply;

	wake_channel_follow(store);
	if (!store->wake.link)
		return;
	link_work(store->wake.link, store->now);
	if (link_connection(store->wake.link) != store->wake.connection) {
		store->wake.connection = link_connection(store->wake.link);
		inbox_expect_all(store); /* messages were lost while there was no connection */
		members_look(&store->ownership.members);
	}
	while ((reply = link_take(store->wake.link))) {
		if (reply->kind == REPLY_ARRAY && reply->count == 3)
			hear(store, &reply->items[1], &reply->items[2]);
		reply_free(reply);
	}
}

dw_usec wake_channel_due(const struct wake_channel *wake)
{
	dw_usec at = wake->link ? link_due(wake->link) : DW_NEVER;

	return wake->next ? usec_min(at, link_due(wake->next)) : at;
}
