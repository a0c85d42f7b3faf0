/* Says why the server that the Sentinels name is not used. */
#include <stdio.h>
#include <string.h>

#include "base/usec.h"
#include "store/redis/core.h"
#include "store/redis/nodes/why_list.h"

/* ---- What a Sentinel answers ----------------------------------------------------------------- */

void sentinel_note_refusal(const struct redis_store *store, struct sentinel *sentinel,
			   const struct reply *reply)
{
	sentinel->watches_other = reply_fails(reply, "ERR No such master");
	sentinel->is_useless = sentinel->watches_other || reply_fails(reply, "ERR unknown command");
	if (sentinel->watches_other)
		(void)snprintf(sentinel->words, sizeof sentinel->words,
			       "it watches no master %.63s", store->url.master);
	else if (sentinel->is_useless)
		(void)snprintf(sentinel->words, sizeof sentinel->words,
			       "it is no Sentinel, but a server: name Sentinels (port 26379), or "
			       "use %s or %s",
			       redis_url_scheme(REDIS_SINGLE, store->url.tls),
			       redis_url_scheme(REDIS_CLUSTER, store->url.tls));
	else
		(void)snprintf(sentinel->words, sizeof sentinel->words, "%.160s",
			       reply->bytes); /* cut if long */
}

/* sentinel_note_watched reads names in lines like "master0:name=orders,status=ok,...". */
void sentinel_note_watched(struct sentinel *sentinel, const char *info)
{
	static const char begin[] = ":name=", end[] = " ...";
	size_t used = 0;

	sentinel->watched[0] = '\0';
	for (const char *at = info; (at = strstr(at, begin));) {
		size_t size, room = sizeof sentinel->watched - used;

		at += sizeof begin - 1;
		size = strcspn(at, ",\r\n");
		if (size + 2 + sizeof end > room) {
			(void)snprintf(sentinel->watched + used, room, "%s", end); /* it fits */
			return;
		}
		used += (size_t)snprintf(sentinel->watched + used, room, "%s%.*s",
					 used > 0 ? ", " : "", (int)size, at);
	}
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* why says what is wrong with one Sentinel, or which server it names. */
static const char *why(const struct sentinel *sentinel, char room[DW_MESSAGE_SIZE])
{
	bool fatal;
	const char *trouble = link_trouble(sentinel->link, &fatal);
	const char *answer = sentinel->words[0] ? sentinel->words : "it has not answered yet";

	if (!sentinel->connection && trouble[0])
		return trouble;
	(void)snprintf(room, DW_MESSAGE_SIZE, "%.120s: %.130s", sentinel->url.server,
		       sentinel->connection ? answer : "it does not answer"); /* cut if long */
	return room;
}

/* is_young returns true if a majority names the server, but not for long enough. */
static bool is_young(const struct redis_store *store)
{
	const struct nomination *named = &store->node.named;

	return named->server[0] && store->now < named->until;
}

static void say_young(const struct redis_store *store, char *ret_words)
{
	(void)snprintf(ret_words, DW_MESSAGE_SIZE,
		       "%s: the Sentinels have named it for %d s, and after %d s no one uses the "
		       "last server any more",
		       store->url.server,
		       (int)(usec_sub(store->now, store->node.named.since) / 1000000),
		       (int)(NAMED_FOR / 1000000)); /* cut if long */
}

static bool are_useless(const struct sentinels *sentinels)
{
	for (unsigned i = 0; i < sentinels->count; i++)
		if (!sentinels->list[i]->is_useless && !sentinels->list[i]->is_double)
			return false;
	return sentinels->count > 0;
}

/* watching_other returns a Sentinel that watches only other masters, if possible one that has named
 * them. NULL: at least one Sentinel may watch the master of the URL. */
static const struct sentinel *watching_other(const struct sentinels *sentinels)
{
	const struct sentinel *found = NULL;

	for (unsigned i = 0; i < sentinels->count; i++) {
		const struct sentinel *sentinel = sentinels->list[i];

		if (sentinel->is_double)
			continue;
		if (!sentinel->watches_other)
			return NULL;
		if (!found || !found->watched[0])
			found = sentinel;
	}
	return found;
}

static void say_other(const struct redis_store *store, const struct sentinel *sentinel,
		      char *ret_words)
{
	if (sentinel->watched[0])
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the Sentinels watch no master %.63s, but %s: name one of theirs at "
			       "the end of the URL",
			       store->url.master, sentinel->watched);
	else
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the Sentinels watch no master %.63s: redis-cli -h %.63s -p %s "
			       "SENTINEL MASTERS lists those that they watch",
			       store->url.master, sentinel->url.host, sentinel->url.port);
}

static void words(const struct redis_store *store, char *ret_words)
{
	const struct sentinels *sentinels = store->nodes.sentinels;
	char subject[DW_MESSAGE_SIZE], room[DW_MESSAGE_SIZE];
	struct why_list list;

	(void)snprintf(subject, sizeof subject,
		       "no majority of the Sentinels names the server %.63s", store->url.master);
	why_list_begin(&list, ret_words,
		       are_useless(sentinels) ? "the URL names no Sentinel" : subject);
	for (unsigned i = 0; i < sentinels->count; i++)
		if (!sentinels->list[i]->is_double)
			why_list_add(&list, why(sentinels->list[i], room));
	why_list_end(&list);
}

const char *sentinels_why(const struct redis_store *store, char *room, bool *ret_fatal)
{
	const struct sentinels *sentinels = store->nodes.sentinels;
	const struct sentinel *other;

	if (!sentinels || node_is_usable(store, &store->node))
		return link_trouble(store->node.link, ret_fatal);
	other = watching_other(sentinels);
	*ret_fatal = !is_young(store) && are_useless(sentinels);
	if (is_young(store))
		say_young(store, room);
	else if (other)
		say_other(store, other, room);
	else
		words(store, room);
	return room;
}
