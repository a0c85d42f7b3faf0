/* The store's class: the functions that the engine calls. */
#include "store/redis/store.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "store/redis/queue/consumers.h"
#include "store/redis/core.h"
#include "store/redis/owner/release.h"
#include "store/redis/timer/submit.h"
#include "store/redis/nodes/shown.h"
#include "store/redis/wire/replicas.h"

/* A refusal that is younger than this explains the failure of an operation. */
#define REFUSAL_AGE DW_SECONDS(1)

static struct redis_store *redis_of(dw_store *store)
{
	return (struct redis_store *)store;
}

static dw_usec steady(const struct redis_store *store)
{
	return store->env.steady(store->env.steady_user);
}

/* ---- The turn -------------------------------------------------------------------------------- */

/* take_other_count replaces the shards, because the namespace has another number of them. First it
 * drops the connections, because the commands under way were sent to the old shards. */
static void take_other_count(struct redis_store *store)
{
	nodes_drop(store, "the namespace was recreated with another number of shards");
	if (!nodes_have_work(&store->nodes))
		reshard(store);
}

/* act_on_shard calls the parts for which the shard has marks. The first of these calls may give the
 * shard up. */
static void act_on_shard(struct redis_store *store, struct shard *shard)
{
	unsigned marks = shard->marks;

	shard->marks = 0;
	shard_remove(&store->sets.marked, shard->number);
	if (marks & SHARD_FENCED)
		restore_fenced(store, shard);
	if (marks & SHARD_SUSPECT)
		restore_begin(store, shard);
	else if (marks & SHARD_TAKEN)
		restore_take(store, shard);
	else if (marks & SHARD_SURE)
		restore_is_sure(store, shard);
	if (marks & SHARD_INCOMPLETE)
		restore_write(store, shard);
	if (marks & SHARD_UNEVEN)
		repair_soon(store, shard);
	if (marks & SHARD_HANDSHAKE && shard->channel.handshake != HANDSHAKE_ASKED)
		handshake_begin(store, shard);
	if (marks & SHARD_REFUSES && !shard_is_cut_off(shard))
		cut_off_look(store, shard);
	if (marks & SHARD_MENDED)
		lease_mended(store, shard);
	if (marks & SHARD_OURS)
		cut_off_end(store, shard);
	if (marks & SHARD_READY)
		dispatch_shard(store, shard);
}

static void act_on_connection(struct redis_store *store, struct node *node)
{
	bool came_up = node->came_up;

	if (node->went_down)
		reshard(store);
	node->went_down = node->came_up = false;
	if (came_up)
		cut_off_connected(store, node);
	if (!came_up || store->ownership.role != DW_OWNER)
		return;
	token_connected(store, node);
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->shards[i].node == node &&
		    (shard_is_ours(&store->shards[i]) || !shard_is_shared(store)))
			handshake_begin(store, &store->shards[i]);
}

void redis_wire(struct redis_store *store)
{
	const struct shard_set *marked = &store->sets.marked;

	nodes_wire(store);
	if (store->shards && store->shards[0].marks & SHARD_OTHER_COUNT)
		take_other_count(store);
	for (unsigned i = 0; i < store->nodes.count; i++)
		act_on_connection(store, store->nodes.list[i]);
	for (unsigned i = shard_next(marked, 0); i < store->shard_count;
	     i = shard_next(marked, i + 1))
		act_on_shard(store, &store->shards[i]);
}

void redis_work(struct redis_store *store)
{
	dispatch_end_pauses(store);
	redis_wire(store);
	replicas_work(store, &store->node);
	suspect_release(store, false);
	restore_tell(store);
	wake_channel_work(store);
	sentinels_work(store);
	cluster_work(store);
	restore_work(store);
	lease_work(store);
	members_work(store);
	give_work(store);
	inbox_work(store);
	repair_work(store);
	confirm_work(store);
	cut_off_work(store);
	topics_work(store);
	scan_work(store);
	dispatch_all(store);
}

static void work(struct redis_store *store)
{
	redis_work(store);
	submit_later(store);
	scan_overdue(store);
	answer_overdue(store);
	later_overdue(store);
	topics_overdue(store);
	dispatch_all(store);
	redis_wire(store);
}

static void redis_submit(dw_store *base, dw_op *batch)
{
	struct redis_store *store = redis_of(base);

	store->now = steady(store);
	store->layout.is_fresh = false;
	while (batch) {
		dw_op *next = batch->next;

		batch->next = NULL;
		submit_one(store, batch);
		batch = next;
	}
	dispatch_all(store);
	submit_later(store);
	topics_send(store);
	redis_wire(store);
}

static dw_op *redis_collect(dw_store *base)
{
	return op_queue_take(&redis_of(base)->completion.answers);
}

static int redis_descriptor(const dw_store *base)
{
	return ((const struct redis_store *)base)->wake.descriptor;
}

static void redis_turn(dw_store *base, dw_usec now)
{
	struct redis_store *store = redis_of(base);

	store->now = now;
	store->completion.in_turn = true;
	work(store);
	store->completion.in_turn = false;
}

static dw_usec redis_lease(const dw_store *base, unsigned shard)
{
	return token_until((const struct redis_store *)base, shard);
}

static unsigned redis_shard_count(const dw_store *base)
{
	return ((const struct redis_store *)base)->shard_count;
}

static unsigned redis_shard_of(const dw_store *base, const char *id)
{
	return crc16_of(id) % ((const struct redis_store *)base)->shard_count;
}

static int redis_take_shard(dw_store *base, dw_shard_news *ret_news)
{
	return cut_off_take(redis_of(base), ret_news);
}

/* redis_recall gives up operations for which the caller does not want to wait. The owner's own
 * reads get DW_ESTORE; the owner repeats them when the server is back. */
static void redis_recall(dw_store *base, dw_usec doubt_patience)
{
	struct redis_store *store = redis_of(base);

	store->now = steady(store);
	answer_recall(store, doubt_patience);
	inbox_end(store, DW_ESTORE);
	scan_end_all(store, DW_ESTORE);
	later_recall(store);
	topics_end(store, DW_ESTORE);
}

/* redis_stamp stamps a row of a journal. The floor is above every version that the server has
 * shown, because the server's clock may be ahead of the time in its last reply. */
static void redis_stamp(dw_store *base, const char *id, dw_replay *replay)
{
	struct redis_store *store = redis_of(base);
	struct shard *shard = shard_of(store, id);
	struct server_clock *clock = &shard->node->clock;

	store->now = steady(store);
	replay->fence = shard_is_ours(shard) ? shard->lease.fence : 0;
	replay->jump = shard->lease.jump;
	replay->step = shard->lease.step;
	if (clock_is_known(clock)) {
		if (clock->floor < shard->lease.high)
			clock->floor = shard->lease.high;
		replay->floor = clock_version(store, shard->node);
	} else {
		replay->floor = (uint64_t)usec_max(store->env.now(store->env.now_user), 0);
		replay->flags |= DW_REPLAY_UNSURE;
	}
}

static void redis_reread(dw_store *base)
{
	inbox_reread(&redis_of(base)->inbox);
}

static void redis_origin(const dw_store *base, dw_origin *ret_origin)
{
	const struct redis_store *store = (const struct redis_store *)base;
	const struct server_clock *clock = &store->nodes.home->clock;
	const struct shard *first = store->shards;
	const char *era =
	    first && shard_is_ours(first) ? first->lease.incarnation : store->layout.era;

	*ret_origin = (dw_origin){.floor = clock->floor};
	(void)snprintf(ret_origin->address, sizeof ret_origin->address, "%s", store->url.name);
	/* The text always fits. */
	(void)snprintf(ret_origin->era, sizeof ret_origin->era, "%s", era);
	if (!clock_is_known(clock))
		return;
	ret_origin->clock = usec_add(clock->time, usec_sub(steady(store), clock->at));
	for (unsigned i = 0; i < store->shard_count; i++)
		if (ret_origin->floor < store->shards[i].lease.high)
			ret_origin->floor = store->shards[i].lease.high;
	if (ret_origin->clock > 0 && ret_origin->floor < (uint64_t)ret_origin->clock)
		ret_origin->floor = (uint64_t)ret_origin->clock;
}

/* ---- When ------------------------------------------------------------------------------------ */

/* has_waiting returns true if operations or scans wait in the store. Then the next turn must come
 * soon, because perhaps no reply will come that causes a turn. */
static bool has_waiting(const struct redis_store *store)
{
	for (unsigned i = shard_next(&store->sets.queued, 0); i < store->shard_count;
	     i = shard_next(&store->sets.queued, i + 1)) {
		const struct shard *shard = &store->shards[i];

		if (shard->queues.retry.first || shard->queues.waiting.first ||
		    shard->in_doubt.requests.first)
			return true;
	}
	return store->scans != NULL;
}

/* say_refusal writes the last refusal of a node, if it is younger than REFUSAL_AGE. */
static void say_refusal(const struct redis_store *store, char *ret_words, size_t size)
{
	for (unsigned i = 0; i < store->nodes.count; i++) {
		const struct scripts *scripts = &store->nodes.list[i]->scripts;

		if (store->now < usec_add(scripts->refused_at, REFUSAL_AGE))
			(void)snprintf(ret_words, size, "%s", scripts->refusal);
	}
}

static int trouble(const struct redis_store *store, char *ret_words, size_t size)
{
	bool fatal;
	const struct node *home = store->nodes.home;
	char room[DW_MESSAGE_SIZE];
	const char *why = store_why(store, room, &fatal);

	if (nodes_are_up(&store->nodes) && !why[0] && cut_off_all(store)) {
		(void)snprintf(ret_words, size, "%s", cut_off_all(store));
		return DW_ESTORE;
	}
	if (nodes_are_up(&store->nodes) && !why[0]) {
		say_refusal(store, ret_words, size);
		return store->now < store->sets.may_pass_until ? (int)DW_EUNKNOWN : DW_OK;
	}
	if (!home->connection && store->now < node_trouble_at(home))
		return DW_EUNKNOWN;
	/* Long words are cut. */
	(void)snprintf(ret_words, size, "%s", why[0] ? why : "there is no connection");
	return DW_ESTORE;
}

static dw_usec store_due(const struct redis_store *store)
{
	dw_usec at = nodes_due(store);

	at = usec_min(at, usec_min(sentinels_due(&store->nodes), cluster_due(&store->nodes)));
	at = usec_min(at,
		      usec_min(wake_channel_due(&store->wake), replicas_due(store, &store->node)));
	if (store->later.consumers.link)
		at = usec_min(at, link_due(store->later.consumers.link));
	if (store->ownership.role == DW_OWNER)
		at = usec_min(at, usec_min(store->ownership.renew_at, repair_due(store)));
	at = usec_min(at, usec_min(cut_off_due(store), confirm_due(store)));
	at = usec_min(at, usec_min(members_due(store), suspect_due(&store->completion)));
	if (store->now < store->sets.may_pass_until)
		at = usec_min(at, store->sets.may_pass_until);
	if (store->handover.is_coming || store->handover.is_on)
		at = usec_min(at, store->handover.until);
	for (unsigned i = shard_next(&store->sets.paused, 0); i < store->shard_count;
	     i = shard_next(&store->sets.paused, i + 1)) {
		const struct shard *shard = &store->shards[i];

		if (shard->channel.pause_until > store->now)
			at = usec_min(at, shard->channel.pause_until);
	}
	if (has_waiting(store))
		at = usec_min(at, usec_add(store->now, PAUSE));
	return at;
}

static dw_usec redis_due(const dw_store *base)
{
	const struct redis_store *store = (const struct redis_store *)base;
	dw_usec at = store->completion.answers.first ? store->now : store_due(store);

	if (store->later.ops.first || store->later.topics.waiting.first)
		at = usec_min(at, usec_add(store->now, PAUSE));
	return at;
}

static int redis_trouble(const dw_store *base, char *ret_words, size_t size)
{
	return trouble((const struct redis_store *)base, ret_words, size);
}

/* ---- Stopping -------------------------------------------------------------------------------- */

bool redis_wait(struct redis_store *store, dw_usec until)
{
	dw_usec now = steady(store);
	dw_usec due = usec_min(until, store_due(store));
	struct pollfd readable = {.fd = store->wake.descriptor, .events = POLLIN};
	struct timespec patience;

	if (now >= until)
		return false;
	due = usec_max(usec_sub(due, now), 0);
	patience = (struct timespec){.tv_sec = due / 1000000, .tv_nsec = due % 1000000 * 1000};
	if (store->wake.descriptor >= 0)
		/* If a signal interrupts the wait, the caller calls again. */
		(void)ppoll(&readable, 1, &patience, NULL);
	store->now = steady(store);
	return true;
}

static void end_unsent(struct redis_store *store)
{
	answer_withheld(store);
	answer_all(store, &store->completion.suspects.aside, DW_ECLOSED);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];
		struct redis_request *request;

		answer_all(store, &shard->queues.rebuild, DW_ECLOSED);
		answer_all(store, &shard->queues.retry, DW_ECLOSED);
		answer_all(store, &shard->queues.waiting, DW_ECLOSED);
		confirm_end(store, shard);
		while ((request = request_pop(&shard->in_doubt.requests))) {
			answer_all(store, &request->ops, DW_EUNKNOWN);
			request_free(&store->alloc, request);
		}
	}
	answer_all(store, &store->later.ops, DW_ECLOSED);
	store->later.barrier = NULL;
	answer_all(store, &store->later.behind, DW_ECLOSED);
	inbox_end(store, DW_ECLOSED);
	members_end(store, DW_ECLOSED);
	give_end(store, DW_ECLOSED);
	topics_end(store, DW_ECLOSED);
	restore_end(store, DW_ECLOSED);
	scan_end_all(store, DW_ECLOSED);
}

static int redis_stop(dw_store *base, dw_usec patience)
{
	struct redis_store *store = redis_of(base);
	dw_usec until, given_until;
	bool is_left;

	store->now = steady(store);
	until = usec_add(store->now, patience);
	given_until = usec_min(until, usec_add(store->now, GIVE_BACK));
	store->stopped = true;
	store->completion.in_turn = true; /* answers need not wake anybody */
	end_unsent(store);
	members_leave(store);
	is_left = release_all(store);
	session_end(store);
	redis_wire(store);
	while (nodes_have_work(&store->nodes) || is_left) {
		if (!redis_wait(store, nodes_have_work(&store->nodes) ? until : given_until))
			break;
		redis_work(store);
		end_unsent(store); /* or refused operations would be sent again */
		is_left = release_all(store);
		redis_wire(store);
	}
	replicas_end(store, &store->node);
	end_unsent(store);
	return nodes_have_work(&store->nodes) ? DW_ETIMEOUT : DW_OK;
}

/* ---- Freeing --------------------------------------------------------------------------------- */

void redis_free(dw_store *base)
{
	struct redis_store *store = redis_of(base);
	struct alloc alloc = store->alloc;
	dw_op *op;

	store->stopped = true;
	store->node.connection = 0; /* so that no held answer sends anything */
	replicas_free(store, &store->node);
	nodes_lose(store);
	end_unsent(store);
	scan_free_all(store);
	while ((op = op_queue_pop(&store->completion.answers)))
		op_free(&alloc, op);
	redis_topics_free(store);
	shards_free(&store->alloc, store->shards, store->shard_count);
	link_free(store->node.link);
	sentinels_free(store);
	cluster_free(store);
	wake_channel_free(&store->wake);
	redis_url_free(&store->url, &alloc);
	alloc_free(&alloc, store->batch.packed);
	command_free(&store->draft.words);
	alloc_free(&alloc, store);
}

static int redis_take_event(dw_store *base, dw_store_event *ret_event)
{
	return replicas_take_event(&redis_of(base)->node, ret_event) ||
	       suspect_take_event(&redis_of(base)->completion.suspects, ret_event);
}

static int redis_take_call(dw_store *base, dw_take_call *ret_call)
{
	return consumers_take_call(redis_of(base), ret_call);
}

const dw_store_class redis_class = {.size = sizeof redis_class,
				    .name = "redis",
				    .submit = redis_submit,
				    .collect = redis_collect,
				    .stop = redis_stop,
				    .free = redis_free,
				    .descriptor = redis_descriptor,
				    .turn = redis_turn,
				    .due = redis_due,
				    .lease = redis_lease,
				    .is_lost = restore_is_lost,
				    .window = 2 * SHARDS_DEFAULT * BATCH_GOOD,
				    .trouble = redis_trouble,
				    .patience = PATIENCE,
				    .shards = redis_shard_count,
				    .shard_of = redis_shard_of,
				    .take_shard = redis_take_shard,
				    .surplus = members_surplus,
				    .sharing = members_sharing,
				    .leave = members_give_all,
				    .tells_facts = 1,
				    .recall = redis_recall,
				    .stamp = redis_stamp,
				    .origin = redis_origin,
				    .reread = redis_reread,
				    .take_event = redis_take_event,
				    .replicas = replicas_stats,
				    .node = shown_node,
				    .keeps_topics = 1,
				    .take_call = redis_take_call,
				    .is_whole = restore_is_whole};
