#include "faults/ledger.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/base64.h"
#include "faults/payload.h"

/* The fields of a JSON line of `run` or `list`. */
struct seen {
	const char *id;
	const char *topic;
	const char *state; /* only in a line of `list` */
	json_int_t due;
	json_int_t fired; /* only in a line of `run` */
	json_int_t attempt;
	const char *text;
	size_t text_size;
	const char *encoded;
};

void ledger_init(struct ledger *ret_ledger, struct faults *faults, size_t count)
{
	*ret_ledger = (struct ledger){.faults = faults,
				      .seed = rng_next(&faults->rng),
				      .entries = calloc(count, sizeof *ret_ledger->entries),
				      .count = count};
	if (!ret_ledger->entries)
		abort(); /* out of memory */
}

void ledger_free(struct ledger *ledger)
{
	free(ledger->entries);
}

void ledger_begin_life(struct ledger *ledger)
{
	ledger->life++;
	ledger->last_due = INT64_MIN;
	ledger->last = 0;
}

/* ---- One line ------------------------------------------------------------------------------ */

static bool has_data(const struct ledger *ledger, size_t number, const struct seen *seen)
{
	unsigned char expected[PAYLOAD_MAX];
	size_t size = payload_data(ledger->seed, number, expected);
	void *decoded = NULL;
	size_t decoded_size = 0;
	bool same;

	if (payload_is_text(expected, size))
		return seen->text && seen->text_size == size &&
		       memcmp(seen->text, expected, size) == 0;
	if (!seen->encoded ||
	    !base64_decode(seen->encoded, strlen(seen->encoded), &decoded, &decoded_size))
		return false;
	same = decoded_size == size && memcmp(decoded, expected, size) == 0;
	free(decoded);
	return same;
}

/* entry_of returns the timer of a line, or NULL. It fails the test if the line differs from the
 * stored timer. */
static struct entry *entry_of(struct ledger *ledger, const struct seen *seen)
{
	size_t number = payload_number(seen->id);
	struct entry *entry = number < ledger->count ? &ledger->entries[number] : NULL;

	if (!entry || !entry->asked) {
		faults_fail(ledger->faults, "a timer that nobody has added: %s", seen->id);
		return NULL;
	}
	if (strcmp(seen->topic, PAYLOAD_TOPIC) != 0 || seen->due != entry->due)
		faults_fail(ledger->faults, "%s: topic %s, due %lld instead of %lld", seen->id,
			    seen->topic, (long long)seen->due, (long long)entry->due);
	if (!has_data(ledger, number, seen))
		faults_fail(ledger->faults, "%s: other data than was put in", seen->id);
	return entry;
}

static void check_order(struct ledger *ledger, const struct entry *entry, const char *id)
{
	size_t number = (size_t)(entry - ledger->entries);

	if (ledger->is_ordered && (entry->due < ledger->last_due ||
				   (entry->due == ledger->last_due && number < ledger->last)))
		faults_fail(ledger->faults, "%s: due %lld, started after %zu, due %lld", id,
			    (long long)entry->due, ledger->last, (long long)ledger->last_due);
	ledger->last_due = entry->due;
	ledger->last = number;
}

static void check_start(struct ledger *ledger, const struct entry *entry, const struct seen *seen)
{
	struct faults *faults = ledger->faults;

	if (seen->fired < entry->due)
		faults_fail(faults, "%s: %lld us early", seen->id,
			    (long long)(entry->due - seen->fired));
	if (entry->starts > 0 && entry->life == ledger->life)
		faults_fail(faults, "%s: started twice by one owner, attempts %lld and %lld",
			    seen->id, (long long)entry->attempt, (long long)seen->attempt);
	if (seen->attempt <= entry->attempt)
		faults_fail(faults, "%s: attempt %lld after attempt %lld", seen->id,
			    (long long)seen->attempt, (long long)entry->attempt);
	if (seen->attempt > ledger->life && !ledger->claimed_again)
		faults_fail(faults, "%s: attempt %lld of owner number %u", seen->id,
			    (long long)seen->attempt, ledger->life);
	if (entry->cancel == CANCEL_DONE)
		faults_fail(faults, "%s: started %lld us after its cancel was confirmed", seen->id,
			    (long long)(seen->fired - entry->cancelled));
	if (entry->cancel == CANCEL_GONE && seen->fired > entry->cancelled)
		faults_fail(faults, "%s: started after it had been settled", seen->id);
	check_order(ledger, entry, seen->id);
}

static void take_start(struct ledger *ledger, const struct seen *seen)
{
	struct entry *entry = entry_of(ledger, seen);

	if (!entry)
		return;
	check_start(ledger, entry, seen);
	ledger->starts++;
	ledger->repeats += entry->starts > 0;
	entry->starts++;
	entry->life = ledger->life;
	entry->attempt = seen->attempt;
	entry->fired = seen->fired;
}

static void take_listed(struct ledger *ledger, const struct seen *seen)
{
	struct entry *entry = entry_of(ledger, seen);

	if (!entry)
		return;
	if (entry->listed)
		faults_fail(ledger->faults, "%s: listed twice", seen->id);
	entry->listed = true;
}

/* take_line reads a line, which must have "data" or "data_base64", all other keys, and no more
 * keys. */
static void take_line(struct ledger *ledger, const char *line, size_t size, bool is_list)
{
	struct seen seen = {0};
	json_error_t error;
	json_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	int status = -1;

	if (object && is_list)
		status = json_unpack_ex(object, &error, JSON_STRICT,
					"{s:s, s:s, s:I, s:s, s:I, s?s%, s?s}", "id", &seen.id,
					"topic", &seen.topic, "due", &seen.due, "state",
					&seen.state, "attempt", &seen.attempt, "data", &seen.text,
					&seen.text_size, "data_base64", &seen.encoded);
	else if (object)
		status = json_unpack_ex(object, &error, JSON_STRICT,
					"{s:s, s:s, s:I, s:I, s:I, s?s%, s?s}", "id", &seen.id,
					"topic", &seen.topic, "due", &seen.due, "fired",
					&seen.fired, "attempt", &seen.attempt, "data", &seen.text,
					&seen.text_size, "data_base64", &seen.encoded);
	if (status != 0 || !seen.text == !seen.encoded)
		faults_fail(ledger->faults, "a line that is none: %s: %.200s", error.text, line);
	else if (is_list)
		take_listed(ledger, &seen);
	else
		take_start(ledger, &seen);
	json_decref(object);
}

/* ---- What a process has printed -------------------------------------------------------------- */

void ledger_read(struct ledger *ledger, struct process *owner)
{
	size_t size;
	const char *line;

	while ((line = stream_line(&owner->out, &size)))
		take_line(ledger, line, size, false);
}

void ledger_list(struct ledger *ledger, struct process *list)
{
	size_t size;
	const char *line;

	for (size_t i = 0; i < ledger->count; i++)
		ledger->entries[i].listed = false;
	while ((line = stream_line(&list->out, &size)))
		take_line(ledger, line, size, true);
}

/* take_cut reads a line without its end, which may still have a whole id. */
static void take_cut(struct ledger *ledger, const char *line)
{
	static const char begin[] = "{\"id\":\"";
	static const char after[] = "\",\"topic\":";
	const char *end = strstr(line, after);
	size_t number = SIZE_MAX;
	json_t *id;

	if (strncmp(line, begin, sizeof begin - 1) != 0 || !end)
		return;
	id = json_loadb(line + sizeof begin - 2, (size_t)(end + 1 - (line + sizeof begin - 2)),
			JSON_DECODE_ANY, NULL);
	if (json_is_string(id))
		number = payload_number(json_string_value(id));
	if (number >= ledger->count)
		faults_fail(ledger->faults, "a cut line that is none: %.200s", line);
	else if (ledger->entries[number].cancel == CANCEL_DONE)
		faults_fail(ledger->faults, "a cut line of a cancelled timer: %.200s", line);
	json_decref(id);
}

void ledger_end_life(struct ledger *ledger, struct process *owner)
{
	struct stream *out = &owner->out;

	ledger_read(ledger, owner);
	if (out->taken == out->size)
		return;
	ledger->cut++;
	if (owner->code != 128 + 9)
		faults_fail(ledger->faults, "a cut line of an owner that was not killed");
	take_cut(ledger, stream_text(out) + out->taken);
	out->taken = out->size;
}

/* ---- The end ------------------------------------------------------------------------------- */

static bool may_be_missing(const struct entry *entry)
{
	return !entry->confirmed || entry->cancel == CANCEL_DONE || entry->cancel == CANCEL_ASKED;
}

void ledger_check(struct ledger *ledger, unsigned starts_max)
{
	for (size_t i = 0; i < ledger->count; i++) {
		const struct entry *entry = &ledger->entries[i];
		char id[DW_ID_MAX + 1];

		payload_id(i, id);
		if (entry->starts == 0 && !may_be_missing(entry))
			faults_fail(ledger->faults, "%s: lost, due %lld, cancel %d", id,
				    (long long)entry->due, (int)entry->cancel);
		if (entry->starts > 0 && entry->cancel == CANCEL_DONE)
			faults_fail(ledger->faults, "%s: started and its cancel confirmed", id);
		if (entry->starts > starts_max)
			faults_fail(ledger->faults, "%s: started %u times, at most %u", id,
				    entry->starts, starts_max);
	}
}

void ledger_check_listed(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->count; i++) {
		const struct entry *entry = &ledger->entries[i];
		bool is_over = entry->starts > 0 || entry->cancel == CANCEL_DONE;

		if (entry->confirmed && !is_over && !entry->listed)
			faults_fail(ledger->faults, "number %zu: confirmed and not stored", i);
		if (entry->listed && is_over)
			faults_fail(ledger->faults, "number %zu: stored and %s", i,
				    entry->starts ? "settled" : "cancelled");
	}
}
