#include "handle/where.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "base/usec.h"
#include "engine/call/arguments.h"

#define TOLD_EVERY DW_MILLISECONDS(100)
#define TRIES_MAX 100u /* for a timer whose occurrences come faster than its cancel */

/* A walk over the timers of a selection. It reads the next page when all cancels of the present
 * page are answered. */
struct where {
	struct alloc alloc;
	dw *d;
	dw_tally_fn fn;
	void *user;
	bool cancels;
	bool again;       /* a recurring timer had its next occurrence before its cancel came */
	dw_select select; /* its strings point to the next two fields */
	char topic[DW_TOPIC_MAX + 1];
	char prefix[DW_ID_SIZE];
	dw_cursor next;
	size_t asked; /* number of cancels without an answer, plus one while a page is being read */
	dw_usec told; /* steady; when fn was last called */
	dw_tally tally;
	char failed_id[DW_ID_SIZE];
};

static void where_free(struct where **where)
{
	struct alloc alloc = (*where)->alloc;

	alloc_free(&alloc, *where);
}

static void end(struct where *where, int status)
{
	struct where *ended AT_END(where_free) = where;

	ended->tally.over = 1;
	ended->tally.status = status;
	ended->fn(ended->d, &ended->tally, ended->user);
}

static void tell_progress(struct where *where)
{
	const struct clock *clock = &where->d->clock;
	dw_usec now = clock->steady(clock->user);

	if (usec_sub(now, where->told) < TOLD_EVERY)
		return;
	where->told = now;
	where->fn(where->d, &where->tally, where->user);
}

static void ask(struct where *where);

/* answered_one counts one answer. After the last answer the walk reads the next page. */
static void answered_one(struct where *where)
{
	if (--where->asked > 0)
		return;
	if (where->next.ended)
		end(where, DW_OK);
	else
		ask(where);
}

static void count_failure(struct where *where, const char *id, int status)
{
	dw_tally *tally = &where->tally;

	if (tally->failed++ > 0)
		return;
	(void)snprintf(where->failed_id, sizeof where->failed_id, "%s", id);
	tally->failed_id = where->failed_id;
	tally->failed_status = status;
}

static void where_cancelled(dw *d, const dw_result *result, void *user)
{
	struct where *where = user;

	(void)d;
	if (result->status == DW_OK)
		where->tally.done++;
	else if (result->status == DW_ELATE)
		where->tally.late++;
	else if (result->status == DW_ENOENT)
		where->tally.gone++;
	else
		count_failure(where, result->id, result->status);
	answered_one(where);
}

/* ---- Recurring timers ----------------------------------------------------------------------- */

/* A recurring timer whose cancel is under way. Each of its occurrences is a generation. If the one
 * that was found has ended, the next one of the same timer is cancelled. */
struct recurring {
	struct alloc alloc;
	struct where *where;
	unsigned tries;
	uint64_t mark;
	char id[DW_ID_SIZE];
};

static void recurring_free(struct recurring **recurring)
{
	struct alloc alloc = (*recurring)->alloc;

	alloc_free(&alloc, *recurring);
}

/* mark_of returns a hash of what all occurrences of a timer have in common. A timer that was put
 * again with another rule, topic or data has another one. */
static uint64_t mark_of(const dw_info *info)
{
	uint64_t mark = hash_bytes(0, info->rule, strlen(info->rule));

	mark = hash_bytes(mark, info->topic, strlen(info->topic));
	return hash_bytes(mark, info->data, info->data_size);
}

static void recurring_ended(dw *d, struct recurring *recurring, int status)
{
	struct recurring *ended AT_END(recurring_free) = recurring;
	dw_result result = {.size = sizeof result, .id = ended->id, .status = status};

	where_cancelled(d, &result, ended->where);
}

static void recurring_cancelled(dw *d, const dw_result *result, void *user);

static void recurring_found(dw *d, int status, const dw_info *timers, size_t count,
			    const dw_cursor *next, void *user)
{
	struct recurring *recurring = user;
	struct done done = {recurring_cancelled, recurring};

	(void)count; /* 1 */
	(void)next;
	if (status == DW_OK && timers->rule && mark_of(timers) == recurring->mark)
		status = engine_cancel(d->engine, recurring->id, timers->generation, done);
	else if (status == DW_OK)
		status = DW_ENOENT;
	if (status != DW_OK)
		recurring_ended(d, recurring, status);
}

static void recurring_cancelled(dw *d, const dw_result *result, void *user)
{
	struct recurring *recurring = user;
	struct lister lister = {recurring_found, recurring};
	int status = result->status;

	if (status == DW_ENOENT && recurring->tries++ < TRIES_MAX) {
		status = d->closing ? DW_ECLOSED : engine_get(d->engine, recurring->id, lister);
		if (status == DW_OK)
			return;
	}
	recurring_ended(d, recurring, status);
}

static int cancel_recurring(struct where *where, const dw_info *found)
{
	struct recurring *recurring = alloc_new(&where->alloc, sizeof *recurring);
	struct done done = {recurring_cancelled, recurring};
	int status;

	if (!recurring)
		return DW_ENOMEM;
	*recurring =
	    (struct recurring){.alloc = where->alloc, .where = where, .mark = mark_of(found)};
	memcpy(recurring->id, found->id, strlen(found->id) + 1);
	status = engine_cancel(where->d->engine, recurring->id, found->generation, done);
	if (status != DW_OK)
		recurring_free(&recurring);
	return status;
}

/* ---- The walk ------------------------------------------------------------------------------- */

static void cancel_found(struct where *where, const dw_info *found)
{
	struct done done = {where_cancelled, where};
	int status = found->rule
			 ? cancel_recurring(where, found)
			 : engine_cancel(where->d->engine, found->id, found->generation, done);

	if (status == DW_OK)
		where->asked++;
	else
		count_failure(where, found->id, status);
}

static void where_found(dw *d, int status, const dw_info *timers, size_t count,
			const dw_cursor *next, void *user)
{
	struct where *where = user;

	(void)d;
	if (status != DW_OK) {
		end(where, status);
		return;
	}
	where->next = *next;
	where->tally.matched += count;
	for (size_t i = 0; i < count && where->cancels; i++)
		cancel_found(where, &timers[i]);
	tell_progress(where);
	answered_one(where);
}

/* ask asks for the next page. */
static void ask(struct where *where)
{
	int status = where->d->closing
			 ? DW_ECLOSED
			 : engine_list(where->d->engine, &where->select, &where->next, DW_LIST_MAX,
				       (struct lister){where_found, where});

	where->asked = 1;
	if (status != DW_OK)
		end(where, status);
}

/* ---- Beginning ------------------------------------------------------------------------------ */

static bool is_empty(const dw_select *select)
{
	return !select->topic && (!select->id_prefix || !select->id_prefix[0]) &&
	       !select->due_from && !select->due_to && !select->states && !select->recurring;
}

static int check(const dw *d, const struct where_list *list)
{
	char message[DW_MESSAGE_SIZE];
	int status;

	if (!list->fn)
		return handle_refuse(d, DW_EINVAL, "the callback is NULL");
	status = arguments_select(list->select, message);
	if (status != DW_OK)
		return handle_refuse(d, status, message);
	if (list->select->partial)
		return handle_refuse(d, DW_EINVAL, "select.partial is for dw_list()");
	if (list->cancels && is_empty(list->select))
		return handle_refuse(d, DW_EINVAL,
				     "the selection is empty: dw_purge() deletes every timer");
	return DW_OK;
}

/* keep copies a name into a buffer of struct where, and returns the buffer. The name fits, because
 * arguments_select() has checked its size. */
static const char *keep(char *ret_room, const char *name)
{
	return memcpy(ret_room, name, strlen(name) + 1);
}

static struct where *where_new(dw *d, const struct where_list *list)
{
	struct where *where = alloc_new(&d->alloc, sizeof *where);

	if (!where)
		return NULL;
	*where = (struct where){.alloc = d->alloc,
				.d = d,
				.fn = list->fn,
				.user = list->user,
				.cancels = list->cancels,
				.select = *list->select,
				.asked = 1,
				.told = d->clock.steady(d->clock.user),
				.tally = {.size = sizeof(dw_tally)}};
	where->select.size = sizeof where->select;
	if (list->select->topic)
		where->select.topic = keep(where->topic, list->select->topic);
	if (list->select->id_prefix)
		where->select.id_prefix = keep(where->prefix, list->select->id_prefix);
	return where;
}

int where_begin(dw *d, const struct where_list *list)
{
	int status = handle_admit(d);
	struct where *where;

	if (status == DW_OK)
		status = check(d, list);
	if (status != DW_OK)
		return status;
	where = where_new(d, list);
	if (!where)
		return handle_refuse(d, DW_ENOMEM, "no memory for the selection");
	status = engine_list(d->engine, &where->select, NULL, DW_LIST_MAX,
			     (struct lister){where_found, where});
	if (status != DW_OK)
		where_free(&where);
	return status;
}
