/* The words of random calls. In a format, a letter adds one word or a few, (...) is repeated, and
 * [a|b] adds one of these texts:
 *	#	a key of the shard; the next letter is the end of its name
 *	i	an id, whose timer the letters after it are about. I: another id in each round
 *	v a	the timer's version and attempt, as far as they are known.   y: the version, or 0
 *	F	the fence of its claim.   l: the version of one of its dead letters, or 0
 *	P	the flags of a put. U: makes score and value of the put, and adds the score.
 *		K: score and value of a claim. V: the value. x: the version for the flag 8
 *	W B	another value; the body of one.   X: its value, damaged, or with rare numbers
 *	d D	a deadline, in 8 bytes; a time near now.   8: when a handler started, or never
 *	n N	a number from 1 to 8; any byte.   q: a place by score, or none
 *	w	a text, often none.   L: score and member of a dead letter, or none
 *	o b	the first words of every script of an owner; of a client */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "keyspace/both.h"
#include "store/redis/wire/value.h"
#include "support/cmocka.h"
#include "support/newer.h"
#include "timer/record.h"

enum { EXACT_BITS = 53, CRC_AT = 38, CLAIM_AT = 24, CHECK_AT = 32 };

/* ---- What is stored ------------------------------------------------------------------------ */

static const char *key_at(const struct both *both, const char *end)
{
	static char key[32];

	(void)snprintf(key, sizeof key, "{t:%02u}:%s", both->shard, end);
	return key;
}

static const unsigned char *stored(struct both *both, size_t *ret_size)
{
	return (const unsigned char *)keyspace_value(both->keyspace, key_at(both, "h"), both->id,
						     ret_size);
}

/* stored_word returns a number from the stored value of the present id, or 0 without a value. */
static uint64_t stored_word(struct both *both, size_t at, unsigned size)
{
	size_t have;
	const unsigned char *value = stored(both, &have);

	return value && have >= VALUE_HEAD_SIZE ? bytes_get(value + at, size) : 0;
}

static uint64_t version(struct both *both)
{
	return stored_word(both, 8, 8) & ((UINT64_C(1) << EXACT_BITS) - 1);
}

/* time_near returns a time near now, sometimes at the edge of what a script compares. */
static uint64_t time_near(struct both *both)
{
	uint64_t now = (uint64_t)both->now;
	double news = 0;
	uint64_t edges[] = {version(both), 0, now - 2000000};
	uint64_t edge;

	if (keyspace_score(both->keyspace, key_at(both, "i"), both->id, &news))
		edges[1] = (uint64_t)fabs(news);
	edge = edges[both_draw(both, sizeof edges / sizeof *edges)];
	if (both_draw(both, 4) == 0 && edge >= now - 20000000 && edge <= now + 20000000)
		return edge + both_draw(both, 3) - 1;
	return now - 2500000 + both_draw(both, 5000000);
}

static dw_usec any_due(struct both *both)
{
	static const dw_usec odd[] = {
	    0, 1, -1, INT64_MIN, INT64_MAX, INT64_C(9007199254740991), INT64_C(9007199254740992)};

	if (both_draw(both, 8) == 0)
		return odd[both_draw(both, sizeof odd / sizeof *odd)];
	return both->now + (dw_usec)both_draw(both, 8) * 1000000; /* often equal deadlines */
}

/* A field of the keyspace that is picked at random. */
struct pick {
	struct both *both;
	char key[32];
	char name[512];
	size_t size; /* 0: no field was picked */
	char value[32];
};

static void look(void *user, const struct keyspace_field *field)
{
	struct pick *pick = user;

	if (strcmp(field->key, pick->key) != 0 || field->name.size > sizeof pick->name ||
	    both_draw(pick->both, 3) == 0)
		return;
	memcpy(pick->name, field->name.at, field->name.size);
	pick->size = field->name.size;
	(void)snprintf(pick->value, sizeof pick->value, "%s", field->value.at);
}

static struct pick pick(struct both *both, const char *end)
{
	struct pick pick = {.both = both};

	(void)snprintf(pick.key, sizeof pick.key, "%s", key_at(both, end));
	keyspace_dump(both->keyspace, look, &pick);
	return pick;
}

/* ---- Values -------------------------------------------------------------------------------- */

static size_t make_body(struct both *both, unsigned char *ret_body)
{
	unsigned char record[512], blocks[RECORD_BLOCKS_MAX];
	struct record_rule rule = {.text = "every 1s", .occurrence = (dw_usec)both_draw(both, 9)};
	uint64_t data = rng_next(&both->rng);
	struct record made = {.id = both->id,
			      .topic = "topic",
			      .data = &data,
			      .data_size = (uint32_t)both_draw(both, 9),
			      .late_after = both_draw(both, 3) ? 0 : (dw_usec)both_draw(both, 1000),
			      .id_size = (uint8_t)strlen(both->id),
			      .topic_size = (uint8_t)(1 + both_draw(both, 5))};

	made.blocks = blocks;
	if (both_draw(both, 3) == 0)
		made.blocks_size = (uint16_t)record_rule_write(&rule, blocks);
	if (both_draw(both, 4) == 0)
		made.blocks_size += (uint16_t)record_keep_write(
		    both_draw(both, 5) ? 1 + (dw_usec)both_draw(both, 20000)
				       : (dw_usec)(rng_next(&both->rng) >> both_draw(both, 20)),
		    blocks + made.blocks_size);
	record_encode(&made, record);
	return value_pack(record, record_size(&made), ret_body);
}

static size_t make_value(struct both *both, const dw_head *head, uint64_t claim,
			 unsigned char *ret_value)
{
	size_t size = make_body(both, ret_value + VALUE_HEAD_SIZE);

	value_head_write(ret_value, head, claim,
			 (uint32_t)bytes_get(ret_value + VALUE_HEAD_SIZE + 2, 4));
	return VALUE_HEAD_SIZE + size;
}

static uint64_t fence_of(const struct caller *caller)
{
	return strtoull(caller->token, NULL, 10);
}

static void say_score(struct both *both, bool claimed, dw_usec due)
{
	char score[24];

	(void)snprintf(score, sizeof score, "%s%" PRId64, claimed ? "-" : "", value_score(due));
	both_text(both, score);
}

/* say_put makes the values of a put. The versions grow from each timer to the next. */
static void say_put(struct both *both)
{
	bool claimed = both->caller->owner && both->flags[both->round] & 2;
	dw_head head = {.generation = both->version ? both->version + both->round * 16 : 0,
			.due = any_due(both),
			.state = claimed,
			.attempt = claimed};

	both->value_sizes[both->round] = make_value(
	    both, &head, claimed ? fence_of(both->caller) : 0, both->values[both->round]);
	say_score(both, claimed, head.due);
}

static void say_claim(struct both *both)
{
	size_t *size = &both->value_sizes[both->round];
	unsigned char *copy = both->values[both->round];
	const unsigned char *value = stored(both, size);

	if (value && *size >= 42 && *size <= sizeof both->values[0])
		memcpy(copy, value, *size);
	else
		memset(copy, 1, *size = 42);
	copy[0] = DW_CLAIMED;
	bytes_put(copy + CLAIM_AT, fence_of(both->caller), 8);
	say_score(both, true, (dw_usec)bytes_get(copy + 16, 8));
}

static void say_prepared(struct both *both)
{
	both_bytes(both, both->values[both->round], both->value_sizes[both->round]);
}

static void say_value(struct both *both)
{
	unsigned char value[VALUE_HEAD_SIZE + 512];
	dw_head head = {.generation = both->version + both->round * 16, .due = any_due(both)};

	both_bytes(both, value, make_value(both, &head, 0, value));
}

static void say_body(struct both *both)
{
	unsigned char body[512];

	both_bytes(both, body, make_body(both, body));
}

/* forge writes a valid but rare header: counters at their limits, claims of others. */
static void forge(struct both *both, unsigned char *value)
{
	static const unsigned char counts[] = {0, 1, 254, 255};

	value[0] = (unsigned char)both_draw(both, 2);
	value[1] = (unsigned char)both_draw(both, 2);
	value[2] = counts[both_draw(both, 4)];
	value[3] = counts[both_draw(both, 4)];
	bytes_put(value + CLAIM_AT, value[0] ? (uint64_t)both->now - both_draw(both, 1000) : 0, 8);
	bytes_put(value + CHECK_AT, value_check(value, (uint32_t)bytes_get(value + CRC_AT, 4)), 4);
}

static void say_damaged(struct both *both)
{
	unsigned char value[NEWER_VALUE_MAX + 1024] = {0};
	size_t size;
	const unsigned char *present = stored(both, &size);
	dw_head head = {.generation = version(both), .due = any_due(both)};

	if (!present || size < VALUE_HEAD_SIZE + VALUE_BODY_MIN || size > 1024)
		size = make_value(both, &head, 0, value);
	else
		memcpy(value, present, size);
	if (both_draw(both, 4) == 0)
		size = newer_value(&head, both->id, "topic", value);
	else if (both_draw(both, 2))
		forge(both, value);
	else
		value[both_draw(both, size)] ^= (unsigned char)(1u << both_draw(both, 8));
	both_bytes(both, value, both_draw(both, 6) ? size : 1 + (size_t)both_draw(both, size));
}

/* ---- Letters ------------------------------------------------------------------------------- */

static const char *const ids[BOTH_IDS] = {
    "a", "b", "\xc3\xa4\xf0\x9f\x98\x80", "x{tag}y", "a longer id, with a comma", "b2"};

static void say_id(struct both *both)
{
	both->id = ids[both_draw(both, BOTH_IDS)];
	both_text(both, both->id);
}

/* next_id chooses the id that the next words are about. */
static void next_id(struct both *both)
{
	both->id = ids[(both->first + both->round) % BOTH_IDS];
}

static void say_next_id(struct both *both)
{
	next_id(both);
	both_text(both, both->id);
}

static void say_version(struct both *both)
{
	uint64_t known = both_draw(both, 10) ? version(both) : time_near(both);

	both_number(both, known + (both_draw(both, 20) == 0));
}

static void say_version_or_none(struct both *both)
{
	both_number(both, both_draw(both, 2) ? version(both) : 0);
}

static void say_attempt(struct both *both)
{
	uint64_t attempt = stored_word(both, 4, 4) + (both_draw(both, 12) == 0);

	both_number(both, both_draw(both, 12) == 0 && attempt > 0 ? attempt - 1 : attempt);
}

static void say_fence(struct both *both)
{
	both_number(both, stored_word(both, CLAIM_AT, 8) + both_draw(both, 2));
}

static void say_letter_version(struct both *both)
{
	struct pick letter = pick(both, "d");
	size_t size = strlen(both->id);
	bool is_its = letter.size > size && memcmp(letter.name, both->id, size + 1) == 0;

	both_number(both, is_its ? strtoull(letter.name + size + 1, NULL, 10) : 0);
}

static void say_letter(struct both *both)
{
	struct pick letter = pick(both, "d");

	both_text(both, letter.value);
	both_bytes(both, letter.name, letter.size);
}

static void say_flags(struct both *both)
{
	char flags[BOTH_ROUNDS];

	both->version = both_draw(both, 5) ? time_near(both) : 0;
	for (unsigned i = 0; i < both->rounds; i++) {
		both->flags[i] = both_draw(both, 3) ? 0 : (unsigned)both_draw(both, 32);
		flags[i] = (char)('0' + both->flags[i]);
	}
	both_bytes(both, flags, both->rounds);
}

static void say_expected(struct both *both)
{
	next_id(both);
	if (both->flags[both->round] % 16 >= 8)
		say_version_or_none(both);
}

static void say_put_score(struct both *both)
{
	next_id(both);
	say_put(both);
}

static void say_claim_score(struct both *both)
{
	next_id(both);
	say_claim(both);
}

static void say_due(struct both *both)
{
	unsigned char bytes[8];

	bytes_put(bytes, (uint64_t)any_due(both), 8);
	both_bytes(both, bytes, 8);
}

static void say_started(struct both *both)
{
	unsigned char bytes[8] = {0};

	if (both_draw(both, 3))
		bytes_put(bytes, (uint64_t)both->now - both_draw(both, 1000), 8);
	both_bytes(both, bytes, 8);
}

static void say_time(struct both *both)
{
	both_number(both, time_near(both));
}

static void say_small(struct both *both)
{
	both_number(both, 1 + both_draw(both, 8));
}

static void say_byte(struct both *both)
{
	both_number(both, both_draw(both, both_draw(both, 2) ? 6 : 256));
}

static void say_place(struct both *both)
{
	double score = (double)value_score(any_due(both));

	if (both_draw(both, 2))
		(void)keyspace_score(both->keyspace, key_at(both, "z"), both->id,
				     &score); /* else the drawn score stays */
	if (both_draw(both, 3) == 0)
		both_text(both, "");
	else
		say_score(both, both_draw(both, 2), (dw_usec)fabs(score));
}

static void say_text(struct both *both)
{
	char text[255];
	size_t size = both_draw(both, 3) ? 0 : (size_t)both_draw(both, 20);

	if (both_draw(both, 30) == 0)
		size = sizeof text;
	memset(text, 'a' + (int)both_draw(both, 26), sizeof text);
	both_bytes(both, text, size);
}

/* say_guard adds the words of a caller, which are sometimes wrong. */
static void say_guard(struct both *both, bool owner)
{
	struct caller *caller = both->caller;

	both_text(both, owner ? "o" : "c");
	if (owner)
		both_text(both, both_draw(both, 40) ? caller->token : "123:x:1");
	else
		both_number(both, both_draw(both, 40) ? caller->conn : caller->conn + 1);
	if (owner || both_draw(both, 2))
		both_text(both, owner && both_draw(both, 60) ? caller->era : "");
	else
		both_number(both, both_draw(both, 30) ? BOTH_SHARDS : BOTH_SHARDS + 3);
	both_number(both, caller->number + 1 + (both_draw(both, 25) ? 0 : both_draw(both, 3)));
	both_number(both, BOTH_TTL_MS - both_draw(both, 1000));
	if (owner && both_draw(both, 8) == 0)
		both_number(both, time_near(both));
	else
		both_text(both, !owner && both_draw(both, 2) ? "{t:00}:wake" : "");
}

static void say_role(struct both *both)
{
	say_guard(both, both->caller->owner);
}

static void (*const letters[128])(struct both *) = {['i'] = say_id,
						    ['I'] = say_next_id,
						    ['v'] = say_version,
						    ['a'] = say_attempt,
						    ['l'] = say_letter_version,
						    ['P'] = say_flags,
						    ['U'] = say_put_score,
						    ['K'] = say_claim_score,
						    ['V'] = say_prepared,
						    ['x'] = say_expected,
						    ['W'] = say_value,
						    ['B'] = say_body,
						    ['X'] = say_damaged,
						    ['d'] = say_due,
						    ['D'] = say_time,
						    ['8'] = say_started,
						    ['n'] = say_small,
						    ['N'] = say_byte,
						    ['q'] = say_place,
						    ['w'] = say_text,
						    ['L'] = say_letter,
						    ['o'] = say_role,
						    ['b'] = say_role,
						    ['y'] = say_version_or_none,
						    ['F'] = say_fence};

/* say_choice adds one of the texts from `at` to the next ']'. Returns what follows the ']'. */
static const char *say_choice(struct both *both, const char *at)
{
	const char *end = strchr(at, ']');
	unsigned count = 1;
	uint64_t chosen;
	char text[256];

	for (const char *each = at; each < end; each++)
		count += *each == '|';
	for (chosen = both_draw(both, count); chosen > 0; chosen--)
		at = strchr(at, '|') + 1;
	(void)snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "|]"), at);
	both_text(both, text);
	return end + 1;
}

static const char *say_word(struct both *both, const char *at)
{
	if (*at == '[')
		return say_choice(both, at + 1);
	if (*at == '#') {
		both_key(both, (const char[]){at[1], '\0'});
		return at + 2;
	}
	assert_non_null(letters[(unsigned char)*at]);
	letters[(unsigned char)*at](both);
	return at + 1;
}

void both_words(struct both *both, const char *format)
{
	both->id = ids[both_draw(both, BOTH_IDS)];
	both->first = (unsigned)both_draw(both, BOTH_IDS);
	both->rounds = 1 + (unsigned)(both_draw(both, 3) ? 0 : both_draw(both, BOTH_ROUNDS));
	both->version = time_near(both);
	for (const char *at = format; *at;) {
		const char *from = at + 1;

		both->round = 0;
		if (*at != '(') {
			at = say_word(both, at);
			continue;
		}
		for (; both->round < both->rounds; both->round++)
			for (at = from; *at != ')';)
				at = say_word(both, at);
		at++;
	}
}
