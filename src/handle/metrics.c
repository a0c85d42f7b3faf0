/* dw_metrics and dw_health. */
#include "durawheel/metrics.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/usec.h"
#include "engine/call/members.h"
#include "engine/queue/topic_calls.h"
#include "handle/handle.h"
#include "handle/metrics.h"

#define ASK_EVERY DW_SECONDS(1)
#define OWNER_SILENT_AFTER DW_SECONDS(30)
#define OVERDUE_AFTER DW_SECONDS(5)

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	alloc_free(&metrics->alloc, metrics->topics);
	alloc_free(&metrics->alloc, metrics);
}

/* ---- What the store says --------------------------------------------------------------------- */

static void metrics_answered(struct metrics *metrics, int status)
{
	metrics->waiting--;
	metrics->status = status;
}

/* copy_topics returns one block with copies of the topics and their names, or NULL if there is no
 * memory. */
static dw_topic_info *copy_topics(const struct metrics *metrics, const dw_topic_info *topics,
				  size_t count)
{
	size_t size = count * sizeof *topics;
	dw_topic_info *copy;
	char *end;

	for (size_t i = 0; i < count; i++)
		size += strlen(topics[i].name) + 1;
	copy = alloc_new(&metrics->alloc, size + 1);
	if (!copy)
		return NULL;
	end = (char *)(copy + count);
	for (size_t i = 0; i < count; i++) {
		size_t name_size = strlen(topics[i].name) + 1;

		copy[i] = topics[i];
		copy[i].name = memcpy(end, topics[i].name, name_size);
		end += name_size;
	}
	return copy;
}

static void keep_topics(struct metrics *metrics, const dw_topic_info *topics, size_t count)
{
	dw_topic_info *copy = copy_topics(metrics, topics, count);

	if (!copy)
		return; /* without memory, the earlier numbers stay */
	alloc_free(&metrics->alloc, metrics->topics);
	metrics->topics = copy;
	metrics->count = count;
}

static void topics_heard(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct metrics *metrics = user;

	(void)d;
	metrics_answered(metrics, status);
	if (status == DW_OK)
		keep_topics(metrics, topics, count);
}

static void status_heard(dw *d, int status, const dw_store_status *store, void *user)
{
	struct metrics *metrics = user;
	bool fits = status == DW_OK && strlen(store->owner_report) < REPORT_SIZE;

	metrics_answered(metrics, status);
	if (status != DW_OK)
		return;
	metrics->is_heard = true;
	metrics->heard_in = engine_outage(d->engine);
	metrics->store = *store;
	metrics->is_owned = store->owner[0] != '\0';
	metrics->has_standby = store->standby[0] != '\0';
	(void)snprintf(metrics->report, REPORT_SIZE, "%s", fits ? store->owner_report : "");
}

/* ask_store asks the store again if its last answers are old. A question that cannot be sent now is
 * sent the next time. */
static void ask_store(dw *d, struct metrics *metrics)
{
	dw_usec steady = d->clock.steady(d->clock.user);

	if (metrics->waiting > 0 ||
	    (metrics->asked_at != 0 && usec_sub(steady, metrics->asked_at) < ASK_EVERY))
		return;
	metrics->asked_at = steady;
	metrics->waiting += engine_status(d->engine, status_heard, metrics) == DW_OK;
	metrics->waiting += engine_topic_list(d->engine, NULL, topics_heard, metrics) == DW_OK;
}

/* ---- The owner's own numbers ----------------------------------------------------------------- */

/* take_queue copies from the last answer of the store whether the topic is a queue, and the numbers
 * of the queue. Both lists are in the order of the names. */
static void take_queue(const struct metrics *heard, size_t *next, dw_topic_info *topic)
{
	dw_topic_info from;

	while (*next < heard->count && strcmp(heard->topics[*next].name, topic->name) < 0)
		(*next)++;
	if (*next == heard->count || strcmp(heard->topics[*next].name, topic->name) != 0)
		return;
	from = heard->topics[*next];
	topic->settings.queue = from.settings.queue;
	topic->waiting = from.waiting;
	topic->taken = from.taken;
	topic->later = from.later;
	topic->dropped = from.dropped;
	topic->expired = from.expired;
	topic->oldest_message = from.oldest_message;
}

/* own_topics replaces the topics by those in the engine's memory. */
static void own_topics(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct metrics *own = user;
	size_t next = 0;

	if (status == DW_OK)
		own->topics = copy_topics(own, topics, count);
	own->count = own->topics ? count : 0;
	for (size_t i = 0; i < own->count; i++)
		take_queue(d->metrics, &next, &own->topics[i]);
}

/* look notes how many servers there are, and how many servers and shards this handle cannot use. A
 * report does not replace this, because it may be at a server that is away. */
static void look(const dw *d, struct metrics *metrics)
{
	dw_node node = {.size = sizeof node};

	metrics->nodes = metrics->nodes_away = 0;
	metrics->refused = engine_refused(d->engine);
	for (; engine_node(d->engine, metrics->nodes, &node) == DW_OK; metrics->nodes++)
		metrics->nodes_away += !node.is_connected;
}

/* write_heard writes the text of a handle that is not the owner. If the last sign of an owner is
 * old, it writes that there is no owner, even if the store does not answer. */
static size_t write_heard(dw *d, char *text, size_t size)
{
	struct metrics *heard = d->metrics;

	heard->is_up = true;
	heard->has_owner =
	    heard->is_owned && usec_sub(dw_now(d), heard->store.owner_seen) < OWNER_SILENT_AFTER;
	for (size_t i = 0; i < heard->count; i++)
		heard->topics[i].is_counted = heard->topics[i].is_counted && heard->has_owner;
	return metrics_write(heard, heard->has_owner ? heard->report : "", text, size);
}

/* is_up returns true if the store answers. During an outage this is true only if the last answer
 * came in the same outage. */
static bool is_up(const dw *d)
{
	uint64_t outage = engine_outage(d->engine);

	return d->metrics->status == DW_OK && (outage == 0 || outage == d->metrics->heard_in);
}

static size_t write_own(dw *d, char *text, size_t size)
{
	struct metrics own = *d->metrics;
	size_t needed;

	own.topics = NULL;
	own.has_owner = engine_may_fire(d->engine);
	own.is_up = is_up(d);
	engine_report(d->engine, own.report);
	engine_topic_numbers(d->engine, own_topics, &own);
	needed = metrics_write(&own, own.report, text, size);
	alloc_free(&own.alloc, own.topics);
	return needed;
}

int dw_metrics(dw *d, char *text, size_t size, size_t *ret_size)
{
	int status = handle_admit(d);
	size_t needed;

	if (status == DW_OK && !text && size > 0)
		status = handle_refuse(d, DW_EINVAL, "the text is NULL");
	if (status != DW_OK)
		return status;
	if (!d->metrics && !(d->metrics = alloc_new(&d->alloc, sizeof *d->metrics)))
		return handle_refuse(d, DW_ENOMEM, dw_strerror(DW_ENOMEM));
	d->metrics->alloc = d->alloc;
	ask_store(d, d->metrics);
	look(d, d->metrics);
	if (engine_is_owner(d->engine) && d->options.role != DW_PEER)
		needed = write_own(d, text, size);
	else if (!is_up(d))
		needed = metrics_write_away(text, size);
	else if (d->metrics->is_heard)
		needed = write_heard(d, text, size);
	else
		return handle_refuse(d, DW_EBUSY, "the store has not answered yet");
	if (ret_size)
		*ret_size = needed;
	return DW_OK;
}

/* ---- Health ---------------------------------------------------------------------------------- */

#define AWAY "the store is away; the journal takes what is asked"

static const struct {
	int status;
	const char *words;
} healths[] = {
    [HEALTH_OK] = {DW_OK, "ok"},
    [HEALTH_LOADS] = {DW_EBUSY, "loading: not every stored timer is in memory yet"},
    [HEALTH_ASKS] = {DW_EBUSY, "waiting for the store: it has not said yet who has it"},
    [HEALTH_STANDBY] = {DW_EOWNED, "standby: another process has the store"},
    [HEALTH_FULL] = {DW_ELIMIT, "standby: 50 processes share the store, and more cannot"},
    [HEALTH_NEWER] = {DW_ENEWER, "standby: the store has timers of a newer durawheel"},
    [HEALTH_LEASE] = {DW_ESTORE, "the lease is over: due timers wait until it is renewed"},
    [HEALTH_REFUSED] = {DW_ESTORE, "a shard cannot be used: its timers wait, all others fire"},
    [HEALTH_UNOWNED] = {DW_ESTORE, "no process takes a shard: its timers wait, all others fire"},
    [HEALTH_FAILS] = {DW_ESTORE, "the store is away, or refuses"},
    [HEALTH_JOURNALS] = {DW_ESTORE, AWAY},
    [HEALTH_HOLDS] = {DW_ESTORE, AWAY ", and due timers wait"},
    [HEALTH_FIRES] = {DW_ESTORE, AWAY ", and timers fire until the lease ends"},
    [HEALTH_CLOSES] = {DW_ECLOSED, "the handle is being closed"},
};

/* health_of returns the status after the last turn, the words for it, and the shard that it is
 * about, or -1. */
static int health_of(const dw *d, const char **ret_words, int *ret_shard)
{
	int health;

	*ret_shard = -1;
	if (!d || d->pid != getpid()) {
		*ret_words = dw_strerror(d ? DW_EFORK : DW_EINVAL);
		return d ? DW_EFORK : DW_EINVAL;
	}
	health = atomic_load(&d->health);
	*ret_shard = health >> HEALTH_BITS;
	health &= (1 << HEALTH_BITS) - 1;
	if (health != HEALTH_REFUSED && health != HEALTH_LEASE && health != HEALTH_UNOWNED)
		*ret_shard = -1;
	*ret_words = healths[health].words;
	return healths[health].status;
}

int dw_health(const dw *d, char *ret_message)
{
	char unread[DW_MESSAGE_SIZE];
	char *message = ret_message ? ret_message : unread;
	const char *words;
	dw_usec overdue = 0;
	int shard;
	int status = health_of(d, &words, &shard);

	/* A handle with a test clock needs no turns while the clock stands still. */
	if (d && status != DW_EFORK && status != DW_ECLOSED && !handle_has_test_clock(d))
		overdue = loop_overdue(d->loop);
	if (shard < 0)
		(void)snprintf(message, DW_MESSAGE_SIZE, "%s", words);
	else
		(void)snprintf(message, DW_MESSAGE_SIZE, "%s (shard %d)", words, shard);
	if (overdue < OVERDUE_AFTER)
		return status;
	(void)snprintf(
	    message, DW_MESSAGE_SIZE,
	    "a turn is overdue by %lld s: the program's loop does not turn, or a handler "
	    "takes that long",
	    (long long)(overdue / DW_SECONDS(1)));
	return DW_ETIMEOUT;
}
