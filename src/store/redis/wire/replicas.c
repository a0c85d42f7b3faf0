#include "store/redis/wire/replicas.h"

#include <stdio.h>
#include <string.h>

#include "redis/hello.h"
#include "redis/link_server.h"
#include "store/redis/core.h"

/* How long WAIT waits in the server. The link must get an answer before its connection counts as
 * lost. */
#define WAIT_MS "200"
/* After opening, replicas get this time to connect to the server. */
#define OPENING_PATIENCE DW_SECONDS(3)
/* How long the key of the write lives if no round renews its expiry. */
#define KEY_MS "3600000"

/* A round is a write, WAIT and INFO. */
enum { STEP_WRITE, STEP_WAIT, STEP_INFO, STEPS };

struct replicas {
	struct link *link;
	uint64_t connection; /* the link's connection, as last seen; 0: none */
	/* A round is under way. `step` is the reply that comes next, and `last` is the number of
	 * the last held answer that the round covers. */
	bool is_asked;
	unsigned step; /* one of STEP_WRITE to STEP_INFO */
	uint64_t last; /* as in held.requests */
	bool has_written;
	int64_t count; /* how many replicas have the write of this round */
	/* How many replicas had the write when WAIT was last answered; -1: it never was. */
	int64_t had;
	char history[SERVER_ID_SIZE];
	bool has_key;                /* the key exists, as far as this store knows */
	dw_usec again_at;            /* the next round begins then at the earliest (steady clock) */
	unsigned answered;           /* rounds that were answered */
	dw_usec since;               /* when the first round began; 0: none has */
	bool is_sure;                /* there were enough replicas once, or they were late */
	bool is_refused;             /* the server refused a command of the last round */
	char words[DW_MESSAGE_SIZE]; /* why the last round has failed, or "" */
	bool has_event;
	dw_store_event event;
};

/* ---- Telling --------------------------------------------------------------------------------- */

static void tell(struct redis_store *store, struct node *node, dw_event_kind kind, int status,
		 const char *words)
{
	struct replicas *replicas = node->replicas;

	replicas->has_event = true;
	replicas->event =
	    (dw_store_event){.kind = kind, .status = status, .count = store->url.replicas};
	(void)snprintf(replicas->event.words, sizeof replicas->event.words, "%s", words);
}

static const char *why_late(const struct replicas *replicas, char *room, size_t size)
{
	bool fatal;
	const char *trouble = link_trouble(replicas->link, &fatal);

	if (!replicas->connection)
		return trouble[0] ? trouble : "there is no connection to ask them";
	if (replicas->words[0])
		return replicas->words;
	if (replicas->had < 0)
		return "the server has not said yet how many have it";
	(void)snprintf(room, size, "%lld %s it", (long long)replicas->had,
		       replicas->had == 1 ? "has" : "have"); /* it fits */
	return room;
}

/* be_late answers what is held back, because the replicas did not have it in time. */
static void be_late(struct redis_store *store, struct node *node)
{
	char words[DW_MESSAGE_SIZE], room[64];

	(void)snprintf(words, sizeof words,
		       "%.60s: replicas=%u: too few replicas have the last change (%.80s): until "
		       "they do, calls get DW_STORED; look at the replicas",
		       store->url.server, store->url.replicas,
		       why_late(node->replicas, room, sizeof room)); /* cut if long */
	tell(store, node, DW_EVENT_REPLICAS_LATE, DW_ETIMEOUT, words);
	node->held.is_late = node->replicas->is_sure = true;
	held_release(store, node, UINT64_MAX, DW_STORED);
}

static void be_in_time(struct redis_store *store, struct node *node)
{
	char words[DW_MESSAGE_SIZE];

	node->held.is_late = false;
	(void)snprintf(words, sizeof words,
		       "%.100s: replicas=%u: enough replicas have all changes: calls get "
		       "DW_REPLICATED again",
		       store->url.server, store->url.replicas); /* cut if long */
	tell(store, node, DW_EVENT_REPLICAS_BACK, DW_OK, words);
}

bool replicas_take_event(struct node *node, dw_store_event *ret_event)
{
	struct replicas *replicas = node->replicas;

	if (!replicas || !replicas->has_event)
		return false;
	*ret_event = replicas->event;
	replicas->has_event = false;
	return true;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static int send(struct replicas *replicas, dw_usec now, const char *const *words)
{
	size_t sizes[5] = {0};
	int count = 0;

	for (; words[count]; count++)
		sizes[count] = strlen(words[count]);
	return link_send(replicas->link, count, words, sizes, now);
}

/* is_one returns true if the link and the node's own link lead to the same process. */
static bool is_one(const struct node *node)
{
	const struct link_server *server = link_server(node->replicas->link);

	return server && server->id[0] && strcmp(server->id, node->server) == 0;
}

/* name_key names a key of a shard that the node has. */
static bool name_key(const struct redis_store *store, const struct node *node, char *ret_key,
		     size_t size)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->shards[i].node == node) {
			(void)snprintf(ret_key, size, "{%s:%02u}:w", store->names.name,
				       i); /* always fits */
			return true;
		}
	return false;
}

/* ask begins a round. The write is a new expiry of a key, because a server without free memory does
 * not refuse it. */
static void ask(struct redis_store *store, struct node *node)
{
	struct replicas *replicas = node->replicas;
	char key[sizeof store->names.name + 16], number[16];
	const char *make[] = {"SET", key, "1", "PX", KEY_MS, NULL};
	const char *extend[] = {"PEXPIRE", key, KEY_MS, NULL};
	const char *wait[] = {"WAIT", number, WAIT_MS, NULL};
	static const char *const info[] = {"INFO", "replication", NULL};

	if (!name_key(store, node, key, sizeof key))
		return;
	(void)snprintf(number, sizeof number, "%u", store->url.replicas); /* always fits */
	if (send(replicas, store->now, replicas->has_key ? extend : make) != DW_OK ||
	    send(replicas, store->now, wait) != DW_OK ||
	    send(replicas, store->now, info) != DW_OK) {
		link_drop(replicas->link, "no memory to ask the replicas");
		return;
	}
	if (replicas->since == 0)
		replicas->since = store->now;
	replicas->is_asked = true;
	replicas->step = STEP_WRITE;
	replicas->last = node->held.count;
	replicas->has_written = replicas->is_refused = false;
	replicas->count = 0;
	replicas->history[0] = replicas->words[0] = '\0';
}

static void note_refusal(struct replicas *replicas, const struct reply *reply)
{
	replicas->is_refused = true;
	if (!replicas->words[0])
		(void)snprintf(replicas->words, sizeof replicas->words, "the server answers: %.*s",
			       (int)strcspn(reply->bytes, ","), reply->bytes); /* cut if long */
}

static void take_reply(struct replicas *replicas, const struct reply *reply)
{
	unsigned step = replicas->step++;

	if (reply->kind == REPLY_ERROR)
		note_refusal(replicas, reply);
	else if (step == STEP_WRITE && reply->kind == REPLY_INTEGER)
		replicas->has_written = replicas->has_key = reply->integer == 1;
	else if (step == STEP_WRITE)
		replicas->has_written = replicas->has_key = reply_is(reply, "OK");
	else if (step == STEP_WAIT && reply->kind == REPLY_INTEGER)
		replicas->count = replicas->had = replicas->has_written ? reply->integer : 0;
	else if (step == STEP_INFO && reply->kind == REPLY_BULK)
		hello_history(reply, replicas->history);
}

/* judge ends a round, and acts on its result. */
static void judge(struct redis_store *store, struct node *node)
{
	struct replicas *replicas = node->replicas;
	bool has_all = replicas->has_written && replicas->count >= (int64_t)store->url.replicas;

	replicas->is_asked = false;
	replicas->answered++;
	if (!node->connection)
		return;
	if (!is_one(node)) {
		link_drop(replicas->link, "it leads to another server");
	} else if (replicas->history[0] && strcmp(replicas->history, node->replication) != 0) {
		link_drop(node->link,
			  "the server was a replica meanwhile, or has other replicas now");
	} else if (has_all && replicas->history[0]) {
		held_release(store, node, replicas->last, DW_REPLICATED);
		replicas->is_sure = true;
		if (node->held.is_late)
			be_in_time(store, node);
		return;
	}
	if (!replicas->is_sure && store->now >= usec_add(replicas->since, OPENING_PATIENCE))
		be_late(store, node);
	if (replicas->is_refused || !replicas->is_sure || node->held.is_late)
		replicas->again_at = usec_add(store->now, PAUSE);
}

/* ---- The link -------------------------------------------------------------------------------- */

static int make_link(struct redis_store *store, struct node *node)
{
	struct replicas *replicas = alloc_new(&store->alloc, sizeof *replicas);
	int status = replicas ? link_open(store, &store->url, NULL, &replicas->link) : DW_ENOMEM;

	if (status != DW_OK) {
		alloc_free(&store->alloc, replicas);
		return status;
	}
	wake_channel_watch(&store->wake, link_descriptor(replicas->link));
	replicas->had = -1;
	node->replicas = replicas;
	return DW_OK;
}

/* listen reads the replies that have arrived. */
static void listen(struct redis_store *store, struct node *node)
{
	struct replicas *replicas = node->replicas;
	struct reply *reply;

	link_work(replicas->link, store->now);
	if (link_connection(replicas->link) != replicas->connection) {
		replicas->connection = link_connection(replicas->link);
		replicas->is_asked = false;
	}
	while ((reply = link_take(replicas->link))) {
		if (replicas->is_asked)
			take_reply(replicas, reply);
		reply_free(reply);
		if (replicas->is_asked && replicas->step == STEPS)
			judge(store, node);
	}
}

static bool has_to_ask(const struct redis_store *store, const struct node *node)
{
	const struct replicas *replicas = node->replicas;

	return replicas->connection && !replicas->is_asked && node->connection &&
	       store->now >= replicas->again_at &&
	       (node->held.requests.first || node->held.is_late || !replicas->is_sure);
}

/* is_late returns true if the oldest held answer has waited for too long. */
static bool is_late(const struct redis_store *store, const struct node *node)
{
	const struct redis_request *first = node->held.requests.first;

	return first && store->now >= usec_add(first->sent, REPLICAS_PATIENCE);
}

void replicas_work(struct redis_store *store, struct node *node)
{
	if (store->url.replicas == 0)
		return;
	/* Without memory or a descriptor for the link, the replicas count as late. */
	if (!node->replicas && make_link(store, node) != DW_OK) {
		held_release(store, node, UINT64_MAX, DW_STORED);
		return;
	}
	listen(store, node);
	if (is_late(store, node))
		be_late(store, node);
	if (has_to_ask(store, node)) {
		ask(store, node);
		link_work(node->replicas->link, store->now);
	}
}

dw_usec replicas_due(const struct redis_store *store, const struct node *node)
{
	const struct replicas *replicas = node->replicas;
	dw_usec at;

	if (!replicas)
		return DW_NEVER;
	at = link_due(replicas->link);
	if (node->held.requests.first)
		at = usec_min(at, usec_add(node->held.requests.first->sent, REPLICAS_PATIENCE));
	if (replicas->connection && !replicas->is_asked && node->connection &&
	    (node->held.requests.first || node->held.is_late || !replicas->is_sure))
		at = usec_min(at, usec_max(replicas->again_at, store->now));
	return at;
}

/* ---- Opening and stopping -------------------------------------------------------------------- */

static int refuse(const struct redis_store *store, const char *words, char *ret_message)
{
	(void)snprintf(ret_message, DW_MESSAGE_SIZE,
		       "%.60s: replicas=%u: %.90s: it needs WAIT, INFO, SET and PEXPIRE",
		       store->url.name, store->url.replicas, words); /* cut if long */
	return DW_ESTORE;
}

bool replicas_are_asked(const struct redis_store *store, const struct node *node)
{
	return store->url.replicas == 0 || (node->replicas && node->replicas->answered > 0);
}

int replicas_permit(struct redis_store *store, const struct node *node, char *ret_message)
{
	const struct replicas *replicas = node->replicas;
	const char *trouble;
	bool fatal;

	if (store->url.replicas == 0)
		return DW_OK;
	if (!replicas)
		return DW_ENOMEM;
	trouble = link_trouble(replicas->link, &fatal);
	if (replicas->answered == 0)
		return refuse(store, trouble[0] ? trouble : "the server does not answer",
			      ret_message);
	if (replicas->is_refused)
		return refuse(store, replicas->words, ret_message);
	if (!node->server[0] || !replicas->history[0])
		return refuse(store, "INFO does not show run_id and master_replid", ret_message);
	return DW_OK;
}

void replicas_stats(const dw_store *base, dw_replica_stats *ret_stats)
{
	const struct redis_store *store = (const struct redis_store *)base;

	*ret_stats = store->node.held.stats;
	ret_stats->replicas = store->url.replicas;
	ret_stats->is_late = store->node.held.is_late;
}

void replicas_end(struct redis_store *store, struct node *node)
{
	held_release(store, node, UINT64_MAX, DW_STORED);
}

void replicas_free(struct redis_store *store, struct node *node)
{
	replicas_end(store, node);
	if (!node->replicas)
		return;
	link_free(node->replicas->link);
	alloc_free(&store->alloc, node->replicas);
	node->replicas = NULL;
}

void replicas_aim(struct redis_store *store, const struct node *node)
{
	if (node->replicas)
		link_aim(node->replicas->link, store->now);
}
