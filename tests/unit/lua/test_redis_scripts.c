/* The scripts follow the rules of a timer's life: random calls are given to them and, one timer
 * after the other, to life_take() on a model of the shard; answers and contents must be the same.
 * Versions and numbers of dead letters are made predictable by setting the last ones far ahead. */
#include "support/cmocka.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "timer/transition.h"
#include "support/environment.h"
#include "support/script_fixture.h"
#include "support/seed.h"

#define IDS 6
#define LETTERS 40
#define GROUPS 4
#define AHEAD UINT64_C(4000000000000000)
#define BODY_SIZE 12
#define WHY_ROOM 8

struct timer {
	bool there;
	struct life_record record;
	unsigned char value[36 + BODY_SIZE + WHY_ROOM];
	size_t size;
};

struct letter {
	int id;
	uint64_t number;
	uint64_t reason;
	struct timer timer;
};

struct model {
	struct scripts *s;
	struct rng rng;
	uint64_t last;
	uint64_t dead;
	struct timer timers[IDS];
	struct {
		uint64_t generation; /* 0: nothing */
		bool open;
	} inbox[IDS];
	struct letter letters[LETTERS];
	int letter_count;
};

struct group {
	dw_op op;
	int id;
	unsigned char body[BODY_SIZE];
	char why[WHY_ROOM + 1]; /* op.body */
	uint64_t at;
};

static uint64_t below(struct model *m, uint64_t limit)
{
	return rng_next(&m->rng) % limit;
}

static const char *name_of(int id)
{
	static const char *const names[IDS] = {"a", "ab", "{a}b", "\xc3\xa9", "a b", "z"};

	return names[id];
}

static uint64_t congruent(uint64_t least)
{
	while (least % 16 != 7)
		least++;
	return least;
}

/* seal writes the header of a record, of which the body is there. */
static void seal(struct timer *timer)
{
	static const uint64_t factors[9] = {40503, 52163, 60497, 39769, 45503,
					    57037, 33923, 63793, 50021};
	unsigned char *at = timer->value;
	const struct life_record *record = &timer->record;
	uint64_t sum = 64951;

	at[0] = record->head.state;
	at[1] = record->head.open;
	at[2] = (unsigned char)(record->head.retries < 255 ? record->head.retries : 255);
	at[3] = (unsigned char)(record->head.crashes < 255 ? record->head.crashes : 255);
	bytes_put(at + 4, record->head.attempt, 4);
	bytes_put(at + 8, record->head.generation, 8);
	bytes_put(at + 16, (uint64_t)record->head.due, 8);
	bytes_put(at + 24, record->claim, 8);
	for (unsigned i = 0; i < 8; i++)
		sum += bytes_get(at + 4 * i, 4) * factors[i];
	sum += bytes_get(at + 38, 4) * factors[8];
	bytes_put(at + 32, sum % UINT64_C(4294967291), 4);
}

static int64_t score_of(const struct timer *timer)
{
	int64_t due = timer->record.head.due;
	int64_t score = due < 1                           ? 1
			: due > INT64_C(9007199254740991) ? INT64_C(9007199254740991)
							  : due;

	return timer->record.head.state == DW_CLAIMED ? -score : score;
}

/* damage flips a bit of a stored header; its deadline keeps its score. Versions stay below 2^53: a
 * damaged one beyond is told from others only roughly. */
static void damage(struct model *m, int id)
{
	struct timer *timer = &m->timers[id];
	struct life_record *record = &timer->record;
	unsigned char *at = timer->value;
	uint64_t place = below(m, 36);

	/* A damaged version may be that of a dead letter, whose place it would take. */
	if (!timer->there || record->damaged || (place >= 8 && place < 16))
		return;
	at[place] ^= (unsigned char)(1u << below(m, 8));
	record->damaged = true;
	record->head.state = at[0];
	record->head.open = at[1];
	record->head.generation = bytes_get(at + 8, 8);
	record->claim = bytes_get(at + 24, 8);
	command(m->s, "HSET {t:07}:h %s %b", name_of(id), at, timer->size);
}

/* ---- The model of a shard: what table.c does around life_take() ---- */

static struct life_caller caller_of(const struct model *m, int id, bool owner)
{
	return (struct life_caller){.token = m->s->fence,
				    .generation = congruent(m->last + 1),
				    .role = owner ? DW_OWNER : DW_CLIENT,
				    .left_open = !owner && m->inbox[id].generation != 0 &&
						 m->inbox[id].open};
}

/* tell keeps the text of dw_set_why() as the value's tail: 16 is added to the form, and its size is
 * the last byte. */
static void tell(struct timer *timer, const struct group *group, enum life_why why)
{
	unsigned char *tail = timer->value + 36 + BODY_SIZE;
	size_t size = why == LIFE_WHY_REPLACED ? group->op.body_size : 0;

	if (why == LIFE_WHY_STAYS || timer->record.damaged)
		return;
	timer->value[36] = (unsigned char)((timer->value[36] & ~16u) | (size ? 16u : 0));
	timer->size = 36 + BODY_SIZE + (size ? size + 1 : 0);
	memcpy(tail, group->why, size);
	tail[size] = (unsigned char)size;
}

static void bury(struct model *m, const struct group *group, enum life_why why)
{
	struct letter *letter = &m->letters[m->letter_count++];

	m->dead = congruent(m->dead + 1);
	letter->id = group->id;
	letter->number = m->dead;
	letter->reason = group->op.reason;
	letter->timer = m->timers[group->id];
	tell(&letter->timer, group, why);
}

static void carry_out(struct model *m, const struct group *group, const struct life_step *step,
		      const struct life_caller *caller)
{
	struct timer *timer = &m->timers[group->id];

	if (life_renews(step, caller))
		m->last = caller->generation;
	if (step->effect == LIFE_BURY)
		bury(m, group, step->why);
	if (step->effect == LIFE_DELETE || step->effect == LIFE_BURY)
		timer->there = false;
	if (step->effect == LIFE_STORE) {
		memcpy(timer->value + 36, group->body, BODY_SIZE);
		timer->size = 36 + BODY_SIZE;
	}
	if (step->effect == LIFE_UPDATE)
		tell(timer, group, step->why);
	if (step->effect == LIFE_STORE || step->effect == LIFE_UPDATE) {
		timer->there = true;
		timer->record = step->record;
		seal(timer);
	}
	if (step->news) {
		m->inbox[group->id].generation = caller->generation;
		m->inbox[group->id].open = step->open_news;
	}
}

/* find_letter: without a generation the one with the highest. */
static struct letter *find_letter(struct model *m, const struct group *group)
{
	uint64_t asked = group->op.head.generation;
	struct letter *found = NULL;

	for (int i = 0; i < m->letter_count; i++) {
		struct letter *letter = &m->letters[i];
		uint64_t generation = letter->timer.record.head.generation;

		if (letter->id != group->id || (asked && asked != generation))
			continue;
		if (!found || generation > found->timer.record.head.generation)
			found = letter;
	}
	return found;
}

static struct life_step requeue(struct model *m, struct group *group,
				const struct life_caller *caller)
{
	struct letter *letter = find_letter(m, group);
	bool taken = m->timers[group->id].there;
	struct life_step step =
	    life_requeue(&group->op, letter ? &letter->timer.record : NULL, taken, caller);

	if (step.effect != LIFE_STORE)
		return step;
	memcpy(group->body, letter->timer.value + 36, BODY_SIZE);
	group->body[0] &= (unsigned char)~16u;
	m->letter_count--;
	memmove(letter, letter + 1,
		(size_t)(m->letters + m->letter_count - letter) * sizeof *letter);
	return step;
}

/* ---- Comparing ---- */

static bool shows_value(const struct life_step *step, const dw_op *op)
{
	return step->status == DW_ESTALE || (op->kind != DW_OP_GET && step->show);
}

/* shows_header: of what is stored now; of a cancel, to an owner, of what it has deleted. */
static bool shows_header(const dw_op *op, const struct timer *timer, bool owner)
{
	if (op->kind == DW_OP_CANCEL)
		return owner && !timer->record.damaged;
	return op->kind == DW_OP_PUT || op->kind == DW_OP_CLAIM || op->kind == DW_OP_RETRY ||
	       op->kind == DW_OP_MOVE || op->kind == DW_OP_REQUEUE;
}

static long long code_of(int status)
{
	switch (status) {
	case DW_OK:
		return 0;
	case DW_EEXIST:
		return 1;
	case DW_ENOENT:
		return 2;
	case DW_ESTALE:
		return 3;
	case DW_ELATE:
		return 4;
	default:
		assert_int_equal(status, DW_ECORRUPT);
		return 5;
	}
}

static void check_item(const redisReply *item, const struct life_step *step, const dw_op *op,
		       const struct timer *timer, bool owner)
{
	if (shows_value(step, op)) {
		assert_int_equal(item->type, REDIS_REPLY_ARRAY);
		assert_int_equal(item->element[0]->integer, code_of(step->status));
		assert_int_equal(item->element[1]->len, timer->size);
		assert_memory_equal(item->element[1]->str, timer->value, timer->size);
	} else if (step->status == DW_OK && shows_header(op, timer, owner)) {
		assert_int_equal(item->type, REDIS_REPLY_STRING);
		assert_int_equal(item->len, 36);
		assert_memory_equal(item->str, timer->value, 36);
	} else {
		assert_int_equal(item->type, REDIS_REPLY_INTEGER);
		assert_int_equal(item->integer, code_of(step->status));
	}
}

static void check_stored(struct model *m, int id)
{
	const struct timer *timer = &m->timers[id];
	const redisReply *reply = command(m->s, "HGET {t:07}:h %s", name_of(id));

	assert_int_equal(reply->type, timer->there ? REDIS_REPLY_STRING : REDIS_REPLY_NIL);
	if (timer->there)
		assert_int_equal(reply->len, timer->size);
	if (timer->there)
		assert_memory_equal(reply->str, timer->value, timer->size);
	reply = command(m->s, "ZSCORE {t:07}:z %s", name_of(id));
	assert_int_equal(reply->type, timer->there ? REDIS_REPLY_STRING : REDIS_REPLY_NIL);
	if (timer->there && !timer->record.damaged)
		assert_int_equal(strtoll(reply->str, NULL, 10), score_of(timer));
	reply = command(m->s, "ZSCORE {t:07}:i %s", name_of(id));
	assert_int_equal(reply->type,
			 m->inbox[id].generation ? REDIS_REPLY_STRING : REDIS_REPLY_NIL);
	if (m->inbox[id].generation)
		assert_int_equal(llabs(strtoll(reply->str, NULL, 10)), m->inbox[id].generation);
	if (m->inbox[id].generation)
		assert_int_equal(reply->str[0] == '-', m->inbox[id].open);
}

static void check_letters(struct model *m)
{
	const redisReply *page;

	call(m->s, "dead_page");
	call_text(m->s, "");
	call_text(m->s, "");
	call_text(m->s, "1000");
	page = call_go(m->s);
	assert_int_equal(page->elements, 3 * m->letter_count);
	for (int i = 0; i < m->letter_count; i++) {
		const struct letter *letter = &m->letters[i];
		const unsigned char *found = (const unsigned char *)page->element[3 * i + 2]->str;

		assert_string_equal(page->element[3 * i]->str, name_of(letter->id));
		assert_int_equal(strtoll(page->element[3 * i + 1]->str, NULL, 10), letter->number);
		assert_int_equal(bytes_get(found, 8), letter->number);
		assert_int_equal(found[16], letter->reason);
		assert_memory_equal(found + 17, letter->timer.value, letter->timer.size);
	}
}

/* ---- Random calls ---- */

static const struct {
	dw_op_kind kind;
	const char *script;
	bool client; /* may do it, too */
} kinds[] = {
    {DW_OP_PUT, "put", true},         {DW_OP_CLAIM, "claim", false},
    {DW_OP_CLAIM, "claim", false},    {DW_OP_SETTLE, "settle", false},
    {DW_OP_RETRY, "retry", false},    {DW_OP_BURY, "bury", false},
    {DW_OP_CANCEL, "cancel", true},   {DW_OP_MOVE, "move", true},
    {DW_OP_REQUEUE, "requeue", true},
};

static dw_usec random_due(struct model *m)
{
	static const dw_usec odd[] = {
	    INT64_MIN, -1, 0, 1, INT64_C(9007199254740991), INT64_C(9007199254740992), INT64_MAX};

	return below(m, 8) ? (dw_usec)below(m, 4) + 1 : odd[below(m, 7)];
}

/* choose makes an operation that mostly names what is there. */
static void choose(struct model *m, struct group *group, dw_op_kind kind, bool owner)
{
	const struct timer *timer = &m->timers[group->id = (int)below(m, IDS)];
	dw_op *op = &group->op;

	*op = (dw_op){.kind = kind, .id = name_of(group->id)};
	op->head.due = random_due(m);
	op->reason = (dw_reason)(1 + below(m, 5));
	op->head.generation = timer->record.head.generation - (below(m, 8) ? 0 : 16);
	if (timer->there)
		op->head.attempt = timer->record.head.attempt - (below(m, 6) ? 0 : 1);
	if (kind == DW_OP_REQUEUE)
		op->head.generation = below(m, 2) ? 0 : congruent(m->last - below(m, 400));
	if (kind == DW_OP_PUT && below(m, 4) == 0)
		op->flags |= DW_OP_NEW;
	if (owner && kind == DW_OP_PUT && below(m, 3) == 0)
		op->flags |= DW_OP_CLAIMED;
	if (owner && below(m, 3) == 0)
		op->flags |= DW_OP_WITHDRAWN;
	if (kind == DW_OP_CANCEL && below(m, 2))
		op->flags |= DW_OP_EXACT;
	if (kind == DW_OP_RETRY)
		op->flags = below(m, 2) ? DW_OP_VERDICT : 0;
	for (unsigned i = 0; i < BODY_SIZE; i++)
		group->body[i] = (unsigned char)below(m, 256);
	group->body[0] &= (unsigned char)~16u;
	op->body_size = below(m, 2) ? 0 : below(m, WHY_ROOM);
	op->body = memset(group->why, 0, sizeof group->why);
	memset(group->why, 'a' + (int)below(m, 26), op->body_size);
	group->at = below(m, UINT64_C(1) << 52);
}

static void say(struct scripts *s, const struct group *group)
{
	const dw_op *op = &group->op;
	bool flags = op->kind == DW_OP_CANCEL || op->kind == DW_OP_MOVE;

	if (flags)
		call_number(s, op->flags & DW_OP_WITHDRAWN);
	call_text(s, op->id);
	call_number(s,
		    op->kind != DW_OP_CANCEL || op->flags & DW_OP_EXACT ? op->head.generation : 0);
	if (!flags && op->kind != DW_OP_REQUEUE)
		call_number(s, op->head.attempt);
	if (op->kind == DW_OP_MOVE || op->kind == DW_OP_RETRY || op->kind == DW_OP_REQUEUE)
		call_due(s, op->head.due);
	if (op->kind == DW_OP_MOVE || op->kind == DW_OP_REQUEUE)
		call_text(s, "");
	if (op->kind == DW_OP_RETRY)
		call_text(s, op->flags & DW_OP_VERDICT ? "1" : "0");
	if (op->kind == DW_OP_BURY)
		call_number(s, (uint64_t)op->reason);
	if (op->kind == DW_OP_BURY)
		call_number(s, group->at);
	if (op->kind == DW_OP_SETTLE)
		call_due(s, 1);
	if (op->kind == DW_OP_RETRY || op->kind == DW_OP_BURY || op->kind == DW_OP_SETTLE)
		call_text(s, group->why);
	if (op->kind == DW_OP_BURY)
		call_due(s, 1);
}

/* say_puts: of half of them the caller has a version of its own, which mostly can be taken. */
static void say_puts(struct model *m, const struct group *groups, size_t count)
{
	struct put puts[GROUPS];
	bool own = below(m, 2) == 0;

	for (size_t i = 0; i < count; i++)
		puts[i] = (struct put){.flags = groups[i].op.flags,
				       .id = groups[i].op.id,
				       .ver = own ? congruent(m->last + 1 + 16 * i) : 0,
				       .due = groups[i].op.head.due,
				       .body = groups[i].body,
				       .body_size = BODY_SIZE};
	call_puts(m->s, puts, count);
}

static void expect(struct model *m, struct group *group, bool owner, const redisReply *item)
{
	const struct timer *timer = &m->timers[group->id];
	struct life_caller caller = caller_of(m, group->id, owner);
	struct life_step step;

	if (group->op.kind == DW_OP_REQUEUE)
		step = requeue(m, group, &caller);
	else
		step = life_take(&group->op, timer->there ? &timer->record : NULL, &caller);
	carry_out(m, group, &step, &caller);
	check_item(item, &step, &group->op, timer, owner);
}

static void random_call(struct model *m)
{
	struct group groups[GROUPS];
	size_t kind = below(m, sizeof kinds / sizeof kinds[0]);
	bool owner = !kinds[kind].client || below(m, 2);
	size_t count = 1 + below(m, GROUPS);
	redisReply *reply;

	(owner ? call_owner : call_client)(m->s, kinds[kind].script);
	for (size_t i = 0; i < count; i++) {
		choose(m, &groups[i], kinds[kind].kind, owner);
		if (kinds[kind].kind != DW_OP_PUT)
			say(m->s, &groups[i]);
	}
	if (kinds[kind].kind == DW_OP_PUT)
		say_puts(m, groups, count);
	reply = call_go(m->s);
	if (!is(reply, "OK"))
		fail_msg("%s: %s", kinds[kind].script, reply->str ? reply->str : "refused");
	assert_int_equal(reply->elements, count + 1);
	for (size_t i = 0; i < count; i++)
		expect(m, &groups[i], owner, reply->element[i + 1]);
	for (size_t i = 0; i < count; i++)
		check_stored(m, groups[i].id);
	reply = command(m->s, "HGET {t:07}:m ver");
	assert_int_equal(strtoull(reply->str, NULL, 10), m->last);
}

static void acknowledge(struct model *m, int id)
{
	uint64_t known = m->last - below(m, 64);

	call_owner(m->s, "ack");
	call_text(m->s, name_of(id));
	call_number(m->s, known);
	assert_true(is(call_go(m->s), "OK"));
	if (m->inbox[id].generation <= known)
		m->inbox[id].generation = 0;
	check_stored(m, id);
}

static void drop_all(struct model *m)
{
	check_letters(m);
	call_client(m->s, "drop");
	call_text(m->s, "");
	call_text(m->s, "0");
	assert_int_equal(call_go(m->s)->element[1]->integer, m->letter_count);
	m->letter_count = 0;
	check_letters(m);
}

static void random_calls_do_what_life_says(void **state)
{
	struct model m = {.s = *state, .rng = seed_of_test(), .last = AHEAD + 7, .dead = AHEAD + 7};
	uint64_t calls = environment_scaled(20000);

	command(m.s, "HSET {t:07}:m ver %" PRIu64 " dead %" PRIu64, m.last, m.dead);
	for (uint64_t i = 0; i < calls; i++) {
		random_call(&m);
		if (below(&m, 50) == 0)
			damage(&m, (int)below(&m, IDS));
		if (below(&m, 10) == 0)
			acknowledge(&m, (int)below(&m, IDS));
		if (below(&m, 20) == 0) {
			own(m.s);
			memset(m.inbox, 0, sizeof m.inbox); /* it reads everything */
		}
		if (m.letter_count > LETTERS - GROUPS)
			drop_all(&m);
	}
}

static void retries_and_crashes_stop_at_their_byte(void **state)
{
	struct scripts *s = *state;
	struct timer timer = {.there = true, .value = {[36] = 1}};
	uint64_t ver = put_one(s, true, "a", 5, 0);

	timer.record.head = (dw_head){.generation = ver,
				      .due = 5,
				      .attempt = 9,
				      .retries = 255,
				      .crashes = 255,
				      .state = DW_CLAIMED};
	timer.record.claim = 1;
	seal(&timer);
	command(s, "HSET {t:07}:h a %b", timer.value, (size_t)(36 + BODY_SIZE));
	call_owner(s, "claim");
	call_text(s, "a");
	call_number(s, ver);
	call_text(s, "9");
	call_go(s);
	assert_memory_equal(s->reply->element[1]->str, "\1\1\xff\xff\12\0\0\0", 8);
	call_owner(s, "retry");
	call_text(s, "a");
	call_number(s, ver);
	call_text(s, "10");
	call_due(s, 6);
	call_text(s, "1");
	call_text(s, "");
	call_go(s);
	assert_memory_equal(s->reply->element[1]->str, "\0\1\xff\xff\12\0\0\0", 8);
}

static void claim_of(struct scripts *s, uint64_t ver, const unsigned char *value, size_t size)
{
	command(s, "HSET {t:07}:h a %b", value, size);
	call_owner(s, "claim");
	call_text(s, "a");
	call_number(s, ver);
	call_text(s, "0");
	call_go(s);
}

static void each_flipped_bit_of_a_header_is_found(void **state)
{
	struct scripts *s = *state;
	uint64_t ver = put_one(s, true, "a", INT64_C(1795300000000000), 0);
	unsigned char value[64];
	size_t size;

	command(s, "HGET {t:07}:h a");
	size = s->reply->len;
	assert_true(size <= sizeof value);
	memcpy(value, s->reply->str, size);
	for (size_t i = 0; i < 42; i++) {
		unsigned first =
		    i == 36 || i == 37 ? 8 : 0; /* the body's: not the header's matter */

		for (unsigned bit = first; bit < 8; bit++) {
			value[i] ^= (unsigned char)(1u << bit);
			claim_of(s, ver, value, size);
			assert_int_equal(s->reply->element[1]->integer, 5);
			value[i] ^= (unsigned char)(1u << bit);
		}
		claim_of(s, ver, value, i);
		assert_int_equal(s->reply->element[1]->integer, 5);
	}
	claim_of(s, ver, value, size);
	assert_int_equal(s->reply->element[1]->type, REDIS_REPLY_STRING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(random_calls_do_what_life_says, scripts_empty),
	    cmocka_unit_test_setup(retries_and_crashes_stop_at_their_byte, scripts_empty),
	    cmocka_unit_test_setup(each_flipped_bit_of_a_header_is_found, scripts_empty),
	};

	return cmocka_run_group_tests(tests, scripts_set_up, scripts_tear_down);
}
