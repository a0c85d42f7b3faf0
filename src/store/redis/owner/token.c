/* The fencing token of a shard (fence, nonce and connection), and what the server's replies say
 * about it. Also the server's clock, from which versions are made. */
#include "store/redis/owner/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/link_server.h"
#include "store/identity.h"
#include "store/redis/core.h"

#define LEFT_FOR DW_SECONDS(3)

/* ---- Time ------------------------------------------------------------------------------------ */

/* clock_learn assumes that the reply took no time, so that this clock is never ahead of the
 * server's. A version ahead of the server's clock could be given twice: the server might lose the
 * first one, and then give the same version again. */
void clock_learn(const struct redis_store *store, struct node *node, int64_t server_time)
{
	node->clock.time = server_time;
	node->clock.at = store->now;
}

uint64_t clock_latest(const struct server_clock *clock, dw_usec now)
{
	dw_usec time = usec_add(clock->time, usec_sub(now, clock->at));

	return time > 0 && (uint64_t)time > clock->floor ? (uint64_t)time : clock->floor;
}

/* clock_version returns a floor for the version of the next timer. The server makes versions from
 * its own clock, and the floor keeps them in the order of the calls over all shards. Each shard
 * rounds up to the next version that belongs to it, so the floor grows by the number of shards. */
uint64_t clock_version(const struct redis_store *store, struct node *node)
{
	node->clock.floor += store->shard_count;
	node->clock.floor = clock_latest(&node->clock, store->now);
	return node->clock.floor;
}

/* end_of returns when a lease ends for us. It counts from the time at which the command was sent,
 * and subtracts a margin for clocks of different speed. */
static dw_usec end_of(const struct redis_ownership *ownership, dw_usec sent)
{
	dw_usec margin = usec_add(ownership->lease / 1000, DW_MILLISECONDS(50));

	return usec_add(sent, usec_sub(ownership->lease, margin));
}

void token_extend(struct redis_store *store, struct shard *shard, dw_usec sent)
{
	const struct link_server *server = link_server(shard->node->link);

	shard->lease.until = end_of(&store->ownership, sent);
	shard->lease.away = 0;
	shard->lease.is_moved = false;
	shard->lease.asked_at = sent;
	if (server)
		memcpy(shard->lease.server, server->id, sizeof shard->lease.server);
	if (shard->cut.state == CUT_MENDED)
		shard_mark(&store->sets, shard, SHARD_OURS);
}

/* ends_at returns when the lease ends. It ends at the latest when this store must not use the
 * server any more. */
static dw_usec ends_at(const struct shard *shard)
{
	return usec_min(shard->lease.until, shard->node->named.until);
}

dw_usec token_until(const struct redis_store *store, unsigned number)
{
	const struct shard *shard = &store->shards[number];

	if (!shard_may_serve(shard) || shard_is_cut_off(shard))
		return INT64_MIN;
	/* After a loss a claim from before may start only when it was written again. */
	return shard->rebuild.state == REBUILD_NONE ? ends_at(shard) : 0;
}

/* has_ended returns true if the time of the lease has ended. */
static bool has_ended(const struct redis_store *store, const struct shard *shard)
{
	return store->now >= usec_add(ends_at(shard), shard->lease.away);
}

bool token_is_over(const struct redis_store *store, const struct shard *shard)
{
	return !shard->lease.is_moved && has_ended(store, shard);
}

void token_connected(struct redis_store *store, const struct node *node)
{
	const struct link_server *server = link_server(node->link);

	for (unsigned i = 0; server && i < store->shard_count; i++) {
		struct shard_lease *lease = &store->shards[i].lease;

		if (store->shards[i].node != node)
			continue;
		if (server->away_since < usec_add(lease->until, lease->away))
			lease->away =
			    usec_add(lease->away, usec_sub(server->away_until, server->away_since));
	}
}

bool token_is_of_before(const struct shard *shard)
{
	const struct link_server *server = link_server(shard->node->link);
	const char *last = shard->lease.server;

	return server && server->id[0] && last[0] && strcmp(server->id, last) != 0;
}

bool token_is_forgotten(const struct redis_store *store, const struct shard *shard)
{
	return token_is_over(store, shard) && token_is_of_before(shard);
}

void token_forget(struct shard *shard)
{
	shard->lease.is_ours = false;
	shard->lease.fence = 0;
	shard->lease.is_moved = false;
	shard->lease.until = shard->lease.away = shard->lease.asked.until = 0;
}

/* ---- The token ------------------------------------------------------------------------------- */

/* token_has_holder returns false for a process that died on this machine, because its lease no
 * longer counts. */
bool token_has_holder(const struct reply *holder)
{
	const char *bar = strchr(holder->bytes, '|');

	return holder->size > 0 && !(bar && identity_is_dead(bar + 1));
}

bool token_is_dead(const struct reply *held)
{
	return held->items[3].size > 0 && !token_has_holder(&held->items[3]);
}

static bool has_nonce(const struct names *names, const struct reply *token)
{
	const char *nonce = strchr(token->bytes, ':');
	size_t size = strlen(names->nonce);

	return nonce && strncmp(nonce + 1, names->nonce, size) == 0 && nonce[1 + size] == ':';
}

/* number_of returns the number of one of this store's incarnations; 0 for any other text. */
static unsigned number_of(const struct names *names, const struct reply *incarnation)
{
	const char *dot = strrchr(incarnation->bytes, '.');
	unsigned number = dot ? (unsigned)strtoul(dot + 1, NULL, 10) : 0;
	char ours[INCARNATION_SIZE];

	token_incarnation(names, number, ours);
	return reply_is(incarnation, ours) ? number : 0;
}

bool token_is_ours(const struct redis_store *store, const struct shard *shard,
		   const struct reply *held)
{
	const struct token_asks *asked = &shard->lease.asked;
	unsigned number;

	if (!has_nonce(&store->names, &held->items[1]))
		return false;
	if (shard->lease.fence > 0)
		return !token_is_over(store, shard);
	number = held->count > 6 ? number_of(&store->names, &held->items[6]) : 0;
	return number >= asked->first && number <= asked->last && store->now < asked->until;
}

void token_note_version(struct shard *shard, uint64_t version)
{
	if (shard->lease.high < version && version <= VALUE_SCORE_MAX)
		shard->lease.high = version;
}

void token_note_row(struct shard *shard, const dw_row *row)
{
	if (row->status == DW_OK)
		token_note_version(shard, row->head.generation);
}

/* read_jump reads "version:step". The text may be empty. */
static void read_jump(struct shard_lease *lease, const char *words)
{
	char *colon;

	lease->jump = strtoull(words, &colon, 10);
	lease->step = *colon == ':' ? (uint32_t)strtoul(colon + 1, NULL, 10) : 1;
}

/* forget_ended is called when this store takes a shard that it did not have. If the shard was
 * emptied since this store last had it, new timers may have lower versions than timers that ended
 * before. So the tombstones are dropped. */
static void forget_ended(struct alloc *alloc, struct shard *shard, const struct reply *incarnation)
{
	if (!shard_is_ours(shard) && !reply_is(incarnation, shard->lease.incarnation))
		tombstone_free_all(alloc, shard);
}

bool token_take(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	if (reply->items[1].size >= TOKEN_SIZE || reply->items[2].size >= INCARNATION_SIZE)
		return false;
	forget_ended(&store->alloc, shard, &reply->items[2]);
	memcpy(shard->lease.token, reply->items[1].bytes, reply->items[1].size + 1);
	memcpy(shard->lease.incarnation, reply->items[2].bytes, reply->items[2].size + 1);
	shard->lease.fence = strtoull(shard->lease.token, NULL, 10);
	shard->lease.asked.until = 0;
	if (shard->lease.told < shard->lease.fence)
		shard->lease.told = shard->lease.fence;
	shard->dead_count = (uint64_t)reply_number(&reply->items[6]);
	shard_expect_news(&store->sets, shard);
	shard->inbox.seen = 0;
	read_jump(&shard->lease, reply->items[8].bytes);
	token_note_version(shard, (uint64_t)reply_number(&reply->items[3]));
	return true;
}

void token_incarnation(const struct names *names, unsigned number, char *ret_era)
{
	/* The text always fits. */
	(void)snprintf(ret_era, INCARNATION_SIZE, "%s.%u", names->nonce, number);
}

/* floor_of returns a version above all versions that the shard has given. From now on the shard
 * gives only later versions, even if the server has lost some and its clock went back. So the next
 * fence is also above every fence that this store has had. */
static uint64_t floor_of(const struct server_clock *clock, struct shard *shard)
{
	token_note_version(shard, shard->lease.told + 1);
	token_note_version(shard, shard->inbox.seen);
	return shard->lease.high > clock->floor ? shard->lease.high : clock->floor;
}

/* add_server adds which process the server is, and for how long it is known to be up. With
 * has_proof nobody else can have had the shard, so the time does not matter. */
static void add_server(struct redis_store *store, const struct shard *shard, bool has_proof)
{
	const struct link_server *server = link_server(shard->node->link);
	struct redis_command *words = &store->draft.words;

	command_text(words, server ? server->id : "");
	if (has_proof || !server)
		command_text(words, "");
	else
		command_number(words, usec_max(usec_sub(store->now, server->up_since), 0) / 1000);
}

/* leaves returns how long an emptied shard is reserved for the peer that knows its timers. */
static dw_usec leaves(const struct redis_store *store, const struct shard *shard)
{
	bool is_known = shard_is_ours(shard) || store->now < store->layout.alone_until;

	return is_known ? 0 : LEFT_FOR;
}

/* note_asking adds the acquisition that is being made to those whose replies were lost, unless the
 * lease of the first of these may be over. */
static void note_asking(const struct redis_store *store, struct shard_lease *lease)
{
	unsigned number = store->names.incarnations;

	if (store->now < lease->asked.until)
		lease->asking = lease->asked;
	else
		lease->asking = (struct token_asks){.first = number,
						    .until = end_of(&store->ownership, store->now)};
	lease->asking.last = number;
}

void token_add_acquire(struct redis_store *store, struct shard *shard,
		       const struct token_seen *seen)
{
	struct redis_command *words = &store->draft.words;

	call_begin_rare(&store->draft, SCRIPT_ACQUIRE, shard);
	command_text(words, store->names.nonce);
	command_unsigned(words, nodes_connection(shard));
	command_number(words, store->ownership.lease / 1000);
	command_unsigned(words, floor_of(&shard->node->clock, shard));
	command_text(words, store->names.holder);
	command_number(words, store->shard_count);
	/* The name of a new incarnation is this store's nonce and a count. */
	store->names.incarnations++;
	token_incarnation(&store->names, store->names.incarnations, store->names.incarnation);
	command_text(words, store->names.incarnation);
	command_text(words, seen->token);
	command_text(words, shard->rebuild.state == REBUILD_ACQUIRING && shard->lease.fence > 0
				? shard->lease.incarnation
				: "");
	command_text(words, store->env.fires ? "1" : "");
	command_text(words, store->ownership.acquisition.op ? "1" : "");
	command_unsigned(words, seen->fence);
	add_server(store, shard,
		   seen->is_ours || (shard_is_ours(shard) && !token_is_over(store, shard)));
	if (shard_is_shared(store)) {
		command_text(words, "1");
		command_number(words, leaves(store, shard));
	}
	note_asking(store, &shard->lease);
}

void token_ask_lost(struct shard *shard)
{
	shard->lease.asked = shard->lease.asking;
}

/* fence_seen returns the fence of the owner that a refusal names. */
static uint64_t fence_seen(const struct reply *reply)
{
	uint64_t held = strtoull(reply->items[1].bytes, NULL, 10);
	uint64_t last = 0;

	if (reply_is(&reply->items[0], "ERA"))
		return (uint64_t)reply_number(&reply->items[2]);
	if (reply->count > 5)
		last = (uint64_t)reply_number(&reply->items[5]);
	return held > last ? held : last;
}

/* was_asked_last returns true if the last acquisition of the shard was ours. If its fence is higher
 * than the one that we know, the reply to it was lost. */
static bool was_asked_last(const struct names *names, const struct reply *reply)
{
	unsigned at = reply_is(&reply->items[0], "HELD") ? 6 : 3;

	return reply->count > at && number_of(names, &reply->items[at]) > 0;
}

bool token_is_succeeded(const struct redis_store *store, const struct shard *shard,
			const struct reply *reply)
{
	bool is_held = reply_is(&reply->items[0], "HELD");
	const struct reply *incarnation = is_held ? &reply->items[4] : &reply->items[1];

	return fence_seen(reply) > shard->lease.fence && !was_asked_last(&store->names, reply) &&
	       !(is_held && token_is_ours(store, shard, reply)) &&
	       (has_ended(store, shard) || reply_is(incarnation, shard->lease.incarnation));
}

bool token_goes_on(const struct shard *shard, const struct reply *reply)
{
	return shard->lease.is_moved && reply->items[1].size > 0;
}

bool token_went_back(const struct shard *shard, const struct reply *reply)
{
	return (uint64_t)reply_number(&reply->items[1]) < shard->channel.acked ||
	       (uint64_t)reply_number(&reply->items[2]) < shard->inbox.seen;
}

void token_of(const struct names *names, const struct shard *shard, char *ret_token)
{
	(void)snprintf(ret_token, TOKEN_SIZE, "%" PRIu64 ":%s:%" PRIu64, shard->lease.fence,
		       /* At most 20 + 16 + 20 digits. */
		       names->nonce, nodes_connection(shard));
}
