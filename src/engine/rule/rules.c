#include "engine/rule/rules.h"

#include <string.h>

#include "base/hash.h"
#include "calendar/prepare.h"
#include "calendar/rule_text.h"
#include "engine/core.h"

/* an event waits this long, so that it counts the other timers of the zone, too */
#define TELL_AFTER DW_SECONDS(1)

static void forget(struct alloc *alloc, struct rule_entry **at)
{
	if (!*at)
		return;
	calendar_release(alloc, &(*at)->calendar);
	alloc_free(alloc, (*at)->rule);
	alloc_free(alloc, *at);
	*at = NULL;
}

void rules_free(struct engine *engine)
{
	rules_forget_unknown(engine);
	for (unsigned i = 0; i < RULES_KEPT; i++)
		forget(&engine->alloc, &engine->timers.rules.kept[i]);
}

/* load parses the text of an entry, and fills in the rest. */
static int load(struct alloc *alloc, struct rule_entry *entry, char *message)
{
	int status = rule_read(alloc, entry->text, &entry->rule, message);

	if (status != DW_OK)
		return status;
	entry->stamp = zone_stamp(entry->rule->zone);
	status = calendar_prepare(alloc, entry->rule, 0, &entry->calendar, message);
	if (status != DW_OK)
		alloc_free(alloc, entry->rule);
	return status;
}

static int add(struct alloc *alloc, struct rule_entry **at, const char *text, char *message)
{
	size_t size = strlen(text) + 1;
	struct rule_entry *entry = alloc_new(alloc, sizeof *entry + size);
	int status;

	if (!entry)
		return DW_ENOMEM;
	memcpy(entry->text, text, size);
	status = load(alloc, entry, message);
	if (status != DW_OK) {
		alloc_free(alloc, entry);
		return status;
	}
	forget(alloc, at);
	*at = entry;
	return DW_OK;
}

int rules_get(struct engine *engine, const struct record_rule *rule, struct rule_entry **ret_entry,
	      char *ret_message)
{
	uint64_t hash = hash_bytes(1, rule->text, strlen(rule->text));
	struct rule_entry **at = &engine->timers.rules.kept[hash % RULES_KEPT];
	int status = DW_OK;

	if (!*at || strcmp((*at)->text, rule->text) != 0)
		status = add(&engine->alloc, at, rule->text, ret_message);
	if (status != DW_OK)
		return status;
	(*at)->calendar.start = rule->start;
	(*at)->calendar.end = rule->until;
	*ret_entry = *at;
	return DW_OK;
}

bool rules_changed(struct engine *engine)
{
	bool changed = false;

	for (unsigned i = 0; i < RULES_KEPT; i++) {
		struct rule_entry **at = &engine->timers.rules.kept[i];
		struct zone_stamp stamp;

		if (!*at)
			continue;
		stamp = zone_stamp((*at)->rule->zone);
		if (memcmp(&stamp, &(*at)->stamp, sizeof stamp) == 0)
			continue;
		changed = true;
		forget(&engine->alloc, at);
	}
	return changed;
}

/* ---- Zones that are not known -------------------------------------------------------------- */

static struct unknown_zone *unknown_new(struct engine *engine, const char *message)
{
	struct unknown_zone *zone = alloc_new(&engine->alloc, sizeof *zone);

	if (!zone)
		return NULL;
	/* During a scan unknown zones wait. They are reported after it, before the first of their
	 * timers is due. */
	*zone = (struct unknown_zone){
	    .next = engine->timers.rules.unknown,
	    .tell_at = usec_add(engine_steady(engine), !recovery_loads(engine) ? TELL_AFTER : 0)};
	memcpy(zone->message, message, strlen(message) + 1);
	engine->timers.rules.unknown = zone;
	return zone;
}

bool rules_note_unknown(struct engine *engine, const struct timer *timer, const char *message)
{
	struct unknown_zone *zone = engine->timers.rules.unknown;
	unsigned zones = 0;

	for (; zone && strcmp(zone->message, message) != 0; zone = zone->next)
		zones++;
	if (!zone && zones < ZONES_NOTED_MAX)
		zone = unknown_new(engine, message);
	if (!zone)
		return false;
	if (zone->count++ == 0) {
		memcpy(zone->id, timer->id, strlen(timer->id) + 1);
		memcpy(zone->topic, timer->topic->name, strlen(timer->topic->name) + 1);
	}
	return true;
}

void rules_forget_unknown(struct engine *engine)
{
	struct rules *rules = &engine->timers.rules;

	while (rules->unknown) {
		struct unknown_zone *next = rules->unknown->next;

		alloc_free(&engine->alloc, rules->unknown);
		rules->unknown = next;
	}
}
