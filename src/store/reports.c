#include "store/reports.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the numbers of several peers become one number. The quantile of all peers cannot be computed
 * from the quantiles of each peer, so the largest quantile is shown. */
enum how { ADD, ADD_COUNTER, MOST, ANY };

static const struct {
	const char *key;
	enum how how;
} numbers[] = {
    {"timers", ADD},
    {"unhandled", ADD},
    {"held", ADD},
    {"fired", ADD_COUNTER},
    {"settled", ADD_COUNTER},
    {"retried", ADD_COUNTER},
    {"dead", ADD_COUNTER},
    {"late", ADD_COUNTER},
    {"corrupt", ADD_COUNTER},
    {"store_failures", ADD_COUNTER},
    {"store_p99_us", MOST},
    {"lead_us", MOST},
    {"lag_us", MOST},
    {"lag_max_us", MOST},
    {"recovering", ANY},
    {"put", ADD_COUNTER},
    {"cancelled", ADD_COUNTER},
    {"moved", ADD_COUNTER},
    {"duplicates", ADD_COUNTER},
    {"running", ADD},
    {"store_operations", ADD_COUNTER},
    {"waited_us", ADD_COUNTER},
    {"lateness_p50_us", MOST},
    {"lateness_p99_us", MOST},
    {"lateness_max_us", MOST},
    {"lateness_sum_us", ADD_COUNTER},
    {"handler_p50_us", MOST},
    {"handler_p99_us", MOST},
    {"handler_max_us", MOST},
    {"handler_sum_us", ADD_COUNTER},
    {"unowned", MOST},
};

static const struct {
	const char *key;
	bool is_counter;
} lists[] = {
    {"lateness_buckets", true}, {"handler_buckets", true}, {"rest", true}, {"waits", false}};

#define NUMBERS (sizeof numbers / sizeof *numbers)
#define LISTS (sizeof lists / sizeof *lists)
_Static_assert(NUMBERS <= REPORTS_NUMBERS && LISTS == REPORTS_LISTS, "there is room for all");

/* ---- Reading ------------------------------------------------------------------------------- */

/* find returns where the value of a key begins, or NULL. */
static const char *find(const char *report, const char *key)
{
	char quoted[64];
	const char *at;

	(void)snprintf(quoted, sizeof quoted, "\"%s\":", key); /* fits */
	at = strstr(report, quoted);
	return at ? at + strlen(quoted) : NULL;
}

int64_t reports_number(const char *report, const char *key)
{
	const char *at = find(report, key);

	if (!at)
		return 0;
	return *at == 't' ? 1 : strtoll(at, NULL, 10);
}

/* text_size returns the number of bytes between the quotes of a JSON string. */
static size_t text_size(const char *text)
{
	size_t size = 0;

	while (text[size] && text[size] != '"')
		size += text[size] == '\\' && text[size + 1] ? 2 : 1;
	return size;
}

void reports_words(const char *report, const char *key, char *ret_words, size_t size)
{
	const char *at = find(report, key);
	const char *end = at && *at == '"' ? at + 1 + text_size(at + 1) : at;
	size_t used = 0;

	for (at = end > at ? at + 1 : end; at < end && used + 1 < size; at++) {
		at += *at == '\\';
		ret_words[used++] = *at;
	}
	ret_words[used] = '\0';
}

static void add_list(struct report_sum *sum, unsigned list, const char *report)
{
	const char *at = find(report, lists[list].key);
	char *end = NULL;
	unsigned count = 0;

	for (; at && (*at == '[' || *at == ',') && count < REPORTS_LIST_MAX; at = end)
		sum->lists[list][count++] += strtoull(at + 1, &end, 10);
	if (count > sum->list_counts[list])
		sum->list_counts[list] = count;
}

static void add_number(int64_t *total, enum how how, int64_t number)
{
	if (how == MOST || how == ANY)
		*total = number > *total ? number : *total;
	else
		*total += number;
}

static void add_numbers(struct report_sum *sum, const char *report, bool is_left)
{
	for (unsigned i = 0; i < NUMBERS; i++)
		if (!is_left || numbers[i].how == ADD_COUNTER)
			add_number(&sum->numbers[i], numbers[i].how,
				   reports_number(report, numbers[i].key));
	for (unsigned i = 0; i < LISTS; i++)
		if (!is_left || lists[i].is_counter)
			add_list(sum, i, report);
}

/* add_error keeps the latest error of all peers. */
static void add_error(struct report_sum *sum, const char *report)
{
	int64_t at = reports_number(report, "last_error_at");
	const char *text = find(report, "last_error_text");

	if (reports_number(report, "last_error") == 0 || at < sum->error_at)
		return;
	sum->error = reports_number(report, "last_error");
	sum->error_at = at;
	(void)snprintf(sum->error_text, sizeof sum->error_text, "%.*s",
		       text ? (int)text_size(text + 1) : 0, text ? text + 1 : ""); /* fits */
}

/* next_refused reads the next entry of the list of refused shards. `at` points to the byte in front
 * of the entry. It returns the shard and the text of its entry, or -1 at the end of the list. */
static int next_refused(const char *at, const char **ret_entry, size_t *ret_size)
{
	const char *why = find(at, "why");
	size_t size = why ? (size_t)(why + text_size(why + 1) + 3 - at - 1) : 0;

	if ((*at != '[' && *at != ',') || at[1] != '{' || size == 0 || strlen(at + 1) < size)
		return -1;
	*ret_entry = at + 1;
	*ret_size = size;
	return (int)(reports_number(at, "shard") % DW_SHARDS_MAX);
}

/* add_entry adds the entry to a list. It drops the entry if the buffer is full. */
static void add_entry(char *list, size_t room, const char *entry, size_t size)
{
	size_t used = strlen(list);

	if (used + size + 2 < room)
		(void)snprintf(list + used, room - used, "%s%.*s", used > 0 ? "," : "", (int)size,
			       entry); /* fits */
}

/* add_refused adds the shards that the server refuses to this peer. `shards` are all shards of the
 * peer. The server may refuse a shard to two peers while a third peer has the shard and uses it. */
static void add_refused(struct report_sum *sum, const char *report,
			const uint64_t shards[static REPORTS_WORDS])
{
	const char *at = find(report, "refused"), *entry;
	uint64_t its[REPORTS_WORDS] = {0};
	unsigned told = 0;
	size_t size;
	int shard;

	for (; at && (shard = next_refused(at, &entry, &size)) >= 0; at = entry + size) {
		if (!(sum->refused[shard / 64] >> shard % 64 & 1))
			add_entry(sum->refusals, sizeof sum->refusals, entry, size);
		its[shard / 64] |= UINT64_C(1) << shard % 64;
		sum->refused[shard / 64] |= UINT64_C(1) << shard % 64;
		told++;
	}
	for (unsigned i = 0; i < REPORTS_WORDS; i++)
		sum->used[i] |= shards[i] & ~its[i];
	if (reports_number(report, "shards_refused") > told)
		sum->refused_count += (unsigned)reports_number(report, "shards_refused") - told;
}

void reports_add_left(struct report_sum *sum, const char *report)
{
	add_numbers(sum, report, true);
}

void reports_add(struct report_sum *sum, const char *report,
		 const uint64_t shards[static REPORTS_WORDS])
{
	bool has_shards = false;

	add_numbers(sum, report, false);
	add_error(sum, report);
	add_refused(sum, report, shards);
	for (unsigned i = 0; i < REPORTS_WORDS; i++) {
		sum->owned[i] |= shards[i];
		has_shards = has_shards || shards[i];
	}
	sum->peers++;
	sum->owners += has_shards;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static size_t write_list(const struct report_sum *sum, unsigned list, char *text, size_t used)
{
	used += (size_t)snprintf(text + used, REPORTS_SIZE - used, ",\"%s\":[", lists[list].key);
	for (unsigned i = 0; i < sum->list_counts[list]; i++)
		used += (size_t)snprintf(text + used, REPORTS_SIZE - used, "%s%" PRIu64,
					 i > 0 ? "," : "", sum->lists[list][i]);
	return used + (size_t)snprintf(text + used, REPORTS_SIZE - used, "]");
}

static unsigned size_of(const uint64_t set[static REPORTS_WORDS],
			const uint64_t without[static REPORTS_WORDS])
{
	unsigned count = 0;

	for (unsigned i = 0; i < DW_SHARDS_MAX; i++)
		count += (unsigned)((set[i / 64] & ~without[i / 64]) >> i % 64 & 1);
	return count;
}

/* write_refusals writes the entries of the shards that no peer uses. */
static void write_refusals(const struct report_sum *sum, char ret_text[REPORTS_REFUSALS])
{
	char list[REPORTS_REFUSALS + 1];
	const char *at = list, *entry;
	size_t size;
	int shard;

	(void)snprintf(list, sizeof list, "[%s", sum->refusals); /* fits */
	ret_text[0] = '\0';
	for (; (shard = next_refused(at, &entry, &size)) >= 0; at = entry + size)
		if (!(sum->used[shard / 64] >> shard % 64 & 1))
			add_entry(ret_text, REPORTS_REFUSALS, entry, size);
}

/* write_shards writes the counts of shards. A shard that the server refuses to its owner counts as
 * refused, and not as owned. */
static size_t write_shards(const struct report_sum *sum, unsigned shard_count, char *text,
			   size_t used)
{
	unsigned refused = size_of(sum->refused, sum->used) + sum->refused_count;
	uint64_t without[REPORTS_WORDS];
	char refusals[REPORTS_REFUSALS];
	unsigned owned, others;

	for (unsigned i = 0; i < REPORTS_WORDS; i++)
		without[i] = sum->refused[i] & ~sum->used[i];
	owned = size_of(sum->owned, without);
	others = owned + refused;
	write_refusals(sum, refusals);
	return used + (size_t)snprintf(text + used, REPORTS_SIZE - used,
				       ",\"peers\":%u,\"owners\":%u,\"shards\":%u"
				       ",\"shards_owned\":%u,\"shards_refused\":%u"
				       ",\"shards_free\":%u,\"refused\":[%s]",
				       sum->peers, sum->owners, shard_count, owned, refused,
				       others < shard_count ? shard_count - others : 0, refusals);
}

/* The text always fits: each number has at most 20 digits. */
void reports_write(const struct report_sum *sum, unsigned shard_count, char ret_text[REPORTS_SIZE])
{
	size_t used = 0;

	for (unsigned i = 0; i < NUMBERS; i++) {
		used += (size_t)snprintf(ret_text + used, REPORTS_SIZE - used,
					 "%s\"%s\":", i > 0 ? "," : "{", numbers[i].key);
		if (numbers[i].how == ANY)
			used += (size_t)snprintf(ret_text + used, REPORTS_SIZE - used, "%s",
						 sum->numbers[i] ? "true" : "false");
		else
			used += (size_t)snprintf(ret_text + used, REPORTS_SIZE - used, "%" PRId64,
						 sum->numbers[i]);
	}
	used += (size_t)snprintf(ret_text + used, REPORTS_SIZE - used,
				 ",\"last_error\":%" PRId64 ",\"last_error_text\":\"%s\""
				 ",\"last_error_at\":%" PRId64,
				 sum->error, sum->error_text, sum->error_at);
	for (unsigned i = 0; i < LISTS; i++)
		used = write_list(sum, i, ret_text, used);
	used = write_shards(sum, shard_count, ret_text, used);
	(void)snprintf(ret_text + used, REPORTS_SIZE - used, "}");
}
