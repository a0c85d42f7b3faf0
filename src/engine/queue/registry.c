#include "engine/queue/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/scope.h"
#include "base/utf8.h"
#include "engine/call/arguments.h"
#include "engine/core.h"
#include "engine/queue/topic_calls.h"
#include "engine/due/handlers.h"
#include "engine/call/numbers.h"
#include "engine/queue/topic_numbers.h"
#include "port/driven.h"

/* ---- Reading settings ---------------------------------------------------------------------- */

static bool is_wanted(const struct engine *engine)
{
	const struct registry *registry = &engine->recovery.registry;

	return engine->ownership.role == DW_OWNER && !engine->drive.closing &&
	       driven_keeps_topics(engine->store) && !registry->is_asked &&
	       (!registry->is_loaded || registry->is_old);
}

bool registry_may_deliver(const struct engine *engine)
{
	return engine->recovery.registry.is_loaded || engine->ownership.role != DW_OWNER ||
	       !driven_keeps_topics(engine->store);
}

void registry_round(struct engine *engine, dw_usec now)
{
	struct registry *registry = &engine->recovery.registry;
	dw_op *op;

	if (!is_wanted(engine) || now < registry->at)
		return;
	op = op_new(&engine->alloc, DW_OP_TOPIC_LIST, NULL, NULL, 0);
	if (!op)
		return; /* asked in the next turn */
	op->flags = registry->is_loaded && !registry->is_torn ? DW_OP_CHANGES : 0;
	registry->is_asked = true;
	registry->is_old = false;
	submit_push(&engine->submit, op, false);
}

dw_usec registry_wake(const struct engine *engine)
{
	return is_wanted(engine) ? engine->recovery.registry.at : DW_NEVER;
}

/* apply sets the settings of a topic to those that were read. The topic's timers that wait for a
 * batch are gathered again, because the topic may be paused now. */
static void apply(struct engine *engine, struct topic *topic, const dw_topic_settings *settings)
{
	static const dw_topic_settings none;

	if (topic->is_set == (settings != NULL) &&
	    memcmp(&topic->settings, settings ? settings : &none, sizeof none) == 0)
		return;
	handlers_release(engine, topic);
	if (topic->settings.paused & DW_PAUSE_DELIVERY)
		topic->held_until = engine_now(engine);
	topic_set(&engine->topics, topic, settings);
}

/* has_settings returns true if the row has settings. Other rows only have numbers. */
static bool has_settings(const dw_row *row)
{
	return row->status == DW_OK;
}

static void topic_unset(struct engine *engine, struct topic *topic)
{
	apply(engine, topic, NULL);
	topics_drop(&engine->topics, topic);
}

/* apply_row applies the settings of one row. Another program may have written a row whose name no
 * topic can have. */
static bool apply_row(struct engine *engine, const dw_row *row)
{
	dw_topic_settings settings = {.size = 0};
	size_t size = strlen(row->id);
	struct topic *topic;

	if (!has_settings(row) || size == 0 || size > DW_TOPIC_MAX || !utf8_is_name(row->id, size))
		return true;
	topic = topics_get(&engine->topics, row->id, size);
	if (!topic)
		return false;
	if (row->gone) {
		topic_unset(engine, topic);
		return true;
	}
	settings_read(&settings, row->body, row->body_size);
	topic->is_listed = true;
	apply(engine, topic, &settings);
	return true;
}

/* A topic whose settings are gone, found while all topics are visited. */
struct unset {
	struct engine *engine;
	struct topic *topic;
};

static void find_unset(struct topic *topic, void *user)
{
	struct unset *unset = user;

	if (topic->is_set && !topic->is_listed)
		unset->topic = topic;
}

static void clear_mark(struct topic *topic, void *user)
{
	(void)user;
	topic->is_listed = false;
}

static void drop_unset(struct engine *engine)
{
	struct unset unset = {engine, NULL};

	do {
		unset.topic = NULL;
		topics_each(&engine->topics, find_unset, &unset);
		if (unset.topic)
			topic_unset(engine, unset.topic);
	} while (unset.topic);
}

/* has_numbers returns true if an owner has written numbers of a topic. */
static bool has_numbers(const dw_row *row)
{
	while (row && (has_settings(row) || !row->id[0]))
		row = row->next;
	return row != NULL;
}

/* apply_rows applies the settings of all rows. If is_part is true, topics without a row have not
 * changed. */
static bool apply_rows(struct engine *engine, const dw_row *row, bool is_part)
{
	topics_each(&engine->topics, clear_mark, NULL);
	for (; row; row = row->next)
		if (!apply_row(engine, row))
			return false;
	if (!is_part)
		drop_unset(engine);
	return true;
}

/* note_told notes whether the store has numbers of an earlier owner. */
static void note_told(struct engine *engine, const dw_row *row)
{
	struct registry *registry = &engine->recovery.registry;

	if (registry->has_told)
		return;
	if (has_numbers(row)) {
		report_soon(&engine->report);
	} else {
		registry->told = crc32c(0, "", 0);
		registry->has_told = true;
	}
}

void registry_answered(struct engine *engine, dw_op *op)
{
	struct registry *registry = &engine->recovery.registry;

	registry->is_asked = false;
	registry->at = usec_add(engine_now(engine), RETRY_STORE);
	if (!ownership_is_current(&engine->ownership, op))
		return;
	registry->is_torn =
	    op->status != DW_OK || !apply_rows(engine, op->rows, (op->flags & DW_OP_PART) != 0);
	if (registry->is_torn) {
		registry->is_old = true;
		return;
	}
	if (!(op->flags & DW_OP_CHANGES))
		note_told(engine, op->rows);
	registry->is_loaded = true;
	registry->at = 0;
}

void registry_changed(struct engine *engine, dw_op *op)
{
	registry_old(&engine->recovery.registry);
	call_answer_ask(engine, op);
}

/* ---- Calls --------------------------------------------------------------------------------- */

/* topic_op makes an operation on a topic. The operation owns its strings, so the topic is stored
 * where an id would be. It returns NULL if there is no memory. */
static dw_op *topic_op(struct alloc *alloc, dw_op_kind kind, const char *topic, const char *text)
{
	dw_op *op = op_new(alloc, kind, topic, text, text ? strlen(text) : 0);

	if (!op)
		return NULL;
	op->topic = op->id;
	op->id = NULL;
	return op;
}

struct change {
	dw_op_kind kind;
	unsigned flags;
	const char *text;
};

static int ask(struct engine *engine, const char *topic, struct done done,
	       const struct change *change)
{
	struct call *call;
	dw_op *op;
	int status = arguments_topic(topic, engine->events.error);

	if (status == DW_OK && !driven_keeps_topics(engine->store))
		return engine_fail(engine, DW_EINVAL, "this store keeps no settings of topics");
	if (status == DW_OK)
		status = call_new(engine, CALL_TOPIC, topic, &call);
	if (status != DW_OK)
		return status;
	call->done = done;
	op = topic_op(&engine->alloc, change->kind, topic, change->text);
	if (op)
		op->flags = change->flags;
	return call_ask(engine, call, op);
}

int engine_topic_set(struct engine *engine, const char *topic, const dw_topic_settings *settings,
		     struct done done)
{
	char text[SETTINGS_TEXT_SIZE];
	int status = settings_check(settings, engine->events.error);

	if (status != DW_OK)
		return status;
	(void)settings_write(settings, text);
	return ask(engine, topic, done, &(struct change){DW_OP_TOPIC_SET, 0, text});
}

int engine_topic_change(struct engine *engine, const char *topic, const dw_topic_settings *from,
			const dw_topic_settings *to, struct done done)
{
	char text[SETTINGS_TEXT_SIZE];
	/* `from` may be damaged settings that the caller has read, so only its form is checked. */
	int status = settings_check_form(from, engine->events.error);

	if (status == DW_OK)
		status = settings_check(to, engine->events.error);
	if (status != DW_OK)
		return status;
	(void)settings_write_changes(from, to, text);
	return ask(engine, topic, done, &(struct change){DW_OP_TOPIC_SET, DW_OP_PART, text});
}

int engine_topic_pause(struct engine *engine, const char *topic, unsigned paused, struct done done)
{
	dw_topic_settings settings = {.size = sizeof settings, .paused = paused};
	char text[sizeof "paused=0"];
	int status = settings_check(&settings, engine->events.error);

	if (status != DW_OK)
		return status;
	(void)snprintf(text, sizeof text, "paused=%u", paused % 4); /* always fits */
	return ask(engine, topic, done, &(struct change){DW_OP_TOPIC_SET, DW_OP_PART, text});
}

int engine_topic_drop(struct engine *engine, const char *topic, struct done done)
{
	return ask(engine, topic, done, &(struct change){DW_OP_TOPIC_DROP, 0, NULL});
}

int engine_topic_list(struct engine *engine, const char *name, dw_topic_fn fn, void *user)
{
	struct call *call;
	int status = name ? arguments_topic(name, engine->events.error) : DW_OK;

	if (status == DW_OK && !driven_keeps_topics(engine->store))
		return engine_fail(engine, DW_EINVAL, "this store keeps no settings of topics");
	if (status == DW_OK)
		status = call_new(engine, CALL_TOPICS, name ? name : "", &call);
	if (status != DW_OK)
		return status;
	call->on_topics = fn;
	call->on_topics_user = user;
	return call_ask(engine, call,
			name ? topic_op(&engine->alloc, DW_OP_TOPIC_LIST, name, NULL)
			     : op_new(&engine->alloc, DW_OP_TOPIC_LIST, NULL, NULL, 0));
}

/* ---- Showing ------------------------------------------------------------------------------- */

/* The list of topics that a call gets. It has all rows of the store. An owner adds all topics for
 * which memory has numbers. */
struct shown {
	struct alloc alloc;
	const struct engine *engine;
	const char *only; /* "": all topics */
	dw_topic_info *items;
	size_t count, room;
	bool is_counted; /* the numbers come from an owner */
	bool failed;
};

static dw_topic_info *item_of(struct shown *shown, const char *name)
{
	size_t room = shown->room ? 2 * shown->room : 64;
	dw_topic_info *items = shown->items;

	for (size_t i = 0; i < shown->count; i++)
		if (strcmp(items[i].name, name) == 0)
			return &items[i];
	if (shown->count == shown->room) {
		items = shown->alloc.resize(shown->alloc.user, items, room * sizeof *items);
		if (!items)
			return NULL;
		shown->items = items;
		shown->room = room;
	}
	items[shown->count] = (dw_topic_info){.size = sizeof *items, .name = name};
	items[shown->count].settings.size = sizeof(dw_topic_settings);
	return &items[shown->count++];
}

static dw_topic_info *item_shown(struct shown *shown, const char *name)
{
	dw_topic_info *item;

	if (shown->only[0] && strcmp(shown->only, name) != 0)
		return NULL;
	item = item_of(shown, name);
	shown->failed = shown->failed || !item;
	return item;
}

/* show_row adds a row to the list. A row with an empty id says that there is an owner. */
static void show_row(struct shown *shown, const dw_row *row)
{
	dw_topic_info *item = row->id[0] ? item_shown(shown, row->id) : NULL;

	shown->is_counted = shown->is_counted || !row->id[0];
	if (!item)
		return;
	if (!has_settings(row)) {
		numbers_add(item, row->body, row->body_size);
		return;
	}
	item->is_set = true;
	info_read(item, row->body, row->body_size);
}

/* show_own adds the numbers of the topics in the owner's memory. They are newer than the numbers in
 * the store. */
static void show_own(struct topic *topic, void *user)
{
	struct shown *shown = user;
	dw_topic_info *item = NULL;

	if (topic->timer_count || topic_has_counted(topic) || topic->is_set)
		item = item_shown(shown, topic->name);
	if (item)
		topic_numbers_count(shown->engine, topic, item);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const dw_topic_info *)a)->name, ((const dw_topic_info *)b)->name);
}

/* note_pause corrects the numbers of a topic whose settings say that it is paused. The settings may
 * be newer than the owner's numbers. */
static void note_pause(dw_topic_info *item)
{
	if (item->due == 0 || !(item->settings.paused & DW_PAUSE_DELIVERY))
		return;
	item->waits = DW_WAITS_PAUSED;
	item->on_purpose = item->due;
}

static void finish_shown(struct shown *shown)
{
	for (size_t i = 0; i < shown->count; i++) {
		shown->items[i].is_counted = shown->is_counted;
		note_pause(&shown->items[i]);
	}
	if (shown->count > 0)
		qsort(shown->items, shown->count, sizeof *shown->items, by_name);
}

static void free_shown_topics(struct shown *shown)
{
	alloc_free(&shown->alloc, shown->items);
}

void registry_show(struct engine *engine, const struct call *call)
{
	struct shown shown AT_END(free_shown_topics) = {
	    .alloc = engine->alloc, .engine = engine, .only = call->id};
	/* A peer has only a part of the timers. So it shows the numbers that all peers have
	 * written. */
	bool owns = engine->ownership.role == DW_OWNER && !engine->env.is_peer;
	int status = call->status;

	shown.is_counted = owns;
	for (const dw_row *row = status == DW_OK ? call->op->rows : NULL; row; row = row->next)
		if (!owns || has_settings(row))
			show_row(&shown, row);
	if (status == DW_OK && owns)
		topics_each(&engine->topics, show_own, &shown);
	if (shown.failed)
		status = DW_ENOMEM;
	if (status == DW_OK)
		finish_shown(&shown);
	call->on_topics(engine->env.handle, status, status == DW_OK ? shown.items : NULL,
			status == DW_OK ? shown.count : 0, call->on_topics_user);
}

void engine_topic_numbers(struct engine *engine, dw_topic_fn fn, void *user)
{
	struct shown shown AT_END(free_shown_topics) = {
	    .alloc = engine->alloc, .engine = engine, .only = "", .is_counted = true};

	topics_each(&engine->topics, show_own, &shown);
	finish_shown(&shown);
	fn(engine->env.handle, shown.failed ? DW_ENOMEM : DW_OK, shown.items, shown.count, user);
}
