/* A new connection. Commands may still lie in the socket of the last one, and a server that was
 * stopped will carry them out when it goes on. So before anything else the token, or the session's
 * connection, is replaced: they are stale from then on. The answer says up to which number all was
 * applied before, so nothing stays in doubt. */
#include "store/redis/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void greeted(struct redis_store *store, struct shard *shard, uint64_t mark)
{
	struct request *request;

	shard->greeting = GREETING_DONE;
	shard->acked = mark;
	shard->next = mark + 1;
	shard->broken = false;
	for (struct doubt *doubt = shard->doubts; doubt; doubt = doubt->next) {
		if (!doubt->resolved)
			doubt->applied = doubt->number <= mark;
		doubt->resolved = true;
	}
	while ((request = flow_limbo_pop(shard))) {
		change_resolve(store, shard, request, request->number <= mark);
		request_free(store, request);
	}
	flow_flush_shard(store, shard);
}

/* ask_again: not now, but as soon as it may: nothing is fired until every shard is greeted. */
static void ask_again(struct redis_store *store, struct shard *shard)
{
	shard->greeting = GREETING_NONE;
	if (shard->pause_until <= store->now)
		shard->pause_until = usec_add(store->now, DW_MILLISECONDS(2));
	if (store->role == DW_OWNER)
		store->renew_at = usec_min(store->renew_at, shard->pause_until);
}

/* ---- The owner ----------------------------------------------------------------------------- */

/* token_of writes the token that the shard has on this connection. */
static void token_of(const struct redis_store *store, const struct shard *shard, char *ret_token)
{
	(void)snprintf(ret_token, TOKEN_SIZE, "%" PRIu64 ":%s:%" PRIu64, shard->fence, store->nonce,
		       store->connections); /* 20 + 16 + 20 digits */
}

/* is_ours: the lease has a token of ours that an earlier greeting has put there, whose answer was
 * lost. */
static bool is_ours(const struct redis_store *store, const struct shard *shard,
		    const struct reply *reply)
{
	char mine[TOKEN_SIZE];
	int size = snprintf(mine, sizeof mine, "%" PRIu64 ":%s:", shard->fence, store->nonce);

	return reply_is(&reply->items[0], "HELD") && reply->items[1].size < TOKEN_SIZE &&
	       strncmp(reply->items[1].bytes, mine, (size_t)size) == 0;
}

static void greeted_as_owner(struct redis_store *store, struct shard *shard, uint64_t mark)
{
	greeted(store, shard, mark);
	loss_is_sure(store, shard);
}

static void owner_greeted(struct redis_store *store, struct request *request,
			  const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);
	uint64_t mark;

	if (store->role != DW_OWNER) {
		/* Lost meanwhile: what is asked next is a session. */
	} else if (failure == FAILURE_NONE && is_ours(store, shard, reply)) {
		memcpy(shard->token, reply->items[1].bytes, reply->items[1].size + 1);
		ask_again(store, shard);
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK")) {
		mark = (uint64_t)reply_number(&reply->items[1]);
		lease_learn_time(store, reply_number(&reply->items[3]));
		lease_note_version(shard, (uint64_t)reply_number(&reply->items[2]));
		lease_taken(store, shard, request->sent);
		token_of(store, shard, shard->token);
		shard->news = shard->news || reply_number(&reply->items[4]) > 0;
		shard->dead_count = (uint64_t)reply_number(&reply->items[5]);
		if (shard->loss == LOSS_FOUND || lease_went_back(shard, reply))
			loss_begin(store, shard);
		else
			greeted_as_owner(store, shard, mark);
	} else if (failure == FAILURE_NONE || failure == FAILURE_LOST) {
		loss_refused(store, shard, reply);
	} else {
		ask_again(store, shard);
	}
	request_free(store, request);
}

static void greeting_lost(struct redis_store *store, struct request *request)
{
	request_free(store, request);
}

static void greet_as_owner(struct redis_store *store, struct shard *shard, struct request *request)
{
	request->answered = owner_greeted;
	token_of(store, shard, store->token);
	call_begin(store, "renew", shard);
	command_text(&store->words, shard->token);
	command_text(&store->words, store->token);
	command_number(&store->words, store->lease / 1000);
	command_text(&store->words, shard->era);
}

/* ---- A client ------------------------------------------------------------------------------ */

/* forget_session: the server does not know our session, or only what it was before our last
 * greeting: it is over, or lost, or was set back. So nobody can say what was applied of what was
 * sent in it. What was known to be applied is looked for on. */
static void forget_session(struct redis_store *store, struct shard *shard)
{
	struct request_list limbo = shard->limbo;
	struct request *request;

	for (struct doubt *doubt = shard->doubts; doubt; doubt = doubt->next)
		if (!doubt->resolved)
			doubt->resolved = doubt->applied = true; /* perhaps */
	shard->limbo = (struct request_list){0};
	while ((request = limbo.first)) {
		limbo.first = request->next;
		if (!request->number) {
			flow_limbo(shard, request);
			continue;
		}
		answer_doubtful(store, &request->ops);
		request_free(store, request);
	}
}

/* is_another_session: than the one of our last greeting, which is over, or was set back to before
 * that. A greeting of ours may have made it that came later than its connection was lost. */
static bool is_another_session(const struct shard *shard, const struct reply *reply)
{
	return (uint64_t)reply_number(&reply->items[5]) < shard->session ||
	       (shard->session > 0 && (uint64_t)reply_number(&reply->items[6]) > shard->session);
}

/* other_number: the shard has none, or another one than we know. */
static void other_number(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];

	if (reply_is(&reply->items[0], "NEW")) {
		layout_is_new(store, shard, reply_number(&reply->items[1]));
	} else if (reply_is(&reply->items[0], "SHARDS")) {
		layout_words(store, shard->number, &reply->items[1], words);
		complain(store, "%s", words);
		shard->pause_until = usec_add(store->now, PAUSE);
		layout_doubt(store);
	}
}

static void client_greeted(struct redis_store *store, struct request *request,
			   const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	if (store->role == DW_OWNER) {
		/* Became the owner meanwhile. */
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK")) {
		lease_learn_time(store, reply_number(&reply->items[3]));
		if (is_another_session(shard, reply))
			forget_session(store, shard);
		shard->session = store->connections;
		greeted(store, shard, (uint64_t)reply_number(&reply->items[1]));
		layout_is_ours(store, shard);
	} else {
		if (failure == FAILURE_NONE)
			other_number(store, shard, reply);
		ask_again(store, shard);
		if (shard->fixes) {
			shard->pause_until = 0;
			greet(store, shard);
		}
	}
	request_free(store, request);
}

static void greet_as_client(struct redis_store *store, struct shard *shard, struct request *request)
{
	request->answered = client_greeted;
	call_begin_rare(store, "session", shard);
	command_number(&store->words, (int64_t)store->connections);
	command_number(&store->words, SESSION_TTL / 1000);
	command_number(&store->words, store->shard_count);
	command_text(&store->words, shard->fixes ? "1" : "");
	command_text(&store->words, store->channel);
	shard->fixes = false;
}

void greet(struct redis_store *store, struct shard *shard)
{
	struct request *request;

	if (!store->connection || store->now < shard->pause_until)
		return;
	request = request_new(store, shard, NULL, greeting_lost);
	if (!request) {
		ask_again(store, shard);
		return;
	}
	if (store->role == DW_OWNER)
		greet_as_owner(store, shard, request);
	else
		greet_as_client(store, shard, request);
	if (request_send(store, request) != DW_OK) {
		request_free(store, request);
		ask_again(store, shard);
		return;
	}
	shard->greeting = GREETING_ASKED;
}

/* ---- The end ------------------------------------------------------------------------------- */

static void ended(struct redis_store *store, struct request *request, const struct reply *reply)
{
	(void)reply; /* it ends by itself, too */
	request_free(store, request);
}

/* greet_end: the session is what refuses commands that still lie in the socket of an earlier
 * connection, so only a client that has had no other one takes it away. */
void greet_end(struct redis_store *store)
{
	for (unsigned i = 0; store->connections == 1 && i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];
		struct request *request;

		if (shard->session == 0)
			continue;
		request = request_new(store, NULL, ended, greeting_lost);
		if (!request)
			return;
		command_begin(store, "UNLINK");
		command_bytes(&store->words, shard->keys[KEY_SESSION],
			      shard->key_sizes[KEY_SESSION]);
		if (request_send(store, request) != DW_OK)
			request_free(store, request);
		shard->session = 0;
	}
}
