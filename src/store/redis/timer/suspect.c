#include "store/redis/timer/suspect.h"

#include <stdarg.h>
#include <stdio.h>

#include "store/redis/core.h"

/* The pause after the first closing; each further closing doubles the pause. */
#define PAUSE_FIRST DW_MILLISECONDS(100)
#define PAUSE_MAX DW_SECONDS(60)
/* For this long after the server closed the connection because of a page, pages stay small. */
#define ROWS_FOR DW_MINUTES(1)
#define TELL_EVERY DW_SECONDS(10)
#define HEADS 1024u /* two commands with equal bodies differ in size by less than this */
/* A suspect counts as being tried for this long after its last closing. */
#define TRIED_FOR DW_SECONDS(1)
/* A size that failed is not tried for this long; then the limit may be higher. */
#define LEARNT_FOR DW_SECONDS(5)

/* ---- Telling --------------------------------------------------------------------------------- */

/* suspect_tell writes an event for the program, unless it wrote an event in the last TELL_EVERY. */
void suspect_tell(struct redis_store *store, const char *id, const char *format, ...)
{
	struct suspects *suspects = &store->completion.suspects;
	dw_store_event *event = &suspects->event;
	va_list arguments;

	if (suspects->has_event || store->now < suspects->told_until)
		return;
	suspects->has_event = true;
	suspects->told_until = usec_add(store->now, TELL_EVERY);
	*event = (dw_store_event){.kind = DW_EVENT_LIMIT, .status = DW_ELIMIT};
	(void)snprintf(event->id, sizeof event->id, "%s", id); /* the id always fits */
	va_start(arguments, format);
	/* Long words are cut. */
	(void)vsnprintf(event->words, sizeof event->words, format, arguments);
	va_end(arguments);
}

void suspect_tell_row(struct redis_store *store, const char *id)
{
	suspect_tell(
	    store, id,
	    "the server has closed the connection %u times on the reply with this timer alone, so "
	    "the timer cannot be read: raise the server's client-output-buffer-limit normal",
	    CLOSINGS_MAX);
}

int suspect_take_event(struct suspects *suspects, dw_store_event *ret_event)
{
	if (!suspects->has_event)
		return 0;
	*ret_event = suspects->event;
	suspects->has_event = false;
	return 1;
}

/* ---- Operations ------------------------------------------------------------------------------ */

void suspect_lost(struct redis_request *request)
{
	for (dw_op *op = request->ops.first; op; op = op->next) {
		place_of(op)->closed_on = (uint32_t)request->closed_on;
		place_of(op)->was_alone = request->ops.count == 1;
	}
}

/* fails returns true if the operation ends with DW_ELIMIT after the last closing. Operations that
 * write a timer like a put also fail: a row of a journal, and a timer that is written again after a
 * loss. */
static bool fails(const dw_op *op)
{
	return answer_is_waited_for(op) || op->kind == DW_OP_REPUSH ||
	       (op->kind == DW_OP_REPLAY && op->replay->what == DW_OP_PUT);
}

/* keeps_place returns true if later operations of the shard must not overtake this one. */
static bool keeps_place(const dw_op *op)
{
	return op->kind == DW_OP_REPLAY || op->kind == DW_OP_REDELETE;
}

static bool reads(const dw_op *op)
{
	return op->kind == DW_OP_GET || op->kind == DW_OP_TAKE || op->kind == DW_OP_CHECK;
}

static void tell_size(struct redis_store *store, const dw_op *op, bool is_over)
{
	suspect_tell(
	    store, op->id ? op->id : "",
	    "the server has closed the connection %u times on an operation of this size alone, so "
	    "it %s: store less than these %zu bytes, or raise the server's "
	    "client-query-buffer-limit and proto-max-bulk-len",
	    CLOSINGS_MAX, is_over ? "fails" : "is tried again with growing pauses", op->body_size);
}

static void tell_op(struct redis_store *store, const dw_op *op)
{
	if (reads(op))
		suspect_tell_row(store, op->id ? op->id : "");
	else
		tell_size(store, op, fails(op));
}

static dw_usec pause_after(unsigned closings)
{
	dw_usec pause = PAUSE_FIRST;

	for (; closings > 1 && pause < PAUSE_MAX; closings--)
		pause *= 2;
	return usec_min(pause, PAUSE_MAX);
}

/* wait puts the operation aside, so that other operations go first. The timer may change in the
 * meantime. */
static void wait(struct redis_store *store, dw_op *op)
{
	op->flags &= ~DW_OP_KNOWN;
	place_of(op)->again_at = usec_add(store->now, pause_after(place_of(op)->closings));
	answer_later(store, op);
	op_queue_push(&store->completion.suspects.aside, op);
}

static void learn_size(struct redis_store *store, const dw_op *op)
{
	struct suspects *suspects = &store->completion.suspects;
	bool is_sure = place_of_const(op)->closings >= CLOSINGS_MAX;

	if (op->body_size <= BATCH_BYTES_MAX)
		return;
	suspects->large = op->body_size;
	suspects->large_is_sure = is_sure;
	suspects->large_until = usec_add(store->now, is_sure ? LEARNT_FOR : TRIED_FOR);
}

/* is_large returns true if an operation with about this size, or a smaller one, is being tried or
 * has failed. */
static bool is_large(const struct redis_store *store, const dw_op *op)
{
	const struct suspects *suspects = &store->completion.suspects;

	return op->body_size > BATCH_BYTES_MAX && op->body_size + HEADS >= suspects->large &&
	       store->now < suspects->large_until && fails(op) &&
	       (suspects->large_is_sure || place_of_const(op)->closings == 0);
}

/* note_closing notes whether the server has closed the connection because of this operation.
 * Returns true if it has, and the operation was alone in its command. */
static bool note_closing(struct redis_store *store, dw_op *op)
{
	struct op_place *place = place_of(op);
	bool is_cause = nodes_blame(&store->nodes, place->closed_on);

	place->closed_on = 0;
	place->is_suspect = place->is_suspect || is_cause;
	if (place->is_suspect)
		nodes_careful(store);
	if (!is_cause || !place->was_alone)
		return false;
	if (place->closings < UINT8_MAX)
		place->closings++;
	learn_size(store, op);
	return true;
}

unsigned suspect_closings(struct redis_store *store, dw_op *op)
{
	return note_closing(store, op) ? place_of(op)->closings : 0;
}

bool suspect_fails(struct redis_store *store, dw_op *op)
{
	if (!note_closing(store, op) || place_of(op)->closings < CLOSINGS_MAX)
		return false;
	tell_op(store, op);
	return fails(op);
}

/* must_fail returns true if the operation fails now. It sets *ret_waits if the operation must not
 * be sent now. */
static bool must_fail(struct redis_store *store, dw_op *op, bool *ret_waits)
{
	bool is_cause = note_closing(store, op);
	bool large = is_large(store, op);
	bool over = place_of(op)->closings >= CLOSINGS_MAX ||
		    (large && store->completion.suspects.large_is_sure);

	*ret_waits = is_cause || large;
	if (!*ret_waits || !over)
		return false;
	tell_op(store, op);
	return fails(op);
}

bool suspect_judge(struct redis_store *store, struct shard *shard, struct op_queue *queue)
{
	dw_op *op = queue->first;
	bool waits;

	if (must_fail(store, op, &waits))
		answer(store, op_queue_pop(queue), DW_ELIMIT);
	else if (waits && keeps_place(op))
		shard_pause(&store->sets, shard,
			    usec_add(store->now, pause_after(place_of(op)->closings)));
	else if (waits)
		wait(store, op_queue_pop(queue));
	return waits;
}

static bool is_rebuild(const dw_op *op)
{
	return op->kind == DW_OP_REPUSH || op->kind == DW_OP_REDELETE;
}

/* release puts the operation back into its queue. */
static void release(struct redis_store *store, dw_op *op)
{
	bool is_push = op->kind == DW_OP_PUSH;
	struct shard *shard = is_push ? NULL : shard_of(store, op->id);
	struct op_queue one = {0};

	op_queue_push(&one, op);
	batch_take_back(is_push          ? &store->later.topics.waiting
			: is_rebuild(op) ? &shard->queues.rebuild
					 : &shard->queues.retry,
			&one);
	if (!is_push)
		shard_queued(&store->sets, shard);
}

void suspect_release(struct redis_store *store, bool all)
{
	dw_op *op = op_queue_take(&store->completion.suspects.aside);

	while (op) {
		dw_op *next = op->next;

		if (all || store->now >= place_of(op)->again_at)
			release(store, op);
		else
			op_queue_push(&store->completion.suspects.aside, op);
		op = next;
	}
}

dw_usec suspect_due(const struct completion *completion)
{
	dw_usec at = DW_NEVER;

	for (const dw_op *op = completion->suspects.aside.first; op; op = op->next)
		at = usec_min(at, place_of_const(op)->again_at);
	return at;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* tell_push tells the program why the PUSH may not have been done. The caller only learns that its
 * outcome is unknown. */
static void tell_push(struct redis_store *store, const dw_op *op)
{
	suspect_tell(
	    store, "",
	    "the server has closed the connection on a push of %zu bytes: if that is more than its "
	    "client-query-buffer-limit or proto-max-bulk-len, push less at a time, or raise them",
	    op->body_size);
	/* This event is not certain, so it must not delay a later event that is certain. */
	store->completion.suspects.told_until = 0;
}

bool suspect_push_lost(struct redis_store *store, const struct redis_request *request)
{
	struct suspect_push *push = &store->completion.suspects.push;
	const dw_op *op = request->ops.first;

	if (!request->closed_on || op->body_size <= BATCH_BYTES_MAX)
		return false;
	push->closed_on = request->closed_on;
	push->again_at = usec_add(store->now, pause_after(push->closings + 1));
	if (push->closings == 0 || op->body_size < push->size)
		push->size = op->body_size;
	if (!op->id)
		tell_push(store, op);
	return true;
}

int suspect_push_again(struct redis_store *store, dw_op *op)
{
	dw_usec pause = usec_sub(store->completion.suspects.push.again_at, store->now);

	op->head.due = usec_add(store->env.now(store->env.now_user), pause);
	return DW_EBUSY;
}

void suspect_push_done(struct completion *completion, const dw_op *op)
{
	struct suspect_push *push = &completion->suspects.push;

	if (op->body_size >= push->size)
		push->closings = 0;
}

/* judge_push counts a closing if a PUSH was its cause. */
static void judge_push(struct redis_store *store)
{
	struct suspect_push *push = &store->completion.suspects.push;

	push->closings += nodes_blame(&store->nodes, (uint32_t)push->closed_on);
	push->closed_on = 0;
}

int suspect_push(struct redis_store *store, dw_op *op)
{
	struct suspect_push *push = &store->completion.suspects.push;
	bool is_call = !op->id;
	bool is_over;

	judge_push(store);
	if (push->closings == 0 || op->body_size < push->size)
		return DW_OK;
	is_over = push->closings >= CLOSINGS_MAX;
	if (is_over)
		tell_size(store, op, is_call);
	if (store->now >= push->again_at)
		return DW_OK;
	if (!is_call)
		return suspect_push_again(store, op);
	if (is_over)
		return DW_ELIMIT;
	place_of(op)->again_at = push->again_at;
	answer_later(store, op);
	op_queue_push(&store->completion.suspects.aside, op);
	return SUSPECT_WAITS;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

bool suspect_replies_are_small(const struct redis_store *store)
{
	return store->now < store->completion.suspects.rows_until;
}

size_t suspect_rows(struct redis_store *store, size_t rows)
{
	const struct suspects *suspects = &store->completion.suspects;

	if (!suspect_replies_are_small(store))
		return rows;
	nodes_careful(store);
	return rows < suspects->rows_max ? rows : suspects->rows_max;
}

void suspect_learn_reply(struct redis_store *store, size_t bytes)
{
	store->completion.suspects.reply = bytes;
	store->completion.suspects.reply_until = usec_add(store->now, LEARNT_FOR);
}

bool suspect_reply_is_large(const struct redis_store *store, size_t bytes)
{
	const struct suspects *suspects = &store->completion.suspects;

	return bytes >= suspects->reply && store->now < suspects->reply_until;
}

static void make_smaller(struct redis_store *store, const struct redis_request *request,
			 size_t rows)
{
	if (!request->closed_on)
		return;
	store->completion.suspects.rows_max = rows > 1 ? rows / 2 : 1;
	store->completion.suspects.rows_until = usec_add(store->now, ROWS_FOR);
}

void suspect_reply_lost(struct redis_store *store, dw_op *op, const struct redis_request *request,
			size_t rows)
{
	place_of(op)->closed_on = (uint32_t)request->closed_on;
	place_of(op)->was_alone = rows <= 1;
	make_smaller(store, request, rows);
}

void suspect_page_lost(struct redis_store *store, struct suspect_page *page,
		       const struct redis_request *request, size_t rows)
{
	page->closed_on = rows <= 1 ? (uint32_t)request->closed_on : 0;
	make_smaller(store, request, rows);
}

bool suspect_page_fails(const struct redis_store *store, struct suspect_page *page)
{
	page->closings += nodes_blame(&store->nodes, page->closed_on);
	page->closed_on = 0;
	if (page->closings < CLOSINGS_MAX)
		return false;
	page->closings = 0;
	return true;
}
