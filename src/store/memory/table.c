#include "store/memory/table.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "port/op.h"
#include "store/memory/dead_letters.h"
#include "store/memory/id_map.h"
#include "store/memory/skiplist.h"
#include "store/status.h"

/* A timer is one block: the struct, the order's links, body, id, topic. */
struct timer {
	struct names_node name;
	struct order_node place;
	struct life_record record;
	const char *topic;
	const void *body;
	size_t body_size;
};

/* What a client has written and the owner has not acknowledged; in the order of generations. */
struct news {
	struct names_node name;
	struct news *before;
	struct news *after;
	uint64_t generation;
	bool open;
	char id[];
};

struct table {
	struct alloc alloc;
	struct names timers;
	struct order order;
	struct names inbox;
	struct news *news_first;
	struct news *news_last;
	uint64_t generation; /* the last one given */
	uint64_t claimed;
	struct letters dead;
	char *owner;
	char *report;
	dw_usec owner_since;
	dw_usec owner_seen;
	dw_usec now; /* of the operation under way */
};

#define CONTAINER(type, member, pointer)                                                           \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

static struct timer *timer_of_name(struct names_node *node)
{
	return node ? CONTAINER(struct timer, name, node) : NULL;
}

static struct timer *timer_of_place(struct order_node *node)
{
	return node ? CONTAINER(struct timer, place, node) : NULL;
}

static struct news *news_of_name(struct names_node *node)
{
	return node ? CONTAINER(struct news, name, node) : NULL;
}

struct table *table_new(const struct alloc *alloc)
{
	struct table *table = alloc_new(alloc, sizeof *table);

	if (!table)
		return NULL;
	table->alloc = *alloc;
	if (names_init(&table->timers, alloc) != DW_OK ||
	    names_init(&table->inbox, alloc) != DW_OK) {
		names_free(&table->timers, alloc);
		alloc_free(alloc, table);
		return NULL;
	}
	return table;
}

static void news_drop(struct table *table, struct news *news)
{
	if (!news)
		return;
	names_remove(&table->inbox, &news->name);
	*(news->before ? &news->before->after : &table->news_first) = news->after;
	*(news->after ? &news->after->before : &table->news_last) = news->before;
	alloc_free(&table->alloc, news);
}

static void news_clear(struct table *table)
{
	while (table->news_first)
		news_drop(table, table->news_first);
}

void table_free(struct table *table)
{
	struct alloc alloc;
	struct order_node *node;

	if (!table)
		return;
	alloc = table->alloc;
	news_clear(table);
	letters_clear(&table->dead, &alloc);
	node = table->order.first[0];
	while (node) {
		struct timer *timer = timer_of_place(node);

		node = node->next[0];
		alloc_free(&alloc, timer);
	}
	names_free(&table->timers, &alloc);
	names_free(&table->inbox, &alloc);
	alloc_free(&alloc, table->owner);
	alloc_free(&alloc, table->report);
	alloc_free(&alloc, table);
}

/* set_text replaces a string of the table's; NULL makes it empty. */
static int set_text(struct table *table, char **text, const void *bytes, size_t size)
{
	char *copy = NULL;

	if (bytes) {
		copy = alloc_new(&table->alloc, size + 1);
		if (!copy)
			return DW_ENOMEM;
		if (size)
			memcpy(copy, bytes, size);
	}
	alloc_free(&table->alloc, *text);
	*text = copy;
	return DW_OK;
}

int table_own(struct table *table, const char *line, dw_usec since)
{
	if (set_text(table, &table->owner, line, line ? strlen(line) : 0) != DW_OK)
		return DW_ENOMEM;
	(void)set_text(table, &table->report, NULL, 0); /* only frees */
	table->owner_since = line ? since : 0;
	table->owner_seen = line ? since : 0;
	if (line)
		news_clear(table);
	return DW_OK;
}

/* news_new: of a step, not yet in the inbox; NULL: no memory. */
static struct news *news_new(struct table *table, const char *id, const struct life_step *step)
{
	size_t id_size = strlen(id) + 1;
	struct news *news = alloc_new(&table->alloc, sizeof *news + id_size);

	if (!news)
		return NULL;
	memcpy(news->id, id, id_size);
	news->name.id = news->id;
	news->generation = table->generation;
	news->open = step->open_news;
	return news;
}

/* news_post puts news in the place of earlier news of the id. */
static void news_post(struct table *table, struct news *news)
{
	news_drop(table, news_of_name(names_find(&table->inbox, news->id)));
	names_add(&table->inbox, &table->alloc, &news->name);
	news->before = table->news_last;
	*(table->news_last ? &table->news_last->after : &table->news_first) = news;
	table->news_last = news;
}

static struct timer *timer_new(struct table *table, const dw_op *op,
			       const struct life_record *record)
{
	uint8_t height = order_height(record->head.generation);
	size_t links_size = height * sizeof(struct order_node *);
	size_t id_size = strlen(op->id) + 1;
	size_t topic_size = strlen(op->topic) + 1;
	struct timer *timer = alloc_new(&table->alloc, sizeof *timer + links_size + op->body_size +
							   id_size + topic_size);
	char *at = (char *)(timer + 1);

	if (!timer)
		return NULL;
	timer->record = *record;
	timer->place.height = height;
	timer->place.next = (struct order_node **)(void *)at;
	timer->place.due = record->head.due;
	timer->place.generation = record->head.generation;
	timer->body = at += links_size;
	timer->body_size = op->body_size;
	if (op->body_size)
		memcpy(at, op->body, op->body_size);
	timer->name.id = memcpy(at += op->body_size, op->id, id_size);
	timer->topic = memcpy(at + id_size, op->topic, topic_size);
	return timer;
}

static bool is_claimed(const struct timer *timer)
{
	return timer->record.head.state == DW_CLAIMED;
}

static void timer_insert(struct table *table, struct timer *timer)
{
	names_add(&table->timers, &table->alloc, &timer->name);
	order_add(&table->order, &timer->place);
	table->claimed += is_claimed(timer);
}

static void timer_delete(struct table *table, struct timer *timer)
{
	if (!timer)
		return;
	table->claimed -= is_claimed(timer);
	names_remove(&table->timers, &timer->name);
	order_remove(&table->order, &timer->place);
	alloc_free(&table->alloc, timer);
}

static void timer_update(struct table *table, struct timer *timer, const struct life_record *record)
{
	bool moved = timer->place.due != record->head.due ||
		     timer->place.generation != record->head.generation;

	table->claimed -= is_claimed(timer);
	if (moved) {
		order_remove(&table->order, &timer->place);
		timer->place.due = record->head.due;
		timer->place.generation = record->head.generation;
		order_add(&table->order, &timer->place);
	}
	timer->record = *record;
	table->claimed += is_claimed(timer);
}

static dw_row *row_of(struct table *table, const struct timer *timer)
{
	dw_row *row = row_new(&table->alloc, timer->name.id, timer->body, timer->body_size);

	if (row)
		row->head = timer->record.head;
	return row;
}

static void forget(struct table *table, dw_op *op, dw_usec now)
{
	op->count = letters_forget(&table->dead, &table->alloc, now);
}

/* bury writes the dead letter of a timer that is deleted next. */
static int bury(struct table *table, const dw_op *op, const struct timer *timer)
{
	struct letter letter = {.at = table->now,
				.reason = op->reason,
				.record = timer->record,
				.id = timer->name.id,
				.topic = timer->topic,
				.body = timer->body,
				.body_size = timer->body_size};

	return letters_add(&table->dead, &table->alloc, &letter);
}

/* carry_out does what the step says; everything that can fail comes first. */
static int carry_out(struct table *table, dw_op *op, struct timer *timer,
		     const struct life_step *step)
{
	struct timer *made = NULL;
	struct news *news = NULL;

	if (step->effect == LIFE_STORE && !(made = timer_new(table, op, &step->record)))
		return DW_ENOMEM;
	if (step->effect == LIFE_BURY && bury(table, op, timer) != DW_OK)
		return DW_ENOMEM;
	if (step->news && !(news = news_new(table, op->id, step))) {
		alloc_free(&table->alloc, made);
		return DW_ENOMEM;
	}
	if (step->effect == LIFE_UPDATE)
		timer_update(table, timer, &step->record);
	if (step->effect != LIFE_KEEP && step->effect != LIFE_UPDATE)
		timer_delete(table, timer);
	if (made)
		timer_insert(table, made);
	if (news)
		news_post(table, news);
	return DW_OK;
}

/* show puts the timer into the answer, as it is after the step. */
static int show(struct table *table, dw_op *op, const struct timer *timer,
		const struct life_step *step)
{
	op->rows = row_of(table, timer);
	if (!op->rows)
		return DW_ENOMEM;
	op->rows->head = step->record.head;
	op->row_count = 1;
	return DW_OK;
}

static struct life_caller life_of(const struct table *table, const dw_op *op,
				  const struct table_caller *caller)
{
	const struct news *news = news_of_name(names_find(&table->inbox, op->id));

	return (struct life_caller){.token = caller->token,
				    .generation = life_next(table->generation, caller->now),
				    .role = caller->role,
				    .left_open = caller->role == DW_CLIENT && news && news->open};
}

static void apply_to_timer(struct table *table, dw_op *op, const struct table_caller *caller)
{
	struct timer *timer = timer_of_name(names_find(&table->timers, op->id));
	struct life_caller who = life_of(table, op, caller);
	struct life_step step = life_take(op, timer ? &timer->record : NULL, &who);

	if (life_renews(&step, &who))
		table->generation = who.generation;
	op->status = step.status;
	if (step.show && show(table, op, timer, &step) != DW_OK)
		op->status = DW_ENOMEM;
	else if (carry_out(table, op, timer, &step) != DW_OK)
		op->status = DW_ENOMEM;
	if (op->status == DW_OK)
		op->head = step.record.head;
	if (step.effect == LIFE_BURY)
		forget(table, op, caller->now);
}

static struct order_node *next_of_scan(const struct table *table, const dw_op *op)
{
	if (op->flags & DW_OP_BY_GENERATION)
		return order_after_generation(&table->order, &op->after);
	return op->after.started ? order_after(&table->order, op->after.due, op->after.generation)
				 : table->order.first[0];
}

static void scan(struct table *table, dw_op *op)
{
	struct order_node *node;
	dw_row **tail = &op->rows;

	while (op->row_count < op->limit && (node = next_of_scan(table, op))) {
		struct timer *timer = timer_of_place(node);

		op->after =
		    (dw_cursor){.due = node->due, .generation = node->generation, .started = 1};
		if (op->topic && strcmp(op->topic, timer->topic) != 0)
			continue;
		if (!op_add_row(&table->alloc, op, &tail, row_of(table, timer)))
			return;
	}
}

/* news_row: the timer as it is now, or that there is none any more. */
static dw_row *news_row(struct table *table, const struct news *news)
{
	struct timer *timer = timer_of_name(names_find(&table->timers, news->id));
	dw_row *row;

	if (timer)
		return row_of(table, timer);
	row = row_new(&table->alloc, news->id, NULL, 0);
	if (row) {
		row->gone = 1;
		row->head.generation = news->generation;
	}
	return row;
}

static bool read_inbox(struct table *table, dw_op *op)
{
	const struct news *news = table->news_first;
	dw_row **tail = &op->rows;

	while (news && op->after.started && news->generation <= op->after.generation)
		news = news->after;
	if (!news)
		return false;
	for (; news && op->row_count < op->limit; news = news->after)
		if (!op_add_row(&table->alloc, op, &tail, news_row(table, news)))
			break;
	return true;
}

static void acknowledge(struct table *table, const dw_op *op)
{
	struct news *news = news_of_name(names_find(&table->inbox, op->id));

	if (news && news->generation <= op->head.generation)
		news_drop(table, news);
}

/* ---- Dead letters ---- */

static dw_row *letter_row(struct table *table, const struct letter *letter)
{
	dw_row *row = row_new(&table->alloc, letter->id, letter->body, letter->body_size);

	if (!row)
		return NULL;
	row->head = letter->record.head;
	row->number = letter->number;
	row->reason = letter->reason;
	row->at = letter->at;
	return row;
}

static void scan_dead(struct table *table, dw_op *op)
{
	const struct letter *letter = table->dead.first;
	dw_row **tail = &op->rows;

	while (letter && op->after.started && letter->number <= op->after.generation)
		letter = letter->after;
	for (; letter && op->row_count < op->limit; letter = letter->after) {
		if (op->topic && strcmp(op->topic, letter->topic) != 0)
			continue;
		op->after = (dw_cursor){.generation = letter->number, .started = 1};
		if (!op_add_row(&table->alloc, op, &tail, letter_row(table, letter)))
			return;
	}
}

static void requeue(struct table *table, dw_op *op, const struct table_caller *caller)
{
	struct timer *timer = timer_of_name(names_find(&table->timers, op->id));
	struct letter *letter = letters_find(&table->dead, op->id, op->head.generation);
	struct life_caller who = life_of(table, op, caller);
	struct life_step step =
	    life_requeue(op, letter ? &letter->record : NULL, timer != NULL, &who);
	dw_op put = *op;

	op->status = step.status;
	if (step.status != DW_OK)
		return;
	put.topic = letter->topic;
	put.body = letter->body;
	put.body_size = letter->body_size;
	table->generation = who.generation;
	if (carry_out(table, &put, NULL, &step) != DW_OK) {
		op->status = DW_ENOMEM;
		return;
	}
	letters_drop(&table->dead, &table->alloc, letter);
	op->head = step.record.head;
	/* Without memory for that the owner scans, and finds it. */
	timer = timer_of_name(names_find(&table->timers, op->id));
	if (step.show)
		(void)show(table, op, timer, &step);
}

static void drop(struct table *table, dw_op *op)
{
	struct letter *letter;

	while ((letter = op->id ? letters_find(&table->dead, op->id, op->head.generation)
				: table->dead.first)) {
		letters_drop(&table->dead, &table->alloc, letter);
		op->count++;
	}
	if (op->id && op->count == 0)
		op->status = DW_ENOENT;
}

/* ---- The whole ---- */

static void purge(struct table *table, dw_op *op)
{
	op->count = table->timers.count + table->dead.count;
	while (table->order.first[0])
		timer_delete(table, timer_of_place(table->order.first[0]));
	letters_clear(&table->dead, &table->alloc);
	news_clear(table);
}

/* ---- All ---- */

static void tell_status(struct table *table, dw_op *op)
{
	struct order_node *node = table->order.first[0];
	dw_store_status values = {.pending = table->timers.count - table->claimed,
				  .claimed = table->claimed,
				  .dead = table->dead.count,
				  .inbox = table->inbox.count,
				  .owner = table->owner,
				  .owner_since = table->owner_since,
				  .owner_seen = table->owner_seen,
				  .owner_report = table->report};

	while (node && is_claimed(timer_of_place(node)))
		node = node->next[0];
	values.next_due = node ? node->due : DW_NEVER;
	op->store_status = status_new(&table->alloc, &values);
	if (!op->store_status)
		op->status = DW_ENOMEM;
}

bool table_apply(struct table *table, dw_op *op, const struct table_caller *caller)
{
	op->status = life_permits(op, caller->role);
	if (op->status != DW_OK)
		return true;
	table->now = caller->now;
	switch (op->kind) {
	case DW_OP_SCAN:
		scan(table, op);
		return true;
	case DW_OP_INBOX:
		return read_inbox(table, op);
	case DW_OP_ACK:
		acknowledge(table, op);
		return true;
	case DW_OP_STATUS:
	case DW_OP_CHECK: /* memory does not rot: nothing but the counts */
		tell_status(table, op);
		return true;
	case DW_OP_DEAD_SCAN:
		scan_dead(table, op);
		return true;
	case DW_OP_REQUEUE:
		requeue(table, op, caller);
		return true;
	case DW_OP_DROP:
		drop(table, op);
		return true;
	case DW_OP_DISOWN:
	case DW_OP_OWN: /* an opening is what it is opened as */
		op->status = caller->role == DW_OWNER ? DW_OK : DW_EOWNED;
		return true;
	case DW_OP_PURGE:
		purge(table, op);
		return true;
	case DW_OP_REPORT:
		forget(table, op, caller->now);
		table->owner_seen = caller->now;
		op->status = set_text(table, &table->report, op->body, op->body_size);
		return true;
	default:
		apply_to_timer(table, op, caller);
		return true;
	}
}

size_t table_count(const struct table *table)
{
	return table->timers.count;
}

static bool is_behind(const struct order_node *node, const struct order_node *before)
{
	return !before || before->due < node->due ||
	       (before->due == node->due && before->generation < node->generation);
}

static bool is_sound_timer(const struct table *table, const struct timer *timer)
{
	const dw_head *head = &timer->record.head;

	return timer->place.due == head->due && timer->place.generation == head->generation &&
	       head->generation <= table->generation &&
	       names_find(&table->timers, timer->name.id) == &timer->name &&
	       is_claimed(timer) == (timer->record.claim != 0);
}

static bool is_sound(const struct table *table)
{
	const struct order_node *before = NULL;
	uint64_t claimed = 0;
	size_t count = 0;

	for (struct order_node *node = table->order.first[0]; node; node = node->next[0]) {
		struct timer *timer = timer_of_place(node);

		if (!is_behind(node, before) || !is_sound_timer(table, timer))
			return false;
		claimed += is_claimed(timer);
		count++;
		before = node;
	}
	return count == table->timers.count && claimed == table->claimed;
}

void table_check(const struct table *table)
{
	bool sound = is_sound(table);

	assert(sound);
	(void)sound; /* without assertions nobody asks */
}
