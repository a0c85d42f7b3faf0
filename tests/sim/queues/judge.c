#include "sim/queues/queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timer/record.h"
#include "topic/message.h"

const char *judge_topic(uint32_t queue)
{
	static const char *const topics[QUEUES] = {"alpha", "beta"};

	return topics[queue];
}

void judge_id(uint32_t number, char ret_id[16])
{
	(void)snprintf(ret_id, 16, "m%" PRIu32, number);
}

uint32_t judge_number(const char *id)
{
	return (uint32_t)strtoul(id + 1, NULL, 10) % NAMED_MAX;
}

uint32_t judge_queue(const char *topic)
{
	return topic && strcmp(topic, judge_topic(1)) == 0;
}

void judge_set(struct queues *all, uint32_t queue, const dw_topic_settings *settings)
{
	all->judge.queues[queue].settings = *settings;
}

static bool is_in(const struct entry *entry)
{
	return entry->state != ENTRY_DONE && entry->state != ENTRY_DROPPED;
}

static uint64_t length_of(const dw_topic_info *found)
{
	return found->waiting + found->taken + found->later;
}

/* ---- Push ---------------------------------------------------------------------------------- */

void judge_pushed(struct queues *all, uint32_t number, const struct entry *entry)
{
	struct judged_queue *queue = &all->judge.queues[number];

	queue->entries[queue->count++ % ENTRIES_MAX] = *entry;
	all->judge.names[entry->name].pushes++;
}

static void add(struct queues *all, uint32_t number, const struct message *message)
{
	struct record record;
	char id[DW_ID_MAX + 1] = "";

	if (record_decode(message->body, message->body_size, &record) == DW_OK)
		memcpy(id, record.id, record.id_size);
	judge_pushed(all, number,
		     &(struct entry){.generation = all->judge.queues[number].count + 1,
				     .name = judge_number(id),
				     .due = message->head.due});
}

static bool is_expired(const struct judged_queue *queue, const struct entry *entry, dw_usec now)
{
	dw_usec expire = queue->settings.expire_us;

	return expire > 0 && usec_sub(now, entry->due) > expire;
}

/* drop_oldest: the oldest go, whatever state they are in. What has expired may have gone before, so
 * where messages expire, only their number is sure. */
static void drop_oldest(struct judged_queue *queue, uint64_t count, dw_usec now)
{
	queue->dropped += count;
	for (uint32_t i = 0; i < queue->count && count > 0; i++) {
		struct entry *entry = &queue->entries[i];

		if (!is_in(entry))
			continue;
		count -= !entry->unsure && !is_expired(queue, entry, now);
		entry->unsure = true;
		if (queue->settings.expire_us == 0)
			entry->state = ENTRY_DROPPED;
	}
}

void judge_bound(struct queues *all, uint32_t number)
{
	const struct judged_queue *queue = &all->judge.queues[number];
	dw_topic_info found = all->backing->info(all, number);

	if (length_of(&found) > queue->settings.max)
		broken(all->sim, "I14", "%s has %" PRIu64 " messages, of at most %" PRIu32,
		       judge_topic(number), length_of(&found), queue->settings.max);
}

static void pushed(struct queues *all, const dw_op *op, const dw_op *wanted, dw_usec now)
{
	uint32_t number = judge_queue(wanted->topic);
	const unsigned char *at = wanted->body;
	const unsigned char *end = at + wanted->body_size;
	struct message message;

	if (op->status != DW_OK)
		return;
	while (message_next(&at, end, &message))
		add(all, number, &message);
	drop_oldest(&all->judge.queues[number], op->count, now);
	judge_bound(all, number);
}

/* ---- Take ---------------------------------------------------------------------------------- */

/* entry_with: the last one of a generation: it may return when it was done. */
static struct entry *entry_with(struct judged_queue *queue, uint64_t generation)
{
	for (uint32_t i = queue->count; i > 0; i--)
		if (queue->entries[i - 1].generation == generation)
			return &queue->entries[i - 1];
	return NULL;
}

void judge_dropped(struct queues *all, uint32_t number, uint64_t generation)
{
	struct judged_queue *queue = &all->judge.queues[number];
	struct entry *entry = entry_with(queue, generation);

	queue->dropped++;
	if (entry)
		entry->state = ENTRY_DROPPED;
}

/* entry_of: a token is its generation, perhaps more, and its delivery. */
static struct entry *entry_of(struct judged_queue *queue, const char *token, uint64_t *ret_delivery)
{
	const char *slash = strrchr(token, '/');

	*ret_delivery = slash ? strtoull(slash + 1, NULL, 10) : 0;
	return slash ? entry_with(queue, strtoull(token, NULL, 10)) : NULL;
}

static void check_order(struct queues *all, struct judged_queue *queue, const struct entry *entry)
{
	uint32_t place = (uint32_t)(entry - queue->entries) + 1;

	if (entry->delivery > 0)
		return;
	if (place <= queue->handed_out)
		broken(all->sim, "I17", "m%" PRIu32 " comes after a later one", entry->name);
	queue->handed_out = place;
}

void judge_handed_out(struct queues *all, uint32_t number, const struct delivered *row)
{
	struct judged_queue *queue = &all->judge.queues[number];
	const dw_topic_settings *settings = &queue->settings;
	uint64_t delivery = 0;
	struct entry *entry = entry_of(queue, row->token, &delivery);
	bool is_once;

	if (!entry || entry->name != judge_number(row->id)) {
		broken(all->sim, "I16", "%s was never pushed as %s", row->id, row->token);
		return;
	}
	if (settings->paused & DW_PAUSE_DELIVERY)
		broken(all->sim, "pause", "a message is handed out of a topic that is paused");
	if (!is_in(entry))
		broken(all->sim, "I16", "%s is handed out, and was over", row->id);
	if (entry->state != ENTRY_WAITS && entry->until > row->now)
		broken(all->sim, "I15", "%s is handed out while it is hidden", row->id);
	if (is_expired(queue, entry, row->now))
		broken(all->sim, "expire", "%s is handed out, and had expired", row->id);
	if (delivery <= entry->delivery)
		broken(all->sim, "attempt", "%s is handed out twice as %s", row->id, row->token);
	check_order(all, queue, entry);
	entry->delivery = delivery;
	(void)snprintf(entry->token, sizeof entry->token, "%s", row->token); /* it fits */
	entry->unsure = false;
	is_once = settings->hide_us == DW_AT_MOST_ONCE;
	entry->state = is_once && !row->is_kept ? ENTRY_DONE : ENTRY_TAKEN;
	entry->until = usec_add(row->now, is_once ? DW_SECONDS(30) : settings->hide_us);
	queue->done += entry->state == ENTRY_DONE;
}

static void taken(struct queues *all, const dw_op *op, const dw_op *wanted, dw_usec now)
{
	for (const dw_row *row = op->rows; row; row = row->next)
		judge_handed_out(all, judge_queue(wanted->topic),
				 &(struct delivered){row->id, row->token, now, false});
}

/* ---- Answer -------------------------------------------------------------------------------- */

/* status_of: what the answer says of the token with that place in it. */
static int status_of(const dw_op *op, size_t place)
{
	for (const dw_row *row = op->rows; row; row = row->next)
		if (row->number == place)
			return row->status;
	return op->status;
}

static void conclude(struct judged_queue *queue, struct entry *entry, const struct concluded *with)
{
	switch (with->verdict) {
	case DW_DONE:
		entry->state = ENTRY_DONE;
		queue->done++;
		return;
	case DW_HOLD:
		entry->until = usec_add(with->now, queue->settings.hide_us);
		return;
	default:
		entry->state = ENTRY_LATER;
		/* Without a time of its own it comes back after the delay of its topic. */
		entry->until = with->due;
		return;
	}
}

void judge_concluded(struct queues *all, uint32_t number, const struct concluded *with)
{
	struct judged_queue *queue = &all->judge.queues[number];
	uint64_t delivery = 0;
	struct entry *entry = entry_of(queue, with->token, &delivery);
	/* If a push is repeated after its message was done, the new message has the same
	 * generation, and its deliveries count from 1 again. Only the token differs. */
	bool holds = entry && entry->state == ENTRY_TAKEN && strcmp(entry->token, with->token) == 0;

	if (with->status == DW_OK && !holds)
		broken(all->sim, "I15", "the answer %s counts, and was over", with->token);
	if (with->status == DW_ESTALE && holds && !entry->unsure &&
	    !is_expired(queue, entry, with->now))
		broken(all->sim, "I16", "the message of %s is gone", with->token);
	if (with->status == DW_OK && holds)
		conclude(queue, entry, with);
}

static void answered(struct queues *all, const dw_op *op, const dw_op *wanted, dw_usec now)
{
	const char *token = wanted->body;

	for (size_t i = 0; i < wanted->limit && op->status == DW_OK; i++) {
		judge_concluded(all, judge_queue(wanted->topic),
				&(struct concluded){.token = token,
						    .status = status_of(op, i),
						    .verdict = wanted->verdict,
						    .due = wanted->head.due,
						    .now = now});
		token += strlen(token) + 1;
	}
}

/* ---- Timers -------------------------------------------------------------------------------- */

void judge_settled(struct queues *all, const char *id)
{
	struct named *named = &all->judge.names[judge_number(id)];

	named->settled = true;
	if (named->pushes == 0)
		broken(all->sim, "I16", "%s is settled, and no message was made of it", id);
}

void judge_applied(struct queues *all, const dw_op *op, const dw_op *wanted,
		   const struct table_caller *caller)
{
	trace(all->sim, "apply",
	      op->id      ? op->id
	      : op->topic ? op->topic
			  : "",
	      op->kind, op->status);
	if (op->kind == DW_OP_PUSH)
		pushed(all, op, wanted, caller->now);
	else if (op->kind == DW_OP_TAKE && !(op->flags & DW_OP_LOOK))
		taken(all, op, wanted, caller->now);
	else if (op->kind == DW_OP_ANSWER)
		answered(all, op, wanted, caller->now);
	else if (op->kind == DW_OP_SETTLE && op->status == DW_OK)
		judge_settled(all, op->id);
}

/* ---- What programs hear -------------------------------------------------------------------- */

void judge_again(struct queues *all, const char *id)
{
	all->judge.names[judge_number(id)].again = true;
}

void judge_told(struct queues *all, const char *id, int status)
{
	struct named *named = &all->judge.names[judge_number(id)];

	trace(all->sim, "told", id, status, 0);
	named->confirmed = named->confirmed || status == DW_OK;
	named->refused = status != DW_OK && status != DW_EUNKNOWN && status != DW_ECLOSED;
}

/* was_given returns true if a message with the generation of `like` was given that often. There are
 * two such messages if a push was repeated after the first one was done. */
static bool was_given(const struct judged_queue *queue, const struct entry *like, uint64_t delivery)
{
	for (uint32_t i = 0; like && i < queue->count; i++)
		if (queue->entries[i].generation == like->generation &&
		    queue->entries[i].name == like->name && queue->entries[i].delivery >= delivery)
			return true;
	return false;
}

void judge_got(struct queues *all, const dw_message *message)
{
	struct judged_queue *queue = &all->judge.queues[judge_queue(message->topic)];
	uint64_t delivery = 0;
	char topic[DW_TOPIC_MAX + 1];
	const char *own = "";
	const struct entry *entry;

	(void)token_split(message->token, topic, &own); /* else it is no entry's */
	entry = entry_of(queue, own, &delivery);
	if (!was_given(queue, entry, delivery) || entry->name != judge_number(message->id))
		broken(all->sim, "take", "a program gets %s, which the table has not given it",
		       message->token);
	all->judge.taken++;
	all->sim->promises.start_count++;
}

/* ---- The end ------------------------------------------------------------------------------- */

bool judge_is_over(struct queues *all)
{
	for (uint32_t i = 0; i < QUEUES; i++) {
		dw_topic_info found = all->backing->info(all, i);

		if (length_of(&found) > 0)
			return false;
	}
	return all->backing->is_empty(all);
}

static void end_queue(struct queues *all, uint32_t number)
{
	const struct judged_queue *queue = &all->judge.queues[number];
	dw_topic_info found = all->backing->info(all, number);

	if (found.dropped != queue->dropped)
		broken(all->sim, "I16", "%" PRIu64 " were dropped, and %" PRIu64 " are counted",
		       queue->dropped, found.dropped);
	if (queue->count != queue->done + found.dropped + found.expired + length_of(&found))
		broken(all->sim, "I16",
		       "of %" PRIu32 " messages %" PRIu64 " were answered, %" PRIu64
		       " dropped, %" PRIu64 " expired and %" PRIu64 " are left",
		       queue->count, queue->done, found.dropped, found.expired, length_of(&found));
}

/* is_disturbed: a message may have been made twice, because an outcome was not heard. */
static bool is_disturbed(const struct queues *all)
{
	const struct knobs *knobs = &all->sim->knobs;

	return !all->table || knobs->crash || knobs->crash_inside || knobs->close || knobs->fail ||
	       knobs->memory || all->unknown;
}

void judge_end(struct queues *all)
{
	for (uint32_t i = 0; i < QUEUES; i++)
		end_queue(all, i);
	for (uint32_t i = 1; i <= all->number; i++) {
		const struct named *named = &all->judge.names[i];

		if (named->confirmed && named->pushes == 0)
			broken(all->sim, "I16", "m%" PRIu32 " was confirmed and never came", i);
		if (named->refused && !named->confirmed && !named->again && named->pushes > 0)
			broken(all->sim, "refusal", "m%" PRIu32 " was refused and came", i);
		if (named->pushes > 1 && !named->again && !is_disturbed(all))
			broken(all->sim, "once", "m%" PRIu32 " came %" PRIu32 " times", i,
			       named->pushes);
	}
}
