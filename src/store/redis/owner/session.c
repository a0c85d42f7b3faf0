/* The handshake of a shard on a new connection. Commands may still be in the socket of the last
 * connection, and a server that was stopped carries them out when it continues. Therefore the
 * handshake comes before anything else. It replaces the owner's token, or the connection of the
 * client's session, so that the server refuses those commands. Its reply tells the number up to
 * which the server has applied all commands, so no command stays in doubt. */
#include "store/redis/owner/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

void handshake_done(struct redis_store *store, struct shard *shard, uint64_t mark)
{
	struct redis_request *request;

	shard->channel.handshake = HANDSHAKE_DONE;
	shard->channel.acked = mark;
	shard->channel.next = mark + 1;
	shard->channel.is_broken = false;
	for (struct put_in_doubt *put = shard->in_doubt.puts; put; put = put->next)
		if (put->doubt == DOUBT_OPEN)
			put->doubt = put->number <= mark ? DOUBT_APPLIED : DOUBT_NOT_APPLIED;
	while ((request = request_pop(&shard->in_doubt.requests))) {
		if (!held_again(store, shard, request, request->number <= mark))
			outcome_resolve(store, shard, request, request->number <= mark);
		request_free(&store->alloc, request);
	}
	shard_mark(&store->sets, shard, SHARD_READY);
}

void handshake_forget_looks(const struct shard *shard)
{
	for (struct redis_request *request = shard->in_doubt.requests.first; request;
	     request = request->next)
		if (request->number == 0)
			request->number = 1;
}

/* ask_again repeats the handshake soon, because no timer fires until every shard has had its
 * handshake. */
static void ask_again(struct redis_store *store, struct shard *shard)
{
	channel_forget(&shard->channel);
	if (shard->channel.pause_until <= store->now)
		shard_pause(&store->sets, shard, usec_add(store->now, DW_MILLISECONDS(2)));
	if (store->ownership.role == DW_OWNER)
		store->ownership.renew_at =
		    usec_min(store->ownership.renew_at, shard->channel.pause_until);
}

/* context_of returns the context that the request of a shard's handshake has now. */
static void *context_of(const struct shard *shard)
{
	return (void *)(uintptr_t)shard->channel.handshakes;
}

/* ---- The owner ------------------------------------------------------------------------------- */

bool handshake_is_ours(const struct names *names, const struct shard *shard,
		       const struct reply *reply)
{
	char mine[TOKEN_SIZE];
	int size = snprintf(mine, sizeof mine, "%" PRIu64 ":%s:", shard->lease.fence, names->nonce);

	return reply_is(&reply->items[0], "HELD") && reply->items[1].size < TOKEN_SIZE &&
	       strncmp(reply->items[1].bytes, mine, (size_t)size) == 0;
}

static void owner_done(struct redis_store *store, struct shard *shard, uint64_t mark,
		       uint64_t closed)
{
	answer_note_closed(shard, closed);
	handshake_done(store, shard, mark);
	shard_mark(&store->sets, shard, SHARD_SURE);
}

static void owner_handshake_answered(struct redis_store *store, struct redis_request *request,
				     const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);
	uint64_t mark;

	if (!shard_is_ours(shard) || request->context != context_of(shard)) {
		/* This store has lost the ownership meanwhile. The next handshake is a client's. */
	} else if (failure == FAILURE_NONE && handshake_is_ours(&store->names, shard, reply)) {
		memcpy(shard->lease.token, reply->items[1].bytes, reply->items[1].size + 1);
		ask_again(store, shard);
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK")) {
		mark = (uint64_t)reply_number(&reply->items[1]);
		clock_learn(store, shard->node, reply_number(&reply->items[3]));
		token_note_version(shard, (uint64_t)reply_number(&reply->items[2]));
		token_extend(store, shard, request->sent);
		token_of(&store->names, shard, shard->lease.token);
		if (reply_number(&reply->items[4]) > 0)
			shard_expect_news(&store->sets, shard);
		shard->dead_count = (uint64_t)reply_number(&reply->items[5]);
		if (shard->rebuild.state == REBUILD_FOUND || token_went_back(shard, reply))
			shard_mark(&store->sets, shard, SHARD_SUSPECT);
		else
			owner_done(store, shard, mark, (uint64_t)reply_number(&reply->items[9]));
	} else if (failure == FAILURE_NONE || failure == FAILURE_LOST) {
		shard_mark(&store->sets, shard,
			   token_is_succeeded(store, shard, reply) ? SHARD_FENCED : SHARD_SUSPECT);
	} else {
		ask_again(store, shard);
	}
	request_free(&store->alloc, request);
}

static void handshake_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
}

int handshake_ask(struct redis_store *store, struct shard *shard, request_answered *answered,
		  request_lost *lost)
{
	token_of(&store->names, shard, store->names.token);
	call_begin(&store->draft, SCRIPT_RENEW, shard);
	command_text(&store->draft.words, shard->lease.token);
	command_text(&store->draft.words, store->names.token);
	command_number(&store->draft.words, store->ownership.lease / 1000);
	command_text(&store->draft.words, shard->lease.incarnation);
	return request_post(store, shard, answered, lost, context_of(shard));
}

static int begin_as_owner(struct redis_store *store, struct shard *shard)
{
	return handshake_ask(store, shard, owner_handshake_answered, handshake_lost);
}

/* ---- A client -------------------------------------------------------------------------------- */

/* forget_session is called when the server does not know our session, or only an old state of it,
 * because the session has ended, was lost or was set back. So nobody can tell which commands of the
 * session were applied. They are answered DW_EUNKNOWN. Commands that are known to be applied are
 * still looked up. */
static void forget_session(struct redis_store *store, struct shard *shard)
{
	struct request_list doubtful = shard->in_doubt.requests;
	struct redis_request *request;

	answer_never_known(shard->in_doubt.puts);
	shard->in_doubt.requests = (struct request_list){0};
	while ((request = doubtful.first)) {
		doubtful.first = request->next;
		if (!request->number) {
			request_push(&shard->in_doubt.requests, request);
			continue;
		}
		answer_doubtful(store, &request->ops);
		request_free(&store->alloc, request);
	}
}

/* is_another_session returns true if the session of our last handshake has ended or was set back.
 * The session that the reply shows may be from a handshake of this store that reached the server
 * after its connection was lost. */
static bool is_another_session(const struct shard *shard, const struct reply *reply)
{
	return (uint64_t)reply_number(&reply->items[5]) < shard->session.connection ||
	       (shard->session.connection > 0 &&
		(uint64_t)reply_number(&reply->items[6]) > shard->session.connection);
}

/* other_number is called when the shard has no number of shards, or another number than this
 * store. */
static void other_number(struct redis_store *store, struct shard *shard, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];

	if (reply_is(&reply->items[0], "NEW")) {
		layout_is_new(store, shard, reply_number(&reply->items[1]));
	} else if (reply_is(&reply->items[0], "SHARDS")) {
		layout_words(store, shard->number, &reply->items[1], words);
		complain(store, "%s", words);
		shard_pause(&store->sets, shard, usec_add(store->now, PAUSE));
		layout_suspect(store);
	}
}

static void client_handshake_answered(struct redis_store *store, struct redis_request *request,
				      const struct reply *reply)
{
	struct shard *shard = request->shard;
	enum failure failure = call_failed(store, request, reply);

	if (shard_is_ours(shard) || request->context != context_of(shard)) {
		/* This store has become an owner meanwhile, or it was one when it sent the
		 * handshake. */
	} else if (failure == FAILURE_NONE && reply_is(&reply->items[0], "OK")) {
		clock_learn(store, shard->node, reply_number(&reply->items[3]));
		if (is_another_session(shard, reply)) {
			held_doubt(store, shard);
			forget_session(store, shard);
		}
		shard->session.connection = nodes_connection(shard);
		answer_note_closed(shard, (uint64_t)reply_number(&reply->items[7]));
		handshake_done(store, shard, (uint64_t)reply_number(&reply->items[1]));
		layout_is_ours(store, shard);
	} else {
		if (failure == FAILURE_NONE)
			other_number(store, shard, reply);
		ask_again(store, shard);
		if (shard->session.fixes) {
			shard->channel.pause_until = 0;
			handshake_begin(store, shard);
		}
	}
	request_free(&store->alloc, request);
}

static int begin_as_client(struct redis_store *store, struct shard *shard)
{
	bool fixes = shard->session.fixes;

	shard->session.fixes = false;
	call_begin_rare(&store->draft, SCRIPT_SESSION, shard);
	command_unsigned(&store->draft.words, nodes_connection(shard));
	command_number(&store->draft.words, SESSION_TTL / 1000);
	command_number(&store->draft.words, store->shard_count);
	command_text(&store->draft.words, fixes ? "1" : "");
	/* The channel of the first shard, because an owner may have fewer shards than this client
	 * thinks. */
	command_text(&store->draft.words, store->shards[0].keys.name[NAME_WAKE]);
	command_bytes(&store->draft.words, store->names.holder, strcspn(store->names.holder, "|"));
	return request_post(store, shard, client_handshake_answered, handshake_lost,
			    context_of(shard));
}

void handshake_begin(struct redis_store *store, struct shard *shard)
{
	bool owner = shard_is_ours(shard);

	if (!shard->node->connection || shard->channel.is_moving ||
	    store->now < shard->channel.pause_until || shard->cut.state == CUT_OFF ||
	    shard->give.op || shard_take(store, shard))
		return;
	if (store->stopped && shard->lease.fence == 0)
		return; /* no command is sent to it any more */
	if (owner && token_is_forgotten(store, shard)) {
		shard_mark(&store->sets, shard, SHARD_FENCED);
		return;
	}
	shard->channel.handshakes++;
	if ((owner ? begin_as_owner : begin_as_client)(store, shard) == DW_OK)
		shard->channel.handshake = HANDSHAKE_ASKED;
	else
		ask_again(store, shard);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void session_unlinked(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	(void)reply; /* if the command fails, the session ends by itself */
	request_free(&store->alloc, request);
}

/* session_end deletes the client's sessions. A session lets the server refuse commands that still
 * are in the socket of an earlier connection. So a client deletes its sessions only if it has had a
 * single connection. */
void session_end(struct redis_store *store)
{
	for (unsigned i = 0; store->names.connections == 1 && i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard->session.connection == 0)
			continue;
		command_begin(&store->draft, COMMAND_UNLINK);
		store->draft.node = shard->node;
		command_bytes(&store->draft.words, shard->keys.name[KEY_SESSION],
			      shard->keys.size[KEY_SESSION]);
		(void)request_post(store, NULL, session_unlinked, handshake_lost, NULL);
		shard->session.connection = 0;
	}
}
