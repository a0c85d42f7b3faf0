#include "store/redis/owner/members.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"
#include "store/redis/owner/member.h"
#include "store/redis/owner/member_list.h"
#include "store/redis/owner/sharing.h"
#include "store/redis/owner/taking.h"

#define BEAT_EVERY DW_SECONDS(1)
/* The least time between two lists that are read because of news. */
#define BEAT_PAUSE DW_MILLISECONDS(20)

enum { GIVES_MAX = 4 };

bool members_has_all(const struct redis_store *store)
{
	return taking_held(store) == store->shard_count;
}

static void gone_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	(void)call_failed(store, request, reply);
	request_free(&store->alloc, request);
}

static void gone_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
}

static void remove_member(struct redis_store *store, const char *name)
{
	member_call(store, "out", name, "");
	/* If this fails, the member drops out of the list when its time is over. */
	(void)request_post(store, NULL, gone_answered, gone_lost, NULL);
}

/* drop_dead removes dead processes of this machine from the list. */
static void drop_dead(struct redis_store *store, struct member_list *list)
{
	unsigned count = 0;

	for (unsigned i = 0; i < list->count; i++) {
		if (member_is_dead(&list->members[i]))
			remove_member(store, list->members[i].name);
		else
			list->members[count++] = list->members[i];
	}
	list->count = count;
}

void members_refused(struct redis_store *store)
{
	store->ownership.members.room = taking_held(store);
	store->ownership.members.try_at = usec_add(store->now, TAKING_TRIES);
}

void members_accepted(struct members *self)
{
	self->room = SHARDS_MAX;
}

void members_held(struct redis_store *store, struct shard *shard)
{
	shard->share.held_at = store->now;
	members_accepted(&store->ownership.members);
}

/* ---- Entering ------------------------------------------------------------------------------ */

/* begin makes this store an owner, which has no shard yet. */
static void begin(struct redis_store *store)
{
	dw_op *own = store->ownership.members.own;

	if (!own)
		return;
	store->ownership.members.own = NULL;
	store->ownership.role = DW_OWNER;
	store->ownership.was_owner = true;
	store->ownership.renew_at = store->now;
	answer(store, own, DW_OK);
}

/* note_clock computes how far this machine's clock is from the server's. It assumes that half of
 * the reply's time was the way back. */
static void note_clock(struct redis_store *store, dw_usec server, dw_usec sent)
{
	struct members *self = &store->ownership.members;

	self->clock_way = usec_sub(store->now, sent);
	self->clock =
	    usec_sub(usec_sub(store->env.now(store->env.now_user), self->clock_way / 2), server);
}

/* note_loss is called when the list no longer had this store: the store was silent for too long, or
 * the server was emptied. So the leases are renewed now, which shows what is lost. For a while this
 * store takes no shard, because other peers may not have written their data again yet. */
static void note_loss(struct redis_store *store, bool is_new)
{
	struct members *self = &store->ownership.members;

	if (!is_new || self->listed == 0)
		return;
	self->takes_from = usec_add(store->now, TAKING_FREE_FOR);
	store->ownership.renew_at = store->now;
}

static bool is_listed(const struct redis_store *store, const struct member_list *list)
{
	for (unsigned i = 0; i < list->count; i++)
		if (member_is_self(&store->names, &list->members[i]))
			return true;
	return false;
}

static void take_list(struct redis_store *store, const struct reply *reply, dw_usec sent)
{
	struct members *self = &store->ownership.members;
	dw_usec now = reply_number(&reply->items[1]);
	struct member_list list;

	clock_learn(store, store->shards[0].node, now);
	note_clock(store, now, sent);
	if (self->since == 0) {
		self->since = now;
		members_enter(store);
		return;
	}
	note_loss(store, reply_number(&reply->items[2]) == 1);
	self->listed = sent;
	member_list_read(reply, &list);
	drop_dead(store, &list);
	sharing_note_members(&store->ownership.members, &list);
	if (self->own && !is_listed(store, &list)) {
		members_end(store, DW_ELIMIT); /* the list is full */
		return;
	}
	begin(store);
	taking_choose(store, &list, now);
	taking_work(store);
}

static void beat_answered(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	enum failure failure = call_failed(store, request, reply);
	dw_usec sent = request->sent;

	request_free(&store->alloc, request);
	if (!store->ownership.members.is_in)
		return;
	if (failure == FAILURE_NONE)
		take_list(store, reply, sent);
	else if (failure == FAILURE_AGAIN)
		store->ownership.members.beat_at = usec_add(store->now, PAUSE);
}

static void beat_lost(struct redis_store *store, struct redis_request *request)
{
	store->ownership.members.beat_at = store->now;
	request_free(&store->alloc, request);
}

/* say_record writes this store's record. */
static void say_record(const struct redis_store *store, char ret_text[MEMBER_SIZE])
{
	const struct members *self = &store->ownership.members;
	unsigned room = taking_room(&store->ownership.members);
	dw_member_row row = {.since = self->since,
			     .room = room < store->shard_count ? room : store->shard_count,
			     .clock = self->clock,
			     .is_leaving = self->is_leaving};

	for (unsigned i = 0; i < store->shard_count; i++)
		if (shard_is_ours(&store->shards[i]))
			row.shards[i / 64] |= UINT64_C(1) << i % 64;
	(void)snprintf(row.version, sizeof row.version, "%s", dw_version());
	memcpy(row.zones, self->zones, sizeof row.zones);
	member_write(&row, store->names.holder, ret_text);
}

void members_enter(struct redis_store *store)
{
	char record[MEMBER_SIZE];

	sharing_read_zones(store);
	say_record(store, record);
	member_call(store, store->ownership.members.since ? "in" : "", store->names.nonce, record);
	store->ownership.members.sent = store->now;
	store->ownership.members.beat_at = usec_add(store->now, BEAT_EVERY);
	/* If this fails, the next turn tries again. */
	if (request_post(store, NULL, beat_answered, beat_lost, NULL) != DW_OK)
		store->ownership.members.beat_at = usec_add(store->now, PAUSE);
}

/* is_laid_out returns true if the number of shards is known. In a new namespace a client's
 * handshake writes the number into the first shard. */
static bool is_laid_out(struct redis_store *store)
{
	struct shard *first = &store->shards[0];

	if (store->layout.is_fixed)
		return true;
	if (layout_is_known(store) && first->channel.handshake == HANDSHAKE_NONE)
		handshake_begin(store, first);
	return false;
}

static bool can_work(const struct redis_store *store)
{
	return store->ownership.members.is_in && !store->stopped && store->nodes.home->connection;
}

/* is_alone returns true if the list could not be read for a while, because its server is away while
 * other servers are not. */
static bool is_alone(const struct redis_store *store)
{
	const struct members *self = &store->ownership.members;

	return self->away_since != 0 && store->layout.is_fixed &&
	       store->now >= usec_add(self->away_since, TAKING_LIST_AGE);
}

/* go_on is called while the list cannot be read. After a while this store takes the shards that
 * nobody has on the other servers. When the server of the list is back, it may be empty. So what
 * may be taken there is decided by the next list. */
static void go_on(struct redis_store *store)
{
	struct members *self = &store->ownership.members;
	bool is_away = !store->nodes.home->connection && nodes_are_up(&store->nodes);

	if (!is_away || self->away_since == 0)
		self->away_since = is_away ? store->now : 0;
	self->asks_since = store->now;
	store->sets.wanted = (struct shard_set){0};
	if (!self->is_in || self->is_leaving || store->stopped || !is_alone(store))
		return;
	begin(store);
	taking_want_all(store);
	taking_work(store);
}

void members_work(struct redis_store *store)
{
	struct members *self = &store->ownership.members;

	if (self->own && store->now >= place_of(self->own)->deadline)
		members_end(store, DW_ESTORE);
	if (!can_work(store)) {
		go_on(store);
		return;
	}
	if (self->away_since != 0) {
		/* The server may be empty, and other peers may have to write their data again. */
		store->sets.wanted = (struct shard_set){0};
		self->takes_from = usec_add(store->now, TAKING_FREE_FOR);
	}
	self->away_since = 0;
	if (store->ownership.role != DW_OWNER && !is_laid_out(store))
		return;
	if (store->now >= self->beat_at) {
		if (store->ownership.role == DW_OWNER && !self->is_leaving &&
		    store->now >=
			usec_add(usec_max(self->listed, self->asks_since), TAKING_LIST_AGE))
			taking_want_all(store);
		members_enter(store);
	}
	taking_work(store);
}

dw_usec members_due(const struct redis_store *store)
{
	const struct members *self = &store->ownership.members;
	dw_usec at = self->own ? place_of_const(self->own)->deadline : DW_NEVER;

	if (!can_work(store))
		return at;
	if (store->ownership.role != DW_OWNER && !store->layout.is_fixed)
		return usec_min(at, usec_add(store->now, PAUSE));
	return usec_min(at, self->beat_at);
}

void members_look(struct members *self)
{
	self->beat_at = usec_min(self->beat_at, usec_add(self->sent, BEAT_PAUSE));
}

void members_hear(struct redis_store *store, unsigned number)
{
	store->shards[number].lease.again_at = 0;
	store->shards[number].share.is_announced = true;
	members_look(&store->ownership.members);
}

/* ---- Joining and leaving ------------------------------------------------------------------- */

void members_own(struct redis_store *store, dw_op *op)
{
	struct members *self = &store->ownership.members;

	if (store->ownership.role == DW_OWNER || self->own ||
	    (!store->nodes.home->connection && !is_alone(store))) {
		answer(store, op,
		       store->ownership.role == DW_OWNER ? DW_OK
		       : self->own                       ? DW_EBUSY
							 : DW_ESTORE);
		return;
	}
	*self = (struct members){.is_in = true,
				 .is_leaving = self->is_leaving,
				 .away_since = self->away_since,
				 .own = op,
				 .beat_at = store->now,
				 .room = SHARDS_MAX,
				 .try_at = store->now};
}

void members_end(struct redis_store *store, int status)
{
	dw_op *own = store->ownership.members.own;

	store->ownership.members.own = NULL;
	if (!own)
		return;
	store->ownership.members.is_in = false;
	answer(store, own, status);
}

void members_leave(struct redis_store *store)
{
	if (!store->ownership.members.is_in)
		return;
	store->ownership.members.is_in = false;
	store->sets.wanted = (struct shard_set){0};
	if (store->nodes.home->connection)
		remove_member(store, store->names.nonce);
}

void members_give_all(dw_store *base)
{
	struct redis_store *store = (struct redis_store *)base;
	struct members *self = &store->ownership.members;

	self->is_leaving = true;
	self->gives_from = 0;
	store->sets.wanted = (struct shard_set){0};
	self->beat_at = store->now; /* so that the others hear of it */
}

/* has_list returns true if the last list is new enough to be used. */
static bool has_list(const struct redis_store *store)
{
	const struct members *self = &store->ownership.members;

	return can_work(store) && store->ownership.role == DW_OWNER && self->listed != 0 &&
	       store->now < usec_add(self->listed, TAKING_LIST_AGE);
}

void members_sharing(const dw_store *base, dw_sharing *ret_sharing)
{
	const struct redis_store *store = (const struct redis_store *)base;

	if (has_list(store))
		*ret_sharing = sharing_of(store);
}

unsigned members_surplus(const dw_store *base)
{
	const struct redis_store *store = (const struct redis_store *)base;
	const struct members *self = &store->ownership.members;
	unsigned held;

	if (!has_list(store) || store->now < self->gives_from)
		return 0;
	held = taking_held(store);
	if (self->is_leaving || held <= self->share)
		return self->is_leaving ? held : 0;
	return held - self->share < GIVES_MAX ? held - self->share : GIVES_MAX;
}
