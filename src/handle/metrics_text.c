/* The text of dw_metrics() in Prometheus' format 0.0.4. Its numbers are read from the owner's
 * report, so that an owner and a handle that asks the store show the same. */
#include "handle/metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"
#include "base/usec.h"
#include "durawheel/metrics.h"
#include "topic/topic.h"

/* ---- Lines ----------------------------------------------------------------------------------- */

#define LABEL_SIZE (2 * DW_TOPIC_MAX + 1)
#define LINE_SIZE (LABEL_SIZE + 256)

struct metrics_lines {
	char *text;
	size_t size;   /* size of the buffer */
	size_t used;   /* bytes of the whole lines in the text */
	size_t needed; /* bytes of all lines */
};

static void put_line(struct metrics_lines *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_line(struct metrics_lines *out, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;
	size_t size;

	va_start(args, format);
	size = (size_t)vsnprintf(line, sizeof line, format, args); /* always fits */
	va_end(args);
	if (out->used == out->needed && out->used + size < out->size) {
		memcpy(out->text + out->used, line, size);
		out->used += size;
	}
	out->needed += size;
}

static void put_head(struct metrics_lines *out, const char *name, const char *type,
		     const char *help)
{
	put_line(out, "# HELP durawheel_%s %s\n", name, help);
	put_line(out, "# TYPE durawheel_%s %s\n", name, type);
}

/* put_shared_head writes the head of a metric that an owner, a standby and a client all show. */
static void put_shared_head(struct metrics_lines *out, const char *name, const char *type,
			    const char *help)
{
	put_line(out, "# HELP durawheel_%s %s Every process shows the same: max, not sum.\n", name,
		 help);
	put_line(out, "# TYPE durawheel_%s %s\n", name, type);
}

/* How a value is shown: PLAIN as the number, SPAN and TIME as seconds, from microseconds. A TIME
 * that is 0 or DW_NEVER is not shown. */
enum unit { PLAIN, SPAN, TIME };

#define VALUE_SIZE 32

static const char *value_text(int64_t value, enum unit unit, char text[VALUE_SIZE])
{
	if (unit == PLAIN)
		(void)snprintf(text, VALUE_SIZE, "%" PRId64, value); /* fits */
	else
		(void)snprintf(text, VALUE_SIZE, "%" PRId64 ".%06" PRId64, value / 1000000,
			       value % 1000000); /* fits */
	return text;
}

/* bound_text does the same as value_text(), without zeros at the end. */
static const char *bound_text(int64_t value, char text[VALUE_SIZE])
{
	size_t size = strlen(value_text(value, SPAN, text));

	while (text[size - 1] == '0')
		size--;
	text[text[size - 1] == '.' ? size - 1 : size] = '\0';
	return text;
}

static bool is_shown(int64_t value, enum unit unit)
{
	return value >= 0 && (unit != TIME || (value != 0 && value != DW_NEVER));
}

/* label_of escapes a topic for a label. */
static const char *label_of(const char *topic, char label[LABEL_SIZE])
{
	char *end = label;

	for (; *topic; topic++) {
		if (*topic == '\\' || *topic == '"' || *topic == '\n')
			*end++ = '\\';
		*end++ = *topic == '\n' ? 'n' : *topic;
	}
	*end = '\0';
	return label;
}

/* ---- The report ------------------------------------------------------------------------------ */

/* find returns where the value of a key begins, or NULL. The report consists of numbers, and of
 * texts that the library makes, so a key occurs only as a key. */
static const char *find(const char *report, const char *key)
{
	char quoted[64];
	const char *at;

	(void)snprintf(quoted, sizeof quoted, "\"%s\":", key); /* fits */
	at = strstr(report, quoted);
	return at ? at + strlen(quoted) : NULL;
}

/* number_of reads a number of the report. It returns false if the report has no such key. */
static bool number_of(const char *report, const char *key, int64_t *ret_number)
{
	const char *at = find(report, key);

	if (!at)
		return false;
	*ret_number = *at == 't' ? 1 : strtoll(at, NULL, 10);
	return true;
}

/* counts_of reads an array of counts, as in `[1,2]`. Counts that are missing are 0. */
static bool counts_of(const char *report, const char *key, uint64_t *ret_counts, size_t count)
{
	const char *at = find(report, key);
	char *end = NULL;

	memset(ret_counts, 0, count * sizeof *ret_counts);
	if (!at || *at != '[')
		return false;
	for (size_t i = 0; i < count && (*at == '[' || *at == ','); i++, at = end)
		ret_counts[i] = strtoull(at + 1, &end, 10);
	return true;
}

struct figure {
	const char *name, *type, *key;
	enum unit unit;
	const char *help;
};

static const struct figure figures[] = {
    {"loading", "gauge", "recovering", PLAIN, "1 while the owner loads its timers."},
    {"waited_seconds_total", "counter", "waited_us", SPAN,
     "How long starts waited on purpose: paused, or for their batch."},
    {"owners", "gauge", "owners", PLAIN, "Peers that have shards."},
    {"peers", "gauge", "peers", PLAIN, "Peers that share the store."},
    {"unhandled", "gauge", "unhandled", PLAIN, "Timers that are due and have no handler."},
    {"held", "gauge", "held", PLAIN, "Timers that are held, and wait for dw_settle."},
    {"put_total", "counter", "put", PLAIN, "Timers put by the owner's program."},
    {"cancelled_total", "counter", "cancelled", PLAIN, "Timers cancelled by it."},
    {"moved_total", "counter", "moved", PLAIN, "Timers moved by it."},
    {"duplicates_total", "counter", "duplicates", PLAIN,
     "Deliveries after a crash of an earlier owner."},
    {"corrupt_total", "counter", "corrupt", PLAIN, "Damaged timers that were met."},
    {"store_operations_total", "counter", "store_operations", PLAIN,
     "Operations that the owner has asked of the store."},
    {"store_failures_total", "counter", "store_failures", PLAIN,
     "Operations of the owner that the store has failed."},
    {"store_p99_seconds", "gauge", "store_p99_us", SPAN, "Round trip to the store, p99."},
    {"claim_lead_seconds", "gauge", "lead_us", SPAN,
     "How long before its deadline a timer is claimed."},
    {"journal_rows", "gauge", "journal_rows", PLAIN, "What waits in the owner's journal."},
    {"moved_shards_total", "counter", "moved_shards", PLAIN,
     "Shards that came to another server: slots were moved, or a replica was promoted."},
    {"replicas", "gauge", "replicas", PLAIN, "So many replicas are waited for."},
    {"replicas_behind", "gauge", "replicas_behind", PLAIN,
     "1: the replicas are late, so no answer waits for them."},
    {"replicas_waited_total", "counter", "replicas_waited", PLAIN,
     "Answers that waited for replicas."},
    {"replicas_late_total", "counter", "replicas_late", PLAIN,
     "Those of them that were given before the replicas had the change."},
    {"replicas_wait_seconds_total", "counter", "replicas_wait_us", SPAN, "How long they waited."},
};

static void put_figures(struct metrics_lines *out, const char *report)
{
	char text[VALUE_SIZE];
	int64_t value;

	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
		const struct figure *figure = &figures[i];

		if (!number_of(report, figure->key, &value) || !is_shown(value, figure->unit))
			continue;
		put_shared_head(out, figure->name, figure->type, figure->help);
		put_line(out, "durawheel_%s %s\n", figure->name,
			 value_text(value, figure->unit, text));
	}
}

/* put_shards writes how many shards are owned, refused and free. The report of peers has the number
 * of free shards. In the report of one owner, the shards that are neither owned nor refused count
 * as free. While the server with the report is away, only the refused shards are written, as this
 * handle knows them. */
static void put_shards(struct metrics_lines *out, const struct metrics *metrics, const char *report)
{
	int64_t all = 0, owned = 0, refused = metrics->refused, free;
	bool is_told = number_of(report, "shards", &all);

	if (!is_told && refused == 0)
		return;
	(void)number_of(report, "shards_owned", &owned); /* stays 0 without the key */
	/* Without the key, the number stays what this handle knows. */
	(void)number_of(report, "shards_refused", &refused);
	if (!number_of(report, "shards_free", &free))
		free = all - owned - refused;
	put_shared_head(out, "shards", "gauge",
			"Shards of the store: owned, refused by the server, or free: without an "
			"owner.");
	put_line(out, "durawheel_shards{state=\"refused\"} %" PRId64 "\n", refused);
	if (!is_told)
		return;
	put_line(out, "durawheel_shards{state=\"owned\"} %" PRId64 "\n", owned);
	put_line(out, "durawheel_shards{state=\"free\"} %" PRId64 "\n", free);
}

static void put_nodes(struct metrics_lines *out, const struct metrics *metrics)
{
	if (metrics->nodes == 0)
		return;
	put_shared_head(out, "nodes", "gauge", "Servers that have shards of the store.");
	put_line(out, "durawheel_nodes %u\n", metrics->nodes);
	put_shared_head(out, "nodes_away", "gauge",
			"Those of them that this process cannot use: the timers of their shards "
			"wait.");
	put_line(out, "durawheel_nodes_away %u\n", metrics->nodes_away);
}

static void put_histogram(struct metrics_lines *out, const char *report, const char *key,
			  const char *help)
{
	uint64_t counts[HISTOGRAM_BOUNDS + 1];
	uint64_t sum = 0;
	char name[48], text[VALUE_SIZE];
	int64_t sum_us = 0;

	(void)snprintf(name, sizeof name, "%s_buckets", key); /* fits */
	if (!counts_of(report, name, counts, HISTOGRAM_BOUNDS + 1))
		return;
	(void)snprintf(name, sizeof name, "%s_sum_us", key);  /* fits */
	(void)number_of(report, name, &sum_us);               /* stays 0 without the key */
	(void)snprintf(name, sizeof name, "%s_seconds", key); /* fits */
	put_shared_head(out, name, "histogram", help);
	for (size_t i = 0; i < HISTOGRAM_BOUNDS; i++) {
		sum += counts[i];
		put_line(out, "durawheel_%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
			 bound_text(histogram_bounds[i], text), sum);
	}
	sum += counts[HISTOGRAM_BOUNDS];
	put_line(out, "durawheel_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, sum);
	put_line(out, "durawheel_%s_sum %s\n", name, value_text(sum_us, SPAN, text));
	put_line(out, "durawheel_%s_count %" PRIu64 "\n", name, sum);
}

/* ---- Topics ---------------------------------------------------------------------------------- */

struct topic_figure {
	const char *name, *type, *help;
	const char *label; /* a label besides the topic; "": none */
	size_t offset;
	enum unit unit;
};

#define IN_TOPIC(member) offsetof(dw_topic_info, member)

/* Lines of the same name stand together. The first has the help text. */
static const struct topic_figure topic_figures[] = {
    {"timers", "gauge", "Timers by their state.", "state=\"pending\"", IN_TOPIC(pending), PLAIN},
    {"timers", NULL, NULL, "state=\"due\"", IN_TOPIC(due), PLAIN},
    {"timers", NULL, NULL, "state=\"running\"", IN_TOPIC(running), PLAIN},
    {"started_total", "counter", "Starts of handlers.", "", IN_TOPIC(started), PLAIN},
    {"ended_total", "counter", "Deliveries that have ended.", "end=\"done\"", IN_TOPIC(done),
     PLAIN},
    {"ended_total", NULL, NULL, "end=\"retried\"", IN_TOPIC(retried), PLAIN},
    {"ended_total", NULL, NULL, "end=\"dead\"", IN_TOPIC(dead), PLAIN},
    {"late_total", "counter", "Timers that were later than their late_after.", "", IN_TOPIC(late),
     PLAIN},
    {"on_purpose", "gauge", "Timers that are due, and paused, or waiting for their batch.", "",
     IN_TOPIC(on_purpose), PLAIN},
    {"oldest_due_timestamp_seconds", "gauge", "The earliest deadline that waits for a handler.", "",
     IN_TOPIC(oldest), TIME},
    {"topic_lateness_seconds", "summary", "How late the last handlers of the topic started.",
     "quantile=\"0.5\"", IN_TOPIC(late_p50_us), SPAN},
    {"topic_lateness_seconds", NULL, NULL, "quantile=\"0.99\"", IN_TOPIC(late_p99_us), SPAN},
    {"topic_lateness_seconds", NULL, NULL, "quantile=\"1\"", IN_TOPIC(late_max_us), SPAN},
    {"topic_handler_seconds", "summary", "How long the last handlers of the topic ran.",
     "quantile=\"0.5\"", IN_TOPIC(took_p50_us), SPAN},
    {"topic_handler_seconds", NULL, NULL, "quantile=\"0.99\"", IN_TOPIC(took_p99_us), SPAN},
    {"topic_handler_seconds", NULL, NULL, "quantile=\"1\"", IN_TOPIC(took_max_us), SPAN},
    {"queue_messages", "gauge", "Messages by their state.", "state=\"waiting\"", IN_TOPIC(waiting),
     PLAIN},
    {"queue_messages", NULL, NULL, "state=\"taken\"", IN_TOPIC(taken), PLAIN},
    {"queue_messages", NULL, NULL, "state=\"later\"", IN_TOPIC(later), PLAIN},
    {"queue_dropped_total", "counter", "Messages that a full queue has dropped.", "",
     IN_TOPIC(dropped), PLAIN},
    {"queue_expired_total", "counter", "Messages that were too old.", "", IN_TOPIC(expired), PLAIN},
    {"queue_oldest_timestamp_seconds", "gauge", "When the first message of the queue was due.", "",
     IN_TOPIC(oldest_message), TIME},
};

#define TOPIC_FIGURES (sizeof topic_figures / sizeof topic_figures[0])

static uint64_t *number_at(dw_topic_info *topic, const struct topic_figure *figure)
{
	return (uint64_t *)(void *)((char *)topic + figure->offset);
}

/* The topics that are shown by name, and the sum of the other topics. */
struct named {
	const dw_topic_info *topics[DW_METRICS_TOPICS_MAX];
	size_t count;
	dw_topic_info rest;
	bool has_rest;
};

/* is_new returns true if nothing was counted for the topic yet. Such a topic may move from the rest
 * to the topics with names. */
static bool is_new(const dw_topic_info *topic)
{
	return topic->started + topic->done + topic->retried + topic->dead + topic->late == 0;
}

/* add_rest adds the topic's numbers to those of the rest, but not its durations. name_topics() then
 * replaces the counts of the rest by those in the report. */
static void add_rest(struct named *named, const dw_topic_info *topic)
{
	dw_topic_info copy = *topic;

	named->has_rest = true;
	for (size_t i = 0; i < TOPIC_FIGURES; i++)
		if (topic_figures[i].unit == PLAIN)
			*number_at(&named->rest, &topic_figures[i]) +=
			    *number_at(&copy, &topic_figures[i]);
}

static void name_topic(struct named *named, const dw_topic_info *topic)
{
	if (named->count < DW_METRICS_TOPICS_MAX)
		named->topics[named->count++] = topic;
	else
		add_rest(named, topic);
}

static void name_topics(struct named *named, const struct metrics *metrics, const char *report)
{
	uint64_t counts[TOPIC_COUNTS];

	*named = (struct named){.rest = {.name = "*", .is_counted = report[0] != '\0'}};
	/* Topics with times come first, because their counts are not part of the rest's counts. */
	for (size_t i = 0; i < metrics->count; i++)
		if (metrics->topics[i].timed && !is_new(&metrics->topics[i]))
			name_topic(named, &metrics->topics[i]);
	for (size_t i = 0; i < metrics->count; i++)
		if (is_new(&metrics->topics[i]))
			name_topic(named, &metrics->topics[i]);
		else if (!metrics->topics[i].timed)
			add_rest(named, &metrics->topics[i]);
	(void)counts_of(report, "rest", counts, TOPIC_COUNTS); /* all 0 without the key */
	named->rest.started = counts[TOPIC_STARTED];
	named->rest.done = counts[TOPIC_DONE];
	named->rest.retried = counts[TOPIC_RETRIED];
	named->rest.dead = counts[TOPIC_DEAD];
	named->rest.late = counts[TOPIC_LATE];
	named->has_rest = named->has_rest || counts[TOPIC_STARTED] > 0;
}

/* has_span returns true if the topic's duration can be shown. Before the first start, or the first
 * end of a handler, a shown 0 would mean that handlers took no time. A queue has starts, but no
 * handlers. */
static bool has_span(const dw_topic_info *topic, const struct topic_figure *figure)
{
	if (!topic->timed || topic->started == 0)
		return false;
	return figure->offset < IN_TOPIC(took_p50_us) ||
	       (!topic->settings.queue && topic->started > topic->running);
}

/* is_of returns true if the topic has this figure. The numbers of queues come from the store, and
 * the numbers of timers from the owner. */
static bool is_of(const dw_topic_info *topic, const struct topic_figure *figure)
{
	if (strncmp(figure->name, "queue", 5) == 0)
		return topic->settings.queue || topic->waiting + topic->taken + topic->later +
							topic->dropped + topic->expired >
						    0;
	return topic->is_counted && (figure->unit != SPAN || has_span(topic, figure));
}

static void put_topic(struct metrics_lines *out, const struct topic_figure *figure,
		      const dw_topic_info *topic)
{
	char label[LABEL_SIZE], text[VALUE_SIZE];
	dw_topic_info copy = *topic;
	int64_t value = (int64_t)*number_at(&copy, figure);

	if (is_shown(value, figure->unit) && is_of(&copy, figure))
		put_line(out, "durawheel_%s{topic=\"%s\"%s%s} %s\n", figure->name,
			 label_of(topic->name, label), figure->label[0] ? "," : "", figure->label,
			 value_text(value, figure->unit, text));
}

static void put_topics(struct metrics_lines *out, const struct metrics *metrics, const char *report)
{
	struct named named;

	name_topics(&named, metrics, report);
	for (size_t i = 0; i < TOPIC_FIGURES; i++) {
		const struct topic_figure *figure = &topic_figures[i];

		if (figure->help)
			put_shared_head(out, figure->name, figure->type, figure->help);
		for (size_t k = 0; k < named.count; k++)
			put_topic(out, figure, named.topics[k]);
		if (named.has_rest)
			put_topic(out, figure, &named.rest);
	}
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void put_store(struct metrics_lines *out, const dw_store_status *store)
{
	char text[VALUE_SIZE];

	put_shared_head(out, "store_timers", "gauge",
			"What is stored of the whole namespace; pending includes timers that are "
			"due and not yet claimed.");
	put_line(out, "durawheel_store_timers{state=\"pending\"} %" PRIu64 "\n", store->pending);
	put_line(out, "durawheel_store_timers{state=\"claimed\"} %" PRIu64 "\n", store->claimed);
	put_line(out, "durawheel_store_timers{state=\"dead\"} %" PRIu64 "\n", store->dead);
	put_shared_head(out, "inbox", "gauge", "Changes of clients that the owner has not seen.");
	put_line(out, "durawheel_inbox %" PRIu64 "\n", store->inbox);
	put_shared_head(out, "next_due_timestamp_seconds", "gauge",
			"The earliest deadline of a pending timer.");
	if (is_shown(store->next_due, TIME))
		put_line(out, "durawheel_next_due_timestamp_seconds %s\n",
			 value_text(store->next_due, TIME, text));
}

static void put_first(struct metrics_lines *out, bool is_up)
{
	put_head(out, "build_info", "gauge", "The version of the library that tells this.");
	put_line(out, "durawheel_build_info{version=\"" DW_VERSION "\"} 1\n");
	put_head(out, "store_up", "gauge", "1: the store answers this process. 0: it does not.");
	put_line(out, "durawheel_store_up %d\n", is_up);
}

static size_t end_text(const struct metrics_lines *out)
{
	if (out->size > 0)
		out->text[out->used] = '\0';
	return out->needed;
}

size_t metrics_write_away(char *text, size_t size)
{
	struct metrics_lines out = {.text = text, .size = size};

	put_first(&out, false);
	return end_text(&out);
}

size_t metrics_write(const struct metrics *metrics, const char *report, char *text, size_t size)
{
	struct metrics_lines out = {.text = text, .size = size};

	put_first(&out, metrics->is_up);
	put_shared_head(
	    &out, "owner", "gauge",
	    "1: the namespace has an owner. 0: nothing fires. Of an owner that is cut off from the "
	    "store: 1 until its lease has run out.");
	put_line(&out, "durawheel_owner %d\n", metrics->has_owner);
	if (metrics->is_heard) {
		put_shared_head(&out, "standby", "gauge",
				"1: a process waits to become the owner. 0: none does.");
		put_line(&out, "durawheel_standby %d\n", metrics->has_standby);
		put_store(&out, &metrics->store);
	}
	put_nodes(&out, metrics);
	put_shards(&out, metrics, report);
	put_figures(&out, report);
	put_histogram(&out, report, "lateness", "How late handlers started.");
	put_histogram(&out, report, "handler", "How long handlers ran, until the verdict.");
	put_topics(&out, metrics, report);
	return end_text(&out);
}
