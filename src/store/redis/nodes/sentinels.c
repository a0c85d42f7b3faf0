#include "store/redis/nodes/sentinels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/usec.h"
#include "store/redis/core.h"
#include "store/redis/wire/replicas.h"

#define ASK_EVERY DW_SECONDS(1)
#define OTHERS_EVERY 10u /* every this many rounds, a Sentinel is asked for the other Sentinels */

/* ---- The list -------------------------------------------------------------------------------- */

static void sentinel_free(struct alloc *alloc, struct sentinel *sentinel)
{
	link_free(sentinel->link);
	alloc_free(alloc, sentinel->url.host);
	alloc_free(alloc, sentinel->url.port);
	alloc_free(alloc, sentinel);
}

/* sentinel_new makes an entry with a link. The files of TLS are as in the store's URL. */
static struct sentinel *sentinel_new(struct redis_store *store, const struct redis_host *host)
{
	const struct redis_url *url = &store->url;
	struct sentinel *sentinel = alloc_new(&store->alloc, sizeof *sentinel);

	if (!sentinel)
		return NULL;
	sentinel->url = (struct redis_url){.kind = REDIS_SENTINEL,
					   .tls = url->tls,
					   .ca = url->ca,
					   .cert = url->cert,
					   .key = url->key,
					   .sni = url->sni,
					   .user = url->sentinel_user,
					   .password = url->sentinel_password};
	if (redis_url_aim(&sentinel->url, host->host, host->port, &store->alloc) != DW_OK ||
	    voter_link(store, &sentinel->url, &sentinel->link) != DW_OK) {
		sentinel_free(&store->alloc, sentinel);
		return NULL;
	}
	(void)snprintf(sentinel->url.server, sizeof sentinel->url.server, "Sentinel %.120s:%s",
		       host->host, host->port);
	wake_channel_watch(&store->wake, link_descriptor(sentinel->link));
	return sentinel;
}

static bool add(struct redis_store *store, const struct redis_host *host)
{
	struct sentinels *sentinels = store->nodes.sentinels;
	struct sentinel *sentinel = sentinel_new(store, host);

	if (!sentinel)
		return false;
	sentinels->votes[sentinels->count] = (struct vote){.since = DW_NEVER};
	sentinels->list[sentinels->count++] = sentinel;
	return true;
}

int sentinels_open(struct redis_store *store)
{
	if (store->url.kind != REDIS_SENTINEL)
		return DW_OK;
	store->nodes.sentinels = alloc_new(&store->alloc, sizeof *store->nodes.sentinels);
	if (!store->nodes.sentinels)
		return DW_ENOMEM;
	store->node.named = (struct nomination){.since = DW_NEVER, .until = INT64_MIN};
	for (unsigned i = 0; i < store->url.host_count; i++)
		if (!add(store, &store->url.hosts[i]))
			return DW_ENOMEM;
	return DW_OK;
}

void sentinels_free(struct redis_store *store)
{
	struct sentinels *sentinels = store->nodes.sentinels;

	for (unsigned i = 0; sentinels && i < sentinels->count; i++)
		sentinel_free(&store->alloc, sentinels->list[i]);
	alloc_free(&store->alloc, sentinels);
	store->nodes.sentinels = NULL;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static bool send(const struct redis_store *store, struct sentinel *sentinel, enum sentinel_ask ask)
{
	const char *const questions[][3] = {
	    {"SENTINEL", "MYID", NULL},
	    {"INFO", "sentinel", NULL},
	    {"SENTINEL", "MASTER", store->url.master},
	    {"SENTINEL", "SENTINELS", store->url.master},
	};
	size_t sizes[3];
	int count = 0;

	for (; count < 3 && questions[ask][count]; count++)
		sizes[count] = strlen(questions[ask][count]);
	sentinel->asks[sentinel->asked++] = ask;
	return link_send(sentinel->link, count, questions[ask], sizes, store->now) == DW_OK;
}

/* ask_all sends the questions of one round. ASK_ID and ASK_TILT are only in the first round,
 * because only in its answer the age of what the Sentinel names counts. */
static bool ask_all(const struct redis_store *store, struct sentinel *sentinel)
{
	bool is_first = sentinel->rounds == 0;
	bool asks_others = sentinel->rounds % OTHERS_EVERY == 0;

	return (!is_first || (send(store, sentinel, ASK_ID) && send(store, sentinel, ASK_TILT))) &&
	       send(store, sentinel, ASK_MASTER) &&
	       (!asks_others || send(store, sentinel, ASK_OTHERS));
}

/* next_ask returns when a Sentinel is asked next: after a second, or earlier, as soon as its answer
 * may prove that the server can be used. */
static dw_usec next_ask(const struct redis_store *store)
{
	const struct nomination *named = &store->node.named;
	dw_usec at = usec_add(store->now, ASK_EVERY);
	dw_usec owner_at = usec_add(named->since, NAMED_FOR);
	dw_usec others_at = usec_add(owner_at, NAMED_OTHERS);

	if (owner_at > store->now)
		return usec_min(at, owner_at);
	return others_at > store->now ? usec_min(at, others_at) : at;
}

static void ask_sentinel(struct redis_store *store, struct sentinel *sentinel)
{
	if (sentinel->asked > 0 || store->now < sentinel->ask_at)
		return;
	sentinel->asked_at = store->now;
	sentinel->ask_at = next_ask(store);
	if (ask_all(store, sentinel))
		sentinel->rounds++;
	else
		link_drop(sentinel->link, "no memory for a question");
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* field returns the value of a field in an array of names and values; "": the array has no such
 * field. */
static const char *field(const struct reply *fields, const char *name)
{
	for (size_t i = 0; fields->kind == REPLY_ARRAY && i + 1 < fields->count; i += 2)
		if (reply_is(&fields->items[i], name) && fields->items[i + 1].kind == REPLY_BULK)
			return fields->items[i + 1].bytes;
	return "";
}

static unsigned count_of(const struct reply *fields, const char *name)
{
	return (unsigned)strtoul(field(fields, name), NULL, 10);
}

/* read_host reads host and port. Returns false if these cannot be the address of a server. */
static bool read_host(const struct reply *fields, struct redis_host *ret_host)
{
	/* nobody changes the host through this pointer */
	ret_host->host = (char *)(uintptr_t)field(fields, "ip");
	ret_host->port = (char *)(uintptr_t)field(fields, "port");
	return ret_host->host[0] && strlen(ret_host->host) < 256 && !strchr(ret_host->host, ' ') &&
	       strtoul(ret_host->port, NULL, 10) > 0 && strlen(ret_host->port) < 6;
}

/* is_known returns true if the list has the Sentinel, with this id or this address. An entry has no
 * id until it has told one. */
static bool is_known(const struct sentinels *sentinels, const char *id,
		     const struct redis_host *host)
{
	for (unsigned i = 0; i < sentinels->count; i++) {
		const struct sentinel *other = sentinels->list[i];

		if (strcmp(other->id, id) == 0 || (strcmp(other->url.host, host->host) == 0 &&
						   strcmp(other->url.port, host->port) == 0))
			return true;
	}
	return false;
}

/* take_others adds the Sentinels that the URL does not name. */
static void take_others(struct redis_store *store, const struct reply *reply)
{
	struct sentinels *sentinels = store->nodes.sentinels;
	struct redis_host host;

	for (size_t i = 0; reply->kind == REPLY_ARRAY && i < reply->count; i++)
		if (sentinels->count < VOTERS_MAX && read_host(&reply->items[i], &host) &&
		    !is_known(sentinels, field(&reply->items[i], "runid"), &host))
			(void)add(store, &host); /* without memory a later answer adds it */
}

/* take_id notes the id of a Sentinel. Two entries may be the same Sentinel, one by its name and one
 * by its address. Then only one of them counts. */
static void take_id(struct sentinels *sentinels, struct sentinel *sentinel,
		    const struct reply *reply)
{
	if (reply->kind != REPLY_BULK || reply->size == 0 || reply->size >= SENTINEL_ID_SIZE)
		return;
	memcpy(sentinel->id, reply->bytes, reply->size + 1);
	for (unsigned i = 0; i < sentinels->count; i++) {
		const struct sentinel *other = sentinels->list[i];

		if (other == sentinel || strcmp(other->id, sentinel->id) != 0)
			continue;
		if (other->connection && !other->is_double)
			sentinel->is_double = true;
		else
			sentinels->votes[i].server[0] = '\0';
	}
}

static void take_tilt(struct sentinel *sentinel, const struct reply *reply)
{
	sentinel->is_tilted = reply->kind != REPLY_BULK || !strstr(reply->bytes, "sentinel_tilt:0");
	sentinel_note_watched(sentinel, reply->kind == REPLY_BULK ? reply->bytes : "");
}

static void take_vote(struct redis_store *store, unsigned number, const struct reply *reply,
		      const struct redis_host *host)
{
	struct sentinel *sentinel = store->nodes.sentinels->list[number];
	struct vote vote = {.asked = sentinel->asked_at};
	dw_usec age = strtoll(field(reply, "role-reported-time"), NULL, 10);

	(void)snprintf(vote.server, sizeof vote.server, "%s %s", host->host,
		       host->port); /* it fits */
	vote.epoch = strtoull(field(reply, "config-epoch"), NULL, 10);
	vote_take(&store->nodes.sentinels->votes[number], &vote, store->now,
		  sentinel->is_tilted ? 0 : usec_mul(age, 1000));
	sentinel->knows = 1 + count_of(reply, "num-other-sentinels");
	sentinel->quorum = count_of(reply, "quorum");
	sentinel->replicas = count_of(reply, "num-slaves");
	sentinel->down_after_ms = count_of(reply, "down-after-milliseconds");
	(void)snprintf(sentinel->words, sizeof sentinel->words, "it names %.200s:%s", host->host,
		       host->port);
}

static void take_master(struct redis_store *store, unsigned number, const struct reply *reply)
{
	struct sentinel *sentinel = store->nodes.sentinels->list[number];
	struct redis_host host;

	sentinel->is_strange = true;
	sentinel->is_useless = sentinel->watches_other = false;
	if (reply->kind == REPLY_ERROR) {
		sentinel_note_refusal(store, sentinel, reply);
	} else if (!sentinel->id[0] || !read_host(reply, &host)) {
		(void)snprintf(sentinel->words, sizeof sentinel->words,
			       "its answers are not those of a Sentinel");
	} else {
		sentinel->is_strange = false;
		take_vote(store, number, reply, &host);
	}
}

static void take(struct redis_store *store, unsigned number, const struct reply *reply)
{
	struct sentinel *sentinel = store->nodes.sentinels->list[number];
	enum sentinel_ask answered;

	if (sentinel->asked == 0) {
		link_drop(sentinel->link, "the Sentinel sent a reply to no command");
		return;
	}
	answered = sentinel->asks[0];
	sentinel->asked--;
	memmove(sentinel->asks, sentinel->asks + 1, sentinel->asked * sizeof *sentinel->asks);
	if (answered == ASK_ID)
		take_id(store->nodes.sentinels, sentinel, reply);
	else if (answered == ASK_TILT)
		take_tilt(sentinel, reply);
	else if (answered == ASK_OTHERS)
		take_others(store, reply);
	else if (!sentinel->is_double)
		take_master(store, number, reply);
}

static void work(struct redis_store *store, unsigned number)
{
	struct sentinel *sentinel = store->nodes.sentinels->list[number];
	struct reply *reply;

	link_work(sentinel->link, store->now);
	if (link_connection(sentinel->link) != sentinel->connection) {
		sentinel->connection = link_connection(sentinel->link);
		sentinel->asked = sentinel->rounds = 0;
		sentinel->ask_at = INT64_MIN;
		sentinel->id[0] = '\0'; /* another Sentinel may be there now */
		sentinel->is_double = false;
	}
	if (!sentinel->connection)
		return;
	while ((reply = link_take(sentinel->link))) {
		take(store, number, reply);
		reply_free(reply);
	}
	ask_sentinel(store, sentinel);
	link_work(sentinel->link, store->now);
}

/* ---- The majority ---------------------------------------------------------------------------- */

static unsigned majority(const struct sentinels *sentinels)
{
	unsigned all = 1, doubles = 0;

	for (unsigned i = 0; i < sentinels->count; i++) {
		if (sentinels->list[i]->knows > all)
			all = sentinels->list[i]->knows;
		doubles += sentinels->list[i]->is_double;
	}
	/* Until the first answer, those of the URL count as all Sentinels. */
	if (all == 1)
		all = sentinels->count - doubles;
	return named_majority(all);
}

/* aim lets all links use the server that the majority names now. */
static void aim(struct redis_store *store, char *server)
{
	char *port = strchr(server, ' ');

	*port++ = '\0';
	if (redis_url_aim(&store->url, server, port, &store->alloc) != DW_OK)
		return; /* the next answer tries again */
	link_aim(store->node.link, store->now);
	replicas_aim(store, &store->node);
	if (store->wake.link)
		link_aim(store->wake.link, store->now);
	if (store->wake.next)
		link_aim(store->wake.next, store->now);
	if (store->later.consumers.link)
		link_aim(store->later.consumers.link, store->now);
}

static bool is_aimed(const struct redis_url *url, const char *server)
{
	size_t size = url->host ? strlen(url->host) : 0;

	return size > 0 && strncmp(server, url->host, size) == 0 && server[size] == ' ' &&
	       strcmp(server + size + 1, url->port) == 0;
}

void sentinels_work(struct redis_store *store)
{
	struct sentinels *sentinels = store->nodes.sentinels;
	struct nomination named = {.server = ""};

	if (!sentinels)
		return;
	for (unsigned i = 0; i < sentinels->count; i++)
		work(store, i);
	if (!named_count(&named, sentinels->votes, sentinels->count, majority(sentinels),
			 store->now))
		return;
	node_name(store, &store->node, &named);
	if (!is_aimed(&store->url, named.server))
		aim(store, named.server);
}

dw_usec sentinels_due(const struct nodes *nodes)
{
	const struct sentinels *sentinels = nodes->sentinels;
	dw_usec at = DW_NEVER;

	for (unsigned i = 0; sentinels && i < sentinels->count; i++) {
		const struct sentinel *sentinel = sentinels->list[i];

		at = usec_min(at, link_due(sentinel->link));
		if (sentinel->connection && sentinel->asked == 0)
			at = usec_min(at, sentinel->ask_at);
	}
	return at;
}
