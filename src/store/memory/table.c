#include "store/memory/table.h"

#include <string.h>

#include "store/memory/table_ends.h"
#include "timer/same.h"

static void stored_free(const struct alloc *alloc, struct stored_timer *timer)
{
	alloc_free(alloc, timer->why);
	alloc_free(alloc, timer);
}

struct timer_table *table_new(const struct alloc *alloc)
{
	struct timer_table *table = alloc_new(alloc, sizeof *table);

	if (!table)
		return NULL;
	table->alloc = *alloc;
	if (id_map_init(&table->timers, &table->alloc) != DW_OK ||
	    inbox_init(&table->inbox, &table->alloc) != DW_OK ||
	    ends_init(&table->ends, &table->alloc) != DW_OK) {
		id_map_free(&table->timers);
		inbox_free(&table->inbox, alloc);
		alloc_free(alloc, table);
		return NULL;
	}
	return table;
}

void table_free(struct timer_table *table)
{
	struct alloc alloc;
	struct skiplist_node *node;

	if (!table)
		return;
	alloc = table->alloc;
	inbox_free(&table->inbox, &alloc);
	dead_letters_clear(&table->dead, &alloc);
	topics_of_free(&table->topics, &alloc);
	ends_free(&table->ends, &alloc);
	node = table->order.first[0];
	while (node) {
		struct stored_timer *timer = stored_at(node);

		node = node->next[0];
		stored_free(&alloc, timer);
	}
	id_map_free(&table->timers);
	alloc_free(&alloc, table->owner);
	alloc_free(&alloc, table->report);
	alloc_free(&alloc, table);
}

/* set_text replaces a string of the table; NULL makes it empty. */
static int set_text(struct timer_table *table, char **text, const void *bytes, size_t size)
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

int table_own(struct timer_table *table, const char *line, dw_usec since)
{
	if (set_text(table, &table->owner, line, line ? strlen(line) : 0) != DW_OK)
		return DW_ENOMEM;
	/* An empty text needs no memory, so this cannot fail. */
	(void)set_text(table, &table->report, NULL, 0);
	table->owner_since = line ? since : 0;
	table->owner_seen = line ? since : 0;
	if (line)
		inbox_clear(&table->inbox, &table->alloc);
	return DW_OK;
}

static struct stored_timer *timer_new(struct timer_table *table, const dw_op *op,
				      const struct life_record *record)
{
	uint8_t height = skiplist_height(record->head.generation);
	size_t links_size = height * sizeof(struct skiplist_node *);
	size_t id_size = strlen(op->id) + 1;
	size_t topic_size = strlen(op->topic) + 1;
	struct stored_timer *timer = alloc_new(
	    &table->alloc, sizeof *timer + links_size + op->body_size + id_size + topic_size);
	char *at = (char *)(timer + 1);

	if (!timer)
		return NULL;
	timer->record = *record;
	timer->place.height = height;
	timer->place.next = (struct skiplist_node **)(void *)at;
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

static void timer_insert(struct timer_table *table, struct stored_timer *timer)
{
	id_map_add(&table->timers, &timer->name);
	skiplist_add(&table->order, &timer->place);
	table->claimed += stored_is_claimed(timer);
}

static void timer_delete(struct timer_table *table, struct stored_timer *timer)
{
	if (!timer)
		return;
	table->claimed -= stored_is_claimed(timer);
	id_map_remove(&table->timers, &timer->name);
	skiplist_remove(&table->order, &timer->place);
	stored_free(&table->alloc, timer);
}

static void timer_update(struct timer_table *table, struct stored_timer *timer,
			 const struct life_record *record)
{
	bool moved = timer->place.due != record->head.due ||
		     timer->place.generation != record->head.generation;

	table->claimed -= stored_is_claimed(timer);
	if (moved) {
		skiplist_remove(&table->order, &timer->place);
		timer->place.due = record->head.due;
		timer->place.generation = record->head.generation;
		skiplist_add(&table->order, &timer->place);
	}
	timer->record = *record;
	table->claimed += stored_is_claimed(timer);
}

/* copy_why copies the operation's text for dw_set_why(). It sets *ret_why to NULL if there is no
 * text. */
static int copy_why(struct timer_table *table, const dw_op *op, char **ret_why)
{
	*ret_why = NULL;
	if (op->body_size == 0)
		return DW_OK;
	*ret_why = alloc_new(&table->alloc, op->body_size + 1);
	if (!*ret_why)
		return DW_ENOMEM;
	memcpy(*ret_why, op->body, op->body_size);
	return DW_OK;
}

static void forget(struct timer_table *table, dw_op *op, dw_usec now)
{
	op->count = dead_letters_forget(&table->dead, &table->alloc, now);
}

/* add_dead_letter makes a dead letter of a timer that the caller deletes next. */
static int add_dead_letter(struct timer_table *table, const dw_op *op,
			   const struct stored_timer *timer, enum life_why why)
{
	struct why said = op->kind == DW_OP_NEXT ? (struct why){op_why(op), op->limit}
						 : (struct why){op->body, op->body_size};
	struct dead_letter letter = {.at = table->now,
				     .reason = op->reason,
				     .record = timer->record,
				     .id = timer->name.id,
				     .topic = timer->topic,
				     .body = timer->body,
				     .body_size = timer->body_size,
				     .why = why == LIFE_WHY_STAYS ? stored_why(timer) : said};

	return dead_letters_add(&table->dead, &table->alloc, &letter);
}

/* The memory that a step needs, allocated before anything changes. */
struct prepared {
	struct stored_timer *made;
	struct inbox_entry *entry;
	struct stored_end *end;
	char *why;
};

static void give_up(struct timer_table *table, const struct prepared *prepared)
{
	alloc_free(&table->alloc, prepared->made);
	alloc_free(&table->alloc, prepared->entry);
	alloc_free(&table->alloc, prepared->end);
	alloc_free(&table->alloc, prepared->why);
}

/* prepare does everything that can fail for lack of memory. */
static int prepare(struct timer_table *table, const dw_op *op, struct stored_timer *timer,
		   const struct life_step *step, struct prepared *prepared)
{
	if ((step->effect == LIFE_STORE || step->effect == LIFE_RENEW) &&
	    !(prepared->made = timer_new(table, op, &step->record)))
		return DW_ENOMEM;
	if (step->effect == LIFE_UPDATE && step->why == LIFE_WHY_REPLACED &&
	    copy_why(table, op, &prepared->why) != DW_OK)
		return DW_ENOMEM;
	if (step->news && !(prepared->entry = inbox_entry_new(&table->alloc, op->id)))
		return DW_ENOMEM;
	if (table_end_make(table, op, timer, step, &prepared->end) != DW_OK)
		return DW_ENOMEM;
	if (step->effect == LIFE_BURY || step->effect == LIFE_RENEW)
		return add_dead_letter(table, op, timer, step->why);
	return DW_OK;
}

static int carry_out(struct timer_table *table, dw_op *op, struct stored_timer *timer,
		     const struct life_step *step)
{
	struct prepared prepared = {0};

	if (prepare(table, op, timer, step, &prepared) != DW_OK) {
		give_up(table, &prepared);
		return DW_ENOMEM;
	}
	if (step->effect == LIFE_UPDATE)
		timer_update(table, timer, &step->record);
	if (step->effect == LIFE_UPDATE && step->why != LIFE_WHY_STAYS) {
		alloc_free(&table->alloc, timer->why);
		timer->why = prepared.why;
	}
	if (step->effect != LIFE_KEEP && step->effect != LIFE_UPDATE)
		timer_delete(table, timer);
	if (prepared.made)
		timer_insert(table, prepared.made);
	table_end_add(table, prepared.end);
	if (prepared.entry) {
		prepared.entry->generation = table->generation;
		prepared.entry->open = step->open_news;
		inbox_add(&table->inbox, &table->alloc, prepared.entry);
	}
	return DW_OK;
}

/* show puts the timer, as it is after the step, into the answer. */
static int show(struct timer_table *table, dw_op *op, const struct stored_timer *timer,
		const struct life_step *step)
{
	op->rows = table_row(table, timer);
	if (!op->rows)
		return DW_ENOMEM;
	op->rows->head = step->record.head;
	op->row_count = 1;
	return DW_OK;
}

static struct life_caller life_of(struct timer_table *table, const dw_op *op,
				  const struct table_caller *caller)
{
	const struct inbox_entry *entry = inbox_find(&table->inbox, op->id);

	return (struct life_caller){.token = caller->token,
				    .generation = life_next(table->generation, caller->now),
				    .role = caller->role,
				    .left_open = caller->role == DW_CLIENT && entry && entry->open,
				    .ended = op->flags & DW_OP_ONCE &&
					     ends_ask(&table->ends, op->id, caller->now)};
}

static void apply_to_timer(struct timer_table *table, dw_op *op, const struct table_caller *caller)
{
	struct stored_timer *timer = table_find(table, op->id);
	struct life_caller who = life_of(table, op, caller);
	struct life_step step;

	if (timer)
		same_note(&timer->record, timer->body, op);
	step = life_take(op, timer ? &timer->record : NULL, &who);

	if (life_renews(&step, &who))
		table->generation = who.generation;
	op->status = step.status;
	if (step.show && show(table, op, timer, &step) != DW_OK)
		op->status = DW_ENOMEM;
	else if (carry_out(table, op, timer, &step) != DW_OK)
		op->status = DW_ENOMEM;
	if (op->status == DW_OK)
		op->head = step.record.head;
	if (op->kind == DW_OP_PUT && step.show)
		op->flags |= DW_OP_DONE;
	if (step.effect == LIFE_BURY || step.effect == LIFE_RENEW)
		forget(table, op, caller->now);
}

static void acknowledge(struct timer_table *table, const dw_op *op)
{
	struct inbox_entry *entry = inbox_find(&table->inbox, op->id);

	if (entry && entry->generation <= op->head.generation)
		inbox_drop(&table->inbox, &table->alloc, entry);
}

/* add_letter makes a dead letter of a message. */
static void add_letter(struct timer_table *table, dw_op *op)
{
	struct dead_letter letter = {.at = table->now,
				     .reason = op->reason,
				     .record = {.head = op->head},
				     .id = op->id,
				     .topic = op->topic,
				     .body = op->body,
				     .body_size = op->body_size,
				     .why = {op_why(op), op->limit}};

	letter.record.head.state = DW_PENDING;
	letter.record.head.open = 0;
	if (!dead_letters_find(&table->dead, op->id, op->head.generation))
		op->status = dead_letters_add(&table->dead, &table->alloc, &letter);
}

/* tell_owner adds an entry to the inbox that tells the owner of changed settings. Its id is
 * empty. */
static int tell_owner(struct timer_table *table, const struct table_caller *caller)
{
	struct inbox_entry *entry;

	if (caller->role == DW_OWNER)
		return DW_OK; /* the owner itself has made the change */
	entry = inbox_entry_new(&table->alloc, "");
	if (!entry)
		return DW_ENOMEM;
	table->generation = life_next(table->generation, caller->now);
	entry->generation = table->generation;
	inbox_add(&table->inbox, &table->alloc, entry);
	return DW_OK;
}

static void change_topic(struct timer_table *table, dw_op *op, const struct table_caller *caller)
{
	op->status = tell_owner(table, caller);
	if (op->status == DW_OK)
		topics_of_change(&table->topics, &table->alloc, op);
}

static void requeue(struct timer_table *table, dw_op *op, const struct table_caller *caller)
{
	struct stored_timer *timer = table_find(table, op->id);
	struct dead_letter *letter = dead_letters_find(&table->dead, op->id, op->head.generation);
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
	dead_letters_drop(&table->dead, &table->alloc, letter);
	op->head = step.record.head;
	/* If there is no memory for the row, the owner scans, and finds the timer that way. */
	timer = table_find(table, op->id);
	if (step.show)
		(void)show(table, op, timer, &step);
}

static void drop(struct timer_table *table, dw_op *op)
{
	struct dead_letter *letter;

	while ((letter = op->id ? dead_letters_find(&table->dead, op->id, op->head.generation)
				: table->dead.first)) {
		dead_letters_drop(&table->dead, &table->alloc, letter);
		op->count++;
	}
	if (op->id && op->count == 0)
		op->status = DW_ENOENT;
}

static void purge(struct timer_table *table, dw_op *op)
{
	op->count = table->timers.table.count + table->dead.count;
	while (table->order.first[0])
		timer_delete(table, stored_at(table->order.first[0]));
	dead_letters_clear(&table->dead, &table->alloc);
	inbox_clear(&table->inbox, &table->alloc);
	topics_of_clear(&table->topics);
	ends_clear(&table->ends, &table->alloc);
}

/* apply_to_topic does an operation on a topic. Returns false if this is another operation. */
static bool apply_to_topic(struct timer_table *table, dw_op *op, const struct table_caller *caller)
{
	switch (op->kind) {
	case DW_OP_TOPIC_SET:
	case DW_OP_TOPIC_DROP:
		change_topic(table, op, caller);
		return true;
	case DW_OP_TOPIC_LIST:
		topics_of_list(&table->topics, &table->alloc, op, table->owner != NULL);
		return true;
	case DW_OP_TOPIC_COUNT:
		op->status = set_text(table, &table->topics.counts, op->body, op->body_size);
		return true;
	case DW_OP_PUSH:
	case DW_OP_TAKE:
	case DW_OP_ANSWER:
		topics_of_queue(&table->topics, op, &table->generation, caller->now);
		return true;
	case DW_OP_LETTER:
		add_letter(table, op);
		return true;
	case DW_OP_PUT:
		if (!topics_of_closed(&table->topics, op->topic))
			return false;
		op->status = DW_EPAUSED;
		return true;
	default:
		return false;
	}
}

bool table_apply(struct timer_table *table, dw_op *op, const struct table_caller *caller)
{
	op->status = life_permits(op, caller->role);
	if (op->status != DW_OK)
		return true;
	table->now = caller->now;
	switch (op->kind) {
	case DW_OP_SCAN:
		table_scan(table, op);
		return true;
	case DW_OP_INBOX:
		return table_read_inbox(table, op);
	case DW_OP_ACK:
		acknowledge(table, op);
		return true;
	case DW_OP_STATUS:
	case DW_OP_CHECK: /* the check only counts: a timer in memory cannot be damaged */
		table_status(table, op);
		return true;
	case DW_OP_DUE:
		table_count_due(table, op);
		return true;
	case DW_OP_DEAD_SCAN:
		table_scan_dead(table, op);
		return true;
	case DW_OP_REQUEUE:
		requeue(table, op, caller);
		return true;
	case DW_OP_DROP:
		drop(table, op);
		return true;
	case DW_OP_DISOWN:
	case DW_OP_OWN: /* the role of an opening never changes */
		op->status = caller->role == DW_OWNER ? DW_OK : DW_EOWNED;
		return true;
	case DW_OP_PURGE:
		purge(table, op);
		return true;
	case DW_OP_ENDED:
		table_end_show(table, op);
		return true;
	case DW_OP_REPORT:
		forget(table, op, caller->now);
		ends_forget(&table->ends, &table->alloc, caller->now);
		table->owner_seen = caller->now;
		op->status = set_text(table, &table->report, op->body, op->body_size);
		return true;
	default:
		if (!apply_to_topic(table, op, caller))
			apply_to_timer(table, op, caller);
		return true;
	}
}

size_t table_count(const struct timer_table *table)
{
	return table->timers.table.count;
}
