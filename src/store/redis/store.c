/* The class: what the engine calls. */
#include "store/redis/inside.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timer/transition.h"
#include "store/redis/store.h"

int64_t reply_number(const struct reply *reply)
{
	if (reply->kind == REPLY_INTEGER)
		return reply->integer;
	return reply->kind == REPLY_BULK ? strtoll(reply->bytes, NULL, 10) : 0;
}

static struct redis_store *redis_of(dw_store *store)
{
	return (struct redis_store *)store;
}

static dw_usec steady(const struct redis_store *store)
{
	return store->env.steady(store->env.steady_user);
}

/* ---- Taking operations --------------------------------------------------------------------- */

static void park(struct redis_store *store, dw_op *op)
{
	if (store->parked) {
		answer(store, op, DW_EBUSY); /* one at a time */
		return;
	}
	store->parked = op;
}

/* push: a page of a scan may have been read before the timer was settled, and is learnt after. */
static void push(struct redis_store *store, dw_op *op)
{
	struct shard *shard = shard_of(store, op->id);

	if (loss_is_buried(shard, op->id, op->head.generation))
		answer(store, op, DW_ENOENT);
	else
		op_queue_push(&shard->pushes, op);
}

static void take(struct redis_store *store, dw_op *op)
{
	/* Behind others it would wait for shards that nobody restores any more. */
	if (op->kind == DW_OP_DISOWN) {
		lease_give_way(store, op);
	} else if (store->barrier && op->kind != DW_OP_LOSS && op->kind != DW_OP_REPUSH) {
		op_queue_push(&store->behind, op);
	} else if (op->kind == DW_OP_INBOX) {
		park(store, op);
	} else if (op->kind == DW_OP_LOSS) {
		loss_park(store, op);
	} else if (op->kind == DW_OP_REPUSH) {
		push(store, op);
	} else if (change_is_one(op)) {
		op_queue_push(&shard_of(store, op->id)->waiting, op);
	} else {
		if (whole_is_barrier(op))
			store->barrier = op;
		op_queue_push(&store->later, op);
	}
}

/* permit: what a fenced owner still asks as an owner is no mistake of its. */
static int permit(const struct redis_store *store, const dw_op *op)
{
	int status = life_permits(op, store->role);

	if (store->ousted && op->kind == DW_OP_LOSS)
		return DW_OK; /* all is pushed */
	if (status == DW_EROLE && (store->env.role == DW_OWNER || store->owned))
		return DW_EFENCED;
	return status;
}

/* makes_generation: in the order of the calls, which is lost where each shard has its own queue. */
static bool makes_generation(const dw_op *op)
{
	return op->kind == DW_OP_PUT || op->kind == DW_OP_MOVE || op->kind == DW_OP_REQUEUE;
}

static void submit_one(struct redis_store *store, dw_op *op)
{
	int status = store->stopped ? DW_ECLOSED : permit(store, op);

	op->status = DW_OK;
	op->store_deadline = usec_add(op->asked ? op->asked : store->now, PATIENCE);
	op->store_order = ++store->submitted;
	if (makes_generation(op))
		op->store_floor = lease_floor(store);
	answer_take(store, op);
	if (status != DW_OK)
		answer(store, op, status);
	else
		take(store, op);
}

static bool reads_only(const dw_op *op)
{
	return op->kind == DW_OP_SCAN || op->kind == DW_OP_DEAD_SCAN || op->kind == DW_OP_STATUS ||
	       op->kind == DW_OP_CHECK;
}

/* has_older: some of the queue was submitted before. */
static bool has_older(const struct op_queue *queue, uint64_t order)
{
	const dw_op *op = queue->first;

	while (op && op->store_order > order)
		op = op->next;
	return op != NULL;
}

/* is_sent: all that was submitted before op is on its way, or answered. What came after it counts
 * not: under load there is always some. While the server refuses every change, a caller's reading
 * waits for none. */
static bool is_sent(const struct redis_store *store, const dw_op *op)
{
	if (!store->connection || store->taking.active)
		return false;
	if (op->asked && reads_only(op) && flow_refuses(store))
		return true;
	for (unsigned i = 0; i < store->shard_count; i++) {
		const struct shard *shard = &store->shards[i];

		if (shard->limbo.first || has_older(&shard->redo, op->store_order) ||
		    has_older(&shard->waiting, op->store_order))
			return false;
	}
	return true;
}

/* is_ready: every shard takes a number, and has no loss that is not made good. For a barrier
 * none is under way: one that fails would have those behind it refused, and a barrier is not sent
 * again. */
static bool is_ready(struct redis_store *store, bool for_barrier)
{
	bool ready = true;

	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard->greeting == GREETING_NONE)
			greet(store, shard);
		ready = ready && shard->greeting == GREETING_DONE && !shard->broken &&
			shard->loss == LOSS_NONE && store->now >= shard->pause_until &&
			!(for_barrier && shard->under_way > 0);
	}
	return ready;
}

/* is_resting: a shard has refused something, and is not asked for a moment. */
static bool is_resting(const struct redis_store *store)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (store->now < store->shards[i].pause_until)
			return true;
	return false;
}

/* reads_shards: it may have been refused, and is asked anew. */
static bool reads_shards(const dw_op *op)
{
	return op->kind == DW_OP_STATUS || op->kind == DW_OP_CHECK;
}

/* changes_shards: it has numbers. What a fenced owner still reports is refused at once. */
static bool changes_shards(const struct redis_store *store, const dw_op *op)
{
	return whole_is_barrier(op) || (op->kind == DW_OP_REPORT && store->role == DW_OWNER);
}

static void end_barrier(struct redis_store *store, const dw_op *op)
{
	if (store->barrier == op)
		store->barrier = NULL;
}

/* take_if_permitted: it has waited, and the ownership may have been lost meanwhile, or the timer
 * purged. */
static void take_if_permitted(struct redis_store *store, dw_op *op)
{
	int status = permit(store, op);

	op->flags &= ~DW_OP_KNOWN;
	if (status != DW_OK)
		answer(store, op, status);
	else
		take(store, op);
}

static void begin_later(struct redis_store *store)
{
	while (store->later.first && is_sent(store, store->later.first) && layout_is_known(store)) {
		dw_op *op = store->later.first;

		if (changes_shards(store, op) && !is_ready(store, whole_is_barrier(op)))
			return;
		if (reads_shards(op) && is_resting(store) && !flow_refuses(store))
			return;
		op = op_queue_pop(&store->later);
		if (permit(store, op) != DW_OK) { /* the ownership was lost meanwhile */
			end_barrier(store, op);
			answer(store, op, permit(store, op));
			continue;
		}
		if (op->kind == DW_OP_OWN) /* the client's numbers are of no use afterwards */
			lease_take(store, op);
		else if (op->kind == DW_OP_SCAN || op->kind == DW_OP_DEAD_SCAN)
			scan_begin(store, op);
		else if (op->kind == DW_OP_AUDIT)
			audit_begin(store, op);
		else
			whole_begin(store, op);
	}
	while (!store->barrier && store->behind.first)
		take_if_permitted(store, op_queue_pop(&store->behind));
}

static void later_overdue(struct redis_store *store)
{
	dw_op *op = op_queue_take(&store->later);

	while (op) {
		dw_op *next = op->next;

		if (store->now >= op->store_deadline) {
			end_barrier(store, op);
			answer(store, op, DW_ESTORE);
		} else {
			op_queue_push(&store->later, op);
		}
		op = next;
	}
}

static void work(struct redis_store *store)
{
	flow_work(store);
	begin_later(store);
	answer_overdue(store);
	later_overdue(store);
	flow_flush(store);
	flow_wire(store);
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
	flow_flush(store);
	begin_later(store);
	flow_wire(store);
}

static dw_op *redis_collect(dw_store *base)
{
	return op_queue_take(&redis_of(base)->answers);
}

static int redis_descriptor(const dw_store *base)
{
	return ((const struct redis_store *)base)->descriptor;
}

static void redis_turn(dw_store *base, dw_usec now)
{
	struct redis_store *store = redis_of(base);

	store->now = now;
	store->in_turn = true;
	work(store);
	store->in_turn = false;
}

static dw_usec redis_due(const dw_store *base)
{
	const struct redis_store *store = (const struct redis_store *)base;
	dw_usec at = flow_due(store);

	if (store->answers.first)
		return store->now;
	if (store->later.first)
		at = usec_min(at, usec_add(store->now, PAUSE));
	return at;
}

static dw_usec redis_lease(const dw_store *base)
{
	return lease_until((const struct redis_store *)base);
}

static int redis_is_lost(const dw_store *base, const char *id)
{
	return loss_is_told((const struct redis_store *)base, id);
}

static int redis_trouble(const dw_store *base, char *ret_words, size_t size)
{
	return flow_trouble((const struct redis_store *)base, ret_words, size);
}

/* ---- Stopping ------------------------------------------------------------------------------ */

bool redis_wait(struct redis_store *store, dw_usec until)
{
	dw_usec now = steady(store);
	dw_usec due = usec_min(until, flow_due(store));
	struct pollfd readable = {.fd = store->descriptor, .events = POLLIN};
	struct timespec patience;

	if (now >= until)
		return false;
	due = usec_max(usec_sub(due, now), 0);
	patience = (struct timespec){.tv_sec = due / 1000000, .tv_nsec = due % 1000000 * 1000};
	if (store->descriptor >= 0)
		(void)ppoll(&readable, 1, &patience, NULL); /* EINTR: looked at again */
	store->now = steady(store);
	return true;
}

static void end_unsent(struct redis_store *store)
{
	answer_withheld(store);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];
		struct request *request;

		answer_all(store, &shard->pushes, DW_ECLOSED);
		answer_all(store, &shard->redo, DW_ECLOSED);
		answer_all(store, &shard->waiting, DW_ECLOSED);
		while ((request = flow_limbo_pop(shard))) {
			answer_all(store, &request->ops, DW_EUNKNOWN);
			request_free(store, request);
		}
	}
	answer_all(store, &store->later, DW_ECLOSED);
	store->barrier = NULL;
	answer_all(store, &store->behind, DW_ECLOSED);
	news_end(store, DW_ECLOSED);
	loss_end(store, DW_ECLOSED);
	scan_end_all(store, DW_ECLOSED);
}

static int redis_stop(dw_store *base, dw_usec patience)
{
	struct redis_store *store = redis_of(base);
	dw_usec until;

	store->now = steady(store);
	until = usec_add(store->now, patience);
	store->stopped = true;
	store->in_turn = true; /* nobody has to be woken */
	end_unsent(store);
	if (store->role == DW_OWNER)
		lease_give_back(store);
	greet_end(store);
	flow_wire(store);
	while (store->connection && store->under_way.first) {
		if (!redis_wait(store, until))
			break;
		flow_work(store);
		end_unsent(store); /* what was refused would be sent again */
	}
	end_unsent(store);
	return store->under_way.first ? DW_ETIMEOUT : DW_OK;
}

/* ---- Freeing ------------------------------------------------------------------------------- */

void redis_free(dw_store *base)
{
	struct redis_store *store = redis_of(base);
	struct alloc alloc = store->alloc;
	struct request *request;
	dw_op *op;

	store->stopped = true;
	store->connection = 0; /* what is lost sends nothing any more */
	while ((request = store->under_way.first)) {
		store->under_way.first = request->next;
		request->lost(store, request);
	}
	end_unsent(store);
	scan_free_all(store);
	while ((op = op_queue_pop(&store->answers)))
		op_free(&alloc, op);
	layout_free(store, store->shards, store->shard_count);
	link_free(store->link);
	link_free(store->ear);
	redis_close_descriptor(store);
	redis_url_free(&store->url, &alloc);
	alloc_free(&alloc, store->packed);
	alloc_free(&alloc, store->loading);
	alloc_free(&alloc, store);
}

const dw_store_class redis_class = {.size = sizeof redis_class,
				    .name = "redis",
				    .level = DW_STORED,
				    .submit = redis_submit,
				    .collect = redis_collect,
				    .stop = redis_stop,
				    .free = redis_free,
				    .descriptor = redis_descriptor,
				    .turn = redis_turn,
				    .due = redis_due,
				    .lease = redis_lease,
				    .is_lost = redis_is_lost,
				    .window = 2 * SHARDS_DEFAULT * BATCH_GOOD,
				    .trouble = redis_trouble,
				    .patience = PATIENCE};

/* ---- Shards -------------------------------------------------------------------------------- */

/* crc16_byte divides by x^16 + x^12 + x^5 + 1 without a table: a byte's quotient is the byte with
 * its upper half, and each term of the divisor shifts it. */
static unsigned crc16_byte(unsigned crc, unsigned char byte)
{
	unsigned quotient = crc >> 8 ^ byte;

	quotient ^= quotient >> 4;
	return (crc << 8 & 0xffff) ^ (quotient << 12 & 0xffff) ^ quotient << 5 ^ quotient;
}

/* crc16_of as Redis Cluster counts it (XMODEM), of the id or of its part in braces. */
unsigned crc16_of(const char *id)
{
	const char *open = strchr(id, '{');
	const char *end = open ? strchr(open + 1, '}') : NULL;
	size_t size = strlen(id);
	unsigned crc = 0;

	if (end && end > open + 1) {
		id = open + 1;
		size = (size_t)(end - id);
	}
	for (size_t i = 0; i < size; i++)
		crc = crc16_byte(crc, (unsigned char)id[i]);
	return crc;
}

struct shard *shard_of(struct redis_store *store, const char *id)
{
	return &store->shards[crc16_of(id) % store->shard_count];
}
