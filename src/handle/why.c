/* What one timer waits for: the public API. If this process owns the timer, its memory has the
 * answer. Otherwise the store is asked for the timer, its topic, the owner and the peers. */
#include "durawheel/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "base/usec.h"
#include "engine/call/arguments.h"
#include "engine/call/members.h"
#include "engine/queue/topic_calls.h"
#include "engine/report_shards.h"
#include "engine/why.h"
#include "handle/handle.h"

#define SILENT_AFTER DW_SECONDS(30)
#define WHO_SIZE 256

/* One question. `info` and `numbers` have what the store has said so far; their texts are not
 * valid any more. */
struct why_ask {
	struct alloc alloc;
	dw *d;
	dw_why_fn fn;
	void *user;
	dw_info info;
	bool is_zoneless; /* this machine does not know the zone of the timer's rule */
	bool has_topic;
	bool is_refused; /* the server refuses the timer's shard to the owner */
	dw_topic_info numbers;
	dw_usec owner_seen;
	int shard;
	char id[DW_ID_SIZE];
	char topic[DW_TOPIC_MAX + 1];
	char detail[DW_WHY_MAX + 1];
	char refusal[DW_WHY_MAX + 1];
	char who[WHO_SIZE];
};

static void why_ask_free(struct why_ask **question)
{
	struct alloc alloc = (*question)->alloc;

	alloc_free(&alloc, *question);
}

static void tell(struct why_ask *question, int status, const dw_why *why)
{
	struct why_ask *told AT_END(why_ask_free) = question;

	told->fn(told->d, status, status == DW_OK ? why : NULL, told->user);
}

static void copy_text(char *ret_room, size_t size, const char *text)
{
	(void)snprintf(ret_room, size, "%s", text ? text : ""); /* cut if long */
}

/* ---- What the store has said --------------------------------------------------------------- */

/* compare returns a value below 0 if the timer starts before the other one. Timers start in the
 * order of deadline and generation. */
static int compare(const dw_info *info, dw_usec due, uint64_t generation)
{
	if (info->due != due)
		return info->due < due ? -1 : 1;
	return info->generation < generation ? -1 : info->generation > generation;
}

/* is_started returns true if a handler has the claimed timer. A timer that was put after its
 * deadline may still wait while timers with later deadlines run. */
static bool is_started(const dw_info *info, const dw_topic_info *numbers)
{
	int first = compare(info, numbers->unstarted_due, numbers->unstarted_generation);

	return numbers->unstarted_generation == 0 || first < 0 ||
	       (first > 0 && compare(info, numbers->started_due, numbers->started_generation) <= 0);
}

/* of_numbers returns what the numbers of the topic say about a due timer. A timer of a queue has no
 * handler. Its owner claims the timer each time that it tries whether the queue has space. */
static dw_waits of_numbers(const struct why_ask *question, dw_usec now)
{
	const dw_topic_info *numbers = &question->numbers;
	const dw_info *info = &question->info;
	dw_waits waits = (dw_waits)numbers->waits;

	if (info->state == DW_CLAIMED && !numbers->settings.queue && is_started(info, numbers))
		return numbers->running > 0 ? DW_WAITS_RUNS : DW_WAITS_CLAIMED;
	if (numbers->settings.paused & DW_PAUSE_DELIVERY)
		return DW_WAITS_PAUSED;
	if (question->is_zoneless && waits != DW_WAITS_NOT && waits != DW_WAITS_PAUSED)
		return DW_WAITS_ZONE;
	if (waits == DW_WAITS_NOT || (waits == DW_WAITS_ZONE && !info->rule)) {
		if (info->state == DW_CLAIMED)
			return DW_WAITS_CLAIMED;
		return usec_sub(now, info->due) < DW_SECONDS(12) ? DW_WAITS_TURN : DW_WAITS_LOADS;
	}
	return waits;
}

static dw_waits of_stored(const struct why_ask *question, dw_usec now)
{
	const dw_info *info = &question->info;

	if (info->state == DW_NEWER)
		return DW_WAITS_NEWER;
	if (info->due > now)
		return info->retries > 0 ? DW_WAITS_RETRY : DW_WAITS_DUE;
	if (!question->who[0])
		return DW_WAITS_OWNER;
	if (question->owner_seen > 0 && usec_sub(now, question->owner_seen) > SILENT_AFTER)
		return DW_WAITS_SILENT;
	if (question->is_refused)
		return DW_WAITS_REFUSED;
	if (!question->has_topic)
		return DW_WAITS_LOADS;
	return question->numbers.is_counted ? of_numbers(question, now) : DW_WAITS_OWNER;
}

/* answer answers the question with what the store has said. */
static void answer(struct why_ask *question)
{
	dw_usec now = engine_clock(question->d->engine);
	dw_why why = {.size = sizeof why,
		      .id = question->id,
		      .topic = question->topic,
		      .waits = of_stored(question, now),
		      .due = question->info.due,
		      .detail = "",
		      .who = question->who,
		      .shard = question->shard};

	if (why.waits == DW_WAITS_RETRY || why.waits == DW_WAITS_DUE)
		why.until = why.due;
	if (why.waits == DW_WAITS_RETRY)
		why.detail = question->detail;
	if (why.waits == DW_WAITS_REFUSED)
		why.detail = question->refusal;
	tell(question, DW_OK, &why);
}

/* ---- Asking the store ---------------------------------------------------------------------- */

/* owner_of returns the peer that has the shard, or NULL. *ret_is_shared is false if no peer has any
 * shard, because one owner has the whole namespace. */
static const dw_member *owner_of(const dw_member_list *list, int shard, bool *ret_is_shared)
{
	*ret_is_shared = false;
	for (size_t i = 0; i < list->count; i++) {
		const dw_member *member = &list->members[i];

		*ret_is_shared |= member->shard_count > 0;
		for (size_t j = 0; j < member->shard_count; j++)
			if ((int)member->shards[j] == shard && !member->is_dead)
				return member;
	}
	return NULL;
}

static void why_members(dw *d, int status, const dw_member_list *list, void *user)
{
	struct why_ask *question = user;
	const dw_member *owner;
	bool is_shared;

	(void)d;
	if (status != DW_OK) {
		tell(question, status, NULL);
		return;
	}
	owner = owner_of(list, question->shard, &is_shared);
	if (is_shared) {
		copy_text(question->who, sizeof question->who, owner ? owner->who : "");
		question->owner_seen = 0;
	}
	answer(question);
}

static void why_status(dw *d, int status, const dw_store_status *store, void *user)
{
	struct why_ask *question = user;

	if (status == DW_OK) {
		copy_text(question->who, sizeof question->who, store->owner);
		question->owner_seen = store->owner_seen;
		question->is_refused =
		    question->shard >= 0 &&
		    report_refuses(store->owner_report, (unsigned)question->shard,
				   question->refusal, sizeof question->refusal);
		if (question->shard < 0) {
			answer(question);
			return;
		}
		status = engine_members(d->engine, why_members, question);
	}
	if (status != DW_OK)
		tell(question, status, NULL);
}

static void why_topic(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct why_ask *question = user;

	if (status == DW_OK && count > 0) {
		question->has_topic = true;
		question->numbers = *topics;
	}
	if (status == DW_OK)
		status = engine_status(d->engine, why_status, question);
	if (status != DW_OK)
		tell(question, status, NULL);
}

/* ---- A timer that has become a message ----------------------------------------------------- */

static void why_queue(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct why_ask *question = user;
	dw_why why = {.size = sizeof why,
		      .id = question->id,
		      .topic = question->topic,
		      .waits = DW_WAITS_MESSAGE,
		      .due = question->info.due,
		      .detail = question->detail,
		      .who = "",
		      .shard = question->shard};

	(void)d;
	if (status == DW_OK && (count == 0 || !topics->settings.queue ||
				topics->waiting + topics->taken + topics->later == 0))
		status = DW_ENOENT;
	if (status == DW_OK)
		(void)snprintf(question->detail, sizeof question->detail,
			       "of its messages %" PRIu64 " wait, %" PRIu64
			       " are taken, and %" PRIu64 " come back later",
			       topics->waiting, topics->taken, topics->later); /* it fits */
	tell(question, status, &why);
}

static void why_ended(dw *d, int status, const dw_ended *ended, void *user)
{
	struct why_ask *question = user;

	if (status == DW_OK && ended->end != DW_END_DONE)
		status = DW_ENOENT;
	if (status == DW_OK) {
		copy_text(question->topic, sizeof question->topic, ended->topic);
		question->info.due = ended->due;
		status = engine_topic_list(d->engine, question->topic, why_queue, question);
	}
	if (status != DW_OK)
		tell(question, status, NULL);
}

/* ---- Beginning ----------------------------------------------------------------------------- */

static void keep_stored(struct why_ask *question, const dw_info *info)
{
	dw_rule *rule = NULL;

	question->info = *info;
	question->is_zoneless = info->rule && dw_rule_parse(info->rule, &rule, NULL) == DW_EINVAL;
	dw_rule_free(rule);
	copy_text(question->topic, sizeof question->topic, info->topic);
	copy_text(question->detail, sizeof question->detail, info->why);
}

/* why_got gets the stored timer. If the timer waits for a retry, even its owner reads the stored
 * timer, because memory does not keep the text of the last attempt. */
static void why_got(dw *d, int status, const dw_info *timers, size_t count, const dw_cursor *next,
		    void *user)
{
	struct why_ask *question = user;
	dw_why why;

	(void)next;
	if (status == DW_OK && count == 0)
		status = DW_ENOENT;
	if (status == DW_OK)
		keep_stored(question, timers);
	if (engine_knows_why(d->engine, question->id, &why)) {
		if (why.waits == DW_WAITS_RETRY)
			why.detail = question->detail;
		tell(question, DW_OK, &why);
		return;
	}
	if (status == DW_OK)
		status = engine_topic_list(d->engine, question->topic, why_topic, question);
	else if (status == DW_ENOENT)
		status =
		    engine_ended(d->engine, question->id, (struct end_asker){why_ended, question});
	if (status != DW_OK)
		tell(question, status, NULL);
}

/* why_known answers from memory. The timer may have ended since the call. */
static void why_known(dw *d, void *arg)
{
	struct why_ask *question = arg;
	dw_why why;
	int status;

	if (d->closing) {
		tell(question, DW_ECLOSED, NULL);
		return;
	}
	if (engine_knows_why(d->engine, question->id, &why)) {
		tell(question, DW_OK, &why);
		return;
	}
	status = engine_get(d->engine, question->id, (struct lister){why_got, question});
	if (status != DW_OK)
		tell(question, status, NULL);
}

static int check(const dw *d, const char *id, dw_why_fn fn)
{
	char message[DW_MESSAGE_SIZE];
	int status;

	if (!fn)
		return handle_refuse(d, DW_EINVAL, "the callback is NULL");
	status = arguments_id(id, message);
	return status == DW_OK ? DW_OK : handle_refuse(d, status, message);
}

/* begin answers from memory in the next turn, or asks the store. */
static int begin(struct why_ask *question)
{
	struct request run = {.kind = REQUEST_RUN, .fn = why_known, .arg = question};
	dw *d = question->d;
	dw_why why;
	int status;

	if (!engine_knows_why(d->engine, question->id, &why) || why.waits == DW_WAITS_RETRY)
		return engine_get(d->engine, question->id, (struct lister){why_got, question});
	status = posts_send(d->posts, &run);
	if (status == DW_OK || status == DW_ECLOSED)
		return status;
	return handle_refuse(d, status, "the queue of posted calls is full, or there is no memory");
}

int dw_why_waiting(dw *d, const char *id, dw_why_fn fn, void *user)
{
	int status = handle_admit(d);
	struct why_ask *question;

	if (status == DW_OK)
		status = check(d, id, fn);
	if (status != DW_OK)
		return status;
	question = alloc_new(&d->alloc, sizeof *question);
	if (!question)
		return handle_refuse(d, DW_ENOMEM, "no memory for the question");
	*question = (struct why_ask){.alloc = d->alloc, .d = d, .fn = fn, .user = user};
	question->shard = engine_shard_of(d->engine, id);
	copy_text(question->id, sizeof question->id, id);
	status = begin(question);
	if (status != DW_OK)
		why_ask_free(&question);
	return status;
}
