#include "store/redis/heal/cut_off.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

#define LOOK_EVERY DW_SECONDS(1)
/* If a refusal that may pass lasts for this long, the shard is cut off. */
#define PASSING_FOR DW_SECONDS(1)

static const char *const types[KEYS_OF_SHARD] = {
    [KEY_LEASE] = "string", [KEY_META] = "hash",   [KEY_TIMERS] = "zset",  [KEY_VALUES] = "hash",
    [KEY_INBOX] = "zset",   [KEY_DEAD] = "zset",   [KEY_LETTERS] = "hash", [KEY_NAMES] = "zset",
    [KEY_SESSION] = "hash", [KEY_ENDS] = "hash",   [KEY_UNTILS] = "zset",  [KEY_TOPICS] = "hash",
    [KEY_DROPPED] = "hash", [KEY_COUNTS] = "hash", [KEY_MEMBERS] = "zset", [KEY_RECORDS] = "hash",
    [KEY_REPORTS] = "hash"};

bool cut_off_type_differs(const struct reply *reply, unsigned key, char *ret_words)
{
	const char *type = reply->items[key].bytes;

	if (strcmp(type, types[key]) == 0 || strcmp(type, "none") == 0)
		return false;
	(void)snprintf(ret_words, CUT_OFF_WORDS,
		       "is of the type %.20s instead of %s: rename or delete it", type, types[key]);
	return true;
}

int cut_off_ask(struct redis_store *store, struct shard *shard, request_answered *answered,
		request_lost *lost, void *context)
{
	call_begin_rare(&store->draft, SCRIPT_TYPES, shard);
	return request_post(store, shard, answered, lost, context);
}

/* ---- Asking -------------------------------------------------------------------------------- */

/* may_be_sure is called when cut_off_is_sure() may have become true. The operations of cut-off
 * shards can then be answered. */
static void may_be_sure(struct redis_store *store)
{
	const struct shard_set *set = &store->sets.looked_at;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1))
		shard_mark(&store->sets, &store->shards[i], SHARD_READY);
}

/* look_ended is called when the reply of types.lua about a shard has arrived, or was lost. */
static void look_ended(struct redis_store *store, struct shard *shard)
{
	shard->cut.is_asked = false;
	if (--store->sets.looks == 0)
		may_be_sure(store);
}

static void why_answered(struct redis_store *store, struct redis_request *request,
			 const struct reply *reply)
{
	look_ended(store, request->shard);
	if (!cut_off_learn(store, request->shard, reply))
		shard_mark(&store->sets, request->shard, SHARD_READY);
	request_free(&store->alloc, request);
}

static void why_lost(struct redis_store *store, struct redis_request *request)
{
	look_ended(store, request->shard);
	request_free(&store->alloc, request);
}

void cut_off_look(struct redis_store *store, struct shard *shard)
{
	if (shard->cut.is_asked || cut_off_ask(store, shard, why_answered, why_lost, NULL) != DW_OK)
		return;
	shard->cut.is_asked = true;
	store->sets.looks++;
}

static void look_later(struct shard_sets *sets, struct shard *shard, dw_usec at)
{
	shard->cut.look_at = at;
	shard_add(&sets->looked_at, shard->number);
}

/* ---- Cutting off --------------------------------------------------------------------------- */

static void look_at_others(struct redis_store *store, const struct shard *shard)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (i != shard->number && !shard_is_cut_off(&store->shards[i]))
			cut_off_look(store, &store->shards[i]);
}

/* leave_rebuild stops the rebuild of a shard, so that the shard is acquired and written once more
 * later. The engine believes that the rebuild is done, although the server has refused the rest of
 * it. */
static void leave_rebuild(struct shard *shard)
{
	if (shard->rebuild.state != REBUILD_ACQUIRED && shard->rebuild.state != REBUILD_TOLD)
		return;
	shard->rebuild.state = REBUILD_FOUND;
	channel_forget(&shard->channel);
}

/* cut_off stops all commands of the shard. Its waiting operations are answered when the engine is
 * told, so that they do not hold up others. */
static void cut_off(struct redis_store *store, struct shard *shard)
{
	if (shard->cut.state == CUT_NOT) {
		complain(store, "shard %u is cut off: %s", shard->number, shard->cut.words);
		store->sets.cut_off_count++;
		shard->cut.is_answered = false;
		look_later(&store->sets, shard, usec_add(store->now, LOOK_EVERY));
		shard_add(&store->sets.untold, shard->number);
		leave_rebuild(shard);
	}
	if (shard->cut.state == CUT_MENDED)
		may_be_sure(store);
	shard->cut.state = CUT_OFF;
	shard_mark(&store->sets, shard, SHARD_READY);
}

/* advice returns what a person can do; "": the server's words say enough. */
static const char *advice(const struct reply *error)
{
	if (reply_fails(error, "ASK") || reply_fails(error, "TRYAGAIN"))
		return "; its slot is being moved: end that";
	if (reply_fails(error, "CLUSTERDOWN"))
		return "; start the masters that are away";
	return "";
}

static void tell_refusal(const struct redis_store *store, struct shard *shard,
			 const struct reply *error)
{
	bool names_it = store->nodes.cluster && shard->node->name;

	/* Long words are cut. */
	(void)snprintf(shard->cut.words, CUT_OFF_WORDS, "%.70s refuses {%.40s:%02u}: %s%s",
		       names_it ? shard->node->name : "the server", store->names.name,
		       shard->number, error->bytes, store->nodes.cluster ? advice(error) : "");
}

/* learn_refusal is called when the server has refused types.lua. Returns true if the shard is cut
 * off. */
static bool learn_refusal(struct redis_store *store, struct shard *shard, const struct reply *error)
{
	if (store->nodes.cluster && reply_fails(error, "MOVED"))
		nodes_moved(store);
	if (!call_is_of_shard(error) || (store->nodes.cluster && reply_fails(error, "MOVED")) ||
	    (node_refuses(shard->node) && store->nodes.count < 2))
		return shard->cut.state == CUT_OFF;
	if (shard->cut.refused_since == 0)
		shard->cut.refused_since = store->now;
	if (call_passes(&store->nodes, error) &&
	    store->now < usec_add(shard->cut.refused_since, PASSING_FOR)) {
		store->sets.may_pass_until = usec_add(shard->cut.refused_since, PASSING_FOR);
		if (shard->cut.state == CUT_NOT)
			look_later(&store->sets, shard, store->sets.may_pass_until);
		return shard->cut.state == CUT_OFF;
	}
	tell_refusal(store, shard, error);
	if (shard->cut.state == CUT_NOT)
		look_at_others(store, shard); /* the server may refuse them all */
	cut_off(store, shard);
	return true;
}

/* learn_wrong_type returns true if a key of the shard has a wrong type. */
static bool learn_wrong_type(struct redis_store *store, struct shard *shard,
			     const struct reply *reply)
{
	char words[CUT_OFF_WORDS];

	for (unsigned i = 0; i < KEY_COUNT; i++) {
		if (!cut_off_type_differs(reply, i, words))
			continue;
		(void)snprintf(shard->cut.words, CUT_OFF_WORDS, "the key %.80s %.100s",
			       shard->keys.name[i], words); /* long words are cut */
		cut_off(store, shard);
		return true;
	}
	return false;
}

static bool can_look(const struct redis_store *store, const struct shard *shard)
{
	return shard->node->connection && !store->stopped;
}

/* mended is called when the server takes commands of a shard again. It probably takes those of
 * other shards, too, so the store looks at these now. */
static void mended(struct redis_store *store, struct shard *shard)
{
	const struct shard_set *set = &store->sets.looked_at;
	bool is_first = shard->cut.state == CUT_OFF;

	shard->cut.state = CUT_MENDED;
	shard_mark(&store->sets, shard, SHARD_MENDED);
	if (!is_first)
		return;
	shard->cut.unsure_until = usec_add(store->now, LOOK_EVERY);
	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1)) {
		struct shard *other = &store->shards[i];

		if (other->cut.state == CUT_OFF && can_look(store, other))
			cut_off_look(store, other);
	}
}

bool cut_off_learn(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	if (reply->kind == REPLY_ERROR)
		return learn_refusal(store, shard, reply);
	shard->cut.refused_since = 0;
	if (learn_wrong_type(store, shard, reply))
		return true;
	if (shard_is_cut_off(shard))
		mended(store, shard);
	else
		shard_remove(&store->sets.looked_at, shard->number);
	return false;
}

void cut_off_end(struct redis_store *store, struct shard *shard)
{
	if (shard->cut.state != CUT_MENDED)
		return;
	shard->cut.state = CUT_NOT;
	store->sets.cut_off_count--;
	shard_remove(&store->sets.looked_at, shard->number);
	may_be_sure(store);
	shard_add(&store->sets.untold, shard->number);
	shard_expect_news(&store->sets, shard);
	shard->topic_changes = 0; /* the owner reads its settings of topics again */
	shard_mark(&store->sets, shard, SHARD_READY);
}

/* ---- Nodes that are away ------------------------------------------------------------------- */

bool cut_off_settled(const struct redis_store *store)
{
	if (!nodes_are_up(&store->nodes))
		return false;
	for (unsigned i = 0; i < store->nodes.count; i++)
		if (store->now < node_trouble_at(store->nodes.list[i]) &&
		    !store->nodes.list[i]->connection)
			return false;
	return true;
}

static bool is_away(const struct redis_store *store, const struct node *node)
{
	if (node->connection)
		return node_refuses(node);
	return store->now >= node_trouble_at(node);
}

static void cut_off_node(struct redis_store *store, struct shard *shard)
{
	bool fatal = false;
	const char *why = link_trouble(shard->node->link, &fatal);

	(void)snprintf(shard->cut.words, CUT_OFF_WORDS, "%s",
		       why[0] ? why : "there is no connection to its node"); /* cut if long */
	cut_off(store, shard);
}

/* cut_off_away cuts off the shards whose node is away while another node is connected. Without any
 * connected node, no shard is cut off: the whole store is in trouble, as with one server. */
static void cut_off_away(struct redis_store *store)
{
	if (store->nodes.count < 2 || !nodes_are_up(&store->nodes))
		return;
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (is_away(store, shard->node) && shard->cut.state != CUT_OFF)
			cut_off_node(store, shard);
	}
}

void cut_off_connected(struct redis_store *store, const struct node *node)
{
	for (unsigned i = 0; store->nodes.count > 1 && i < store->shard_count; i++)
		if (store->shards[i].node == node && store->shards[i].cut.state == CUT_OFF)
			store->shards[i].cut.look_at = store->now;
}

/* ---- Telling ------------------------------------------------------------------------------- */

const char *cut_off_all(const struct redis_store *store)
{
	bool all = store->shard_count > 0 && store->sets.cut_off_count == store->shard_count;

	return all ? store->shards[0].cut.words : NULL;
}

/* tell_loss reports that the shard was lost. If the shard is ours again, the next call reports
 * that. */
static void tell_loss(struct shard_sets *sets, struct shard *shard, dw_shard_news *ret_news)
{
	shard->lease.loss_untold = false;
	ret_news->state = DW_SHARD_FOREIGN;
	if (shard_is_ours(shard))
		shard_add(&sets->untold, shard->number);
}

bool cut_off_is_sure(const struct redis_store *store)
{
	const struct shard_set *set = &store->sets.looked_at;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1))
		if (store->shards[i].cut.state == CUT_MENDED &&
		    store->now < store->shards[i].cut.unsure_until)
			return false;
	return store->sets.looks == 0;
}

/* next_untold returns the first shard that has news. While it is not sure which shards are refused,
 * it returns none: all may turn out to be refused, or none. There is one exception: if operations
 * of a shard were already answered, the engine must learn why. */
static unsigned next_untold(const struct redis_store *store)
{
	const struct shard_set *set = &store->sets.untold;
	unsigned number = shard_next(set, 0);
	bool is_sure = cut_off_is_sure(store);

	while (number < store->shard_count && !is_sure &&
	       !(shard_is_cut_off(&store->shards[number]) && store->shards[number].cut.is_answered))
		number = shard_next(set, number + 1);
	return number;
}

/* While all shards are cut off, no news of a shard is reported, because the whole store is in
 * trouble. */
bool cut_off_take(struct redis_store *store, dw_shard_news *ret_news)
{
	unsigned number = next_untold(store);
	struct shard *shard;

	if (number >= store->shard_count || cut_off_all(store))
		return false;
	shard = &store->shards[number];
	shard_remove(&store->sets.untold, number);
	*ret_news =
	    (dw_shard_news){.number = number,
			    .state = shard_is_ours(shard) ? DW_SHARD_OWNED : DW_SHARD_FOREIGN,
			    .refused = store->sets.cut_off_count};
	if (shard_is_cut_off(shard)) {
		ret_news->state = DW_SHARD_REFUSED;
		ret_news->status = DW_ESTORE;
		(void)snprintf(ret_news->words, sizeof ret_news->words, "%s", shard->cut.words);
	} else if (shard->lease.loss_untold) {
		tell_loss(&store->sets, shard, ret_news);
	}
	return true;
}

/* ---- While shards are cut off --------------------------------------------------------------- */

dw_usec cut_off_due(const struct redis_store *store)
{
	const struct shard_set *set = &store->sets.looked_at;
	dw_usec at = DW_NEVER;

	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1))
		if (can_look(store, &store->shards[i]))
			at = usec_min(at, store->shards[i].cut.look_at);
	return at;
}

void cut_off_work(struct redis_store *store)
{
	const struct shard_set *set = &store->sets.looked_at;

	cut_off_away(store);
	for (unsigned i = shard_next(set, 0); i < store->shard_count; i = shard_next(set, i + 1)) {
		struct shard *shard = &store->shards[i];

		if (!can_look(store, shard) || store->now < shard->cut.look_at)
			continue;
		shard->cut.look_at = usec_add(store->now, LOOK_EVERY);
		cut_off_look(store, shard);
	}
}
