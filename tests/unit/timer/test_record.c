/* A timer as bytes. The golden bytes were made by another program; they never change: a stored
 * timer of version 1 must be read by every later release, and one of version 3 must be known as one
 * by this release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "timer/record.h"
#include "support/newer.h"
#include "support/seed.h"

#include <stdlib.h>

static const unsigned char golden[] =
    "\x44\x57\x54\x01\x34\x00\x00\x00\xee\x3f\x9f\xf7\x08\x0d\x00\x00\x03\x00\x00\x00"
    "\x00\xd8\x75\x07\x05\x00\x00\x00"
    "order:42"
    "order.timeout"
    "\x00\xff"
    "a";
enum { GOLDEN_SIZE = sizeof golden - 1 };

/* Bytes 16 to 27 and what follows the topic are the later version's own. */
static const unsigned char golden_newer[] =
    "\x44\x57\x54\x03\x40\x00\x00\x00\x8c\x95\x97\xc7\x08\x0d\x00\x00\xa0\xa1\xa2\xa3"
    "\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab"
    "order:42"
    "order.timeout"
    "\x01\x00\x02\x00\x00\xff\x87\x01\x05\x00"
    "daily";
enum { GOLDEN_NEWER_SIZE = sizeof golden_newer - 1 };

/* A recurring timer, of version 2. */
static const unsigned char golden_rule[] =
    "\x44\x57\x54\x02\x84\x00\x00\x00\x56\x12\x23\xf2\x0a\x0a\x00\x00"
    "\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
    "exam.today"
    "exam.today"
    "\x01\x01\x4d\x00\x00\x00\xd9\x18\x01\x61\x06\x00\x00\xb8\xb1\x6b"
    "\xff\x60\x06\x00\xff\xff\xff\xff\xff\xff\xff\x7f\x01\xb8\xb1\x6b"
    "\xff\x60\x06\x00\x02\x00\x00\x00"
    "cron 0 8 * * mon-fri; zone Europe/London\0"
    "\x00\xff"
    "a";
enum { GOLDEN_RULE_SIZE = sizeof golden_rule - 1 };

static struct record golden_record(void)
{
	return (struct record){
	    .id = "order:42",
	    .id_size = 8,
	    .topic = "order.timeout",
	    .topic_size = 13,
	    .data = "\x00\xff"
		    "a",
	    .data_size = 3,
	    .late_after = DW_HOURS(6),
	};
}

static dw_head golden_head(void)
{
	return (dw_head){
	    .generation = 7,
	    .due = INT64_C(1780306200000000),
	    .attempt = 3,
	    .retries = 2,
	    .crashes = 1,
	    .state = DW_CLAIMED,
	    .open = 0,
	};
}

static const uint64_t golden_token = UINT64_C(0x1122334455667788);

static void body_of_version_1_is_golden(void **state)
{
	struct record record = golden_record();
	unsigned char body[GOLDEN_SIZE];

	(void)state;
	assert_int_equal(record_size(&record), GOLDEN_SIZE);
	record_encode(&record, body);
	assert_memory_equal(body, golden, GOLDEN_SIZE);
}

static void body_decoded_is_what_was_encoded(void **state)
{
	struct record expected = golden_record();
	struct record record;

	(void)state;
	assert_int_equal(record_decode(golden, GOLDEN_SIZE, &record), DW_OK);
	assert_int_equal(record.id_size, expected.id_size);
	assert_memory_equal(record.id, expected.id, expected.id_size);
	assert_int_equal(record.topic_size, expected.topic_size);
	assert_memory_equal(record.topic, expected.topic, expected.topic_size);
	assert_int_equal(record.data_size, expected.data_size);
	assert_memory_equal(record.data, expected.data, expected.data_size);
	assert_true(record.late_after == expected.late_after);
}

static void body_with_any_bit_flipped_is_corrupt(void **state)
{
	unsigned char body[GOLDEN_SIZE];
	struct record record;

	(void)state;
	memcpy(body, golden, GOLDEN_SIZE);
	for (size_t bit = 0; bit < 8 * GOLDEN_SIZE; bit++) {
		body[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_int_equal(record_decode(body, GOLDEN_SIZE, &record), DW_ECORRUPT);
		body[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	assert_int_equal(record_decode(body, GOLDEN_SIZE, &record), DW_OK);
}

static void body_cut_or_longer_is_corrupt(void **state)
{
	unsigned char body[GOLDEN_SIZE + 1] = {0};
	struct record record;

	(void)state;
	memcpy(body, golden, GOLDEN_SIZE);
	for (size_t size = 0; size < GOLDEN_SIZE; size++)
		assert_int_equal(record_decode(body, size, &record), DW_ECORRUPT);
	assert_int_equal(record_decode(body, GOLDEN_SIZE + 1, &record), DW_ECORRUPT);
}

static void body_at_the_limits_survives(void **state)
{
	static char id[DW_ID_MAX], topic[DW_TOPIC_MAX], data[DW_DATA_MAX];
	static unsigned char body[RECORD_HEADER_SIZE + sizeof id + sizeof topic + sizeof data];
	struct record record = {
	    .id = id,
	    .id_size = sizeof id,
	    .topic = topic,
	    .topic_size = sizeof topic,
	    .data = data,
	    .data_size = sizeof data,
	    .late_after = INT64_MAX,
	};
	struct record again;

	(void)state;
	memset(id, 'i', sizeof id);
	memset(topic, 't', sizeof topic);
	memset(data, 0xd8, sizeof data);
	assert_int_equal(record_size(&record), sizeof body);
	record_encode(&record, body);
	assert_int_equal(record_decode(body, sizeof body, &again), DW_OK);
	assert_memory_equal(again.id, id, sizeof id);
	assert_memory_equal(again.topic, topic, sizeof topic);
	assert_memory_equal(again.data, data, sizeof data);
	assert_true(again.late_after == INT64_MAX);
}

/* An intact body whose names, sizes or times no caller can have given: its checksum is right. */
static void assert_refused(struct record record)
{
	static unsigned char body[RECORD_HEADER_SIZE + 512 + DW_DATA_MAX + 1];
	struct record again;

	record_encode(&record, body);
	assert_int_equal(record_decode(body, record_size(&record), &again), DW_ECORRUPT);
}

static void body_beyond_a_limit_is_told_from_a_damaged_one(void **state)
{
	unsigned char body[RECORD_HEADER_SIZE + 512];
	struct record record = golden_record();
	char words[RECORD_WORDS_SIZE] = "";
	char topic[200];

	(void)state;
	memset(topic, 't', sizeof topic);
	assert_false(record_breaks_limit(golden, GOLDEN_SIZE, words));
	assert_false(record_breaks_limit(NULL, 0, words));
	record.topic = topic;
	record.topic_size = sizeof topic;
	record_encode(&record, body);
	assert_true(record_breaks_limit(body, record_size(&record), words));
	assert_string_equal(words, "has a topic of 200 bytes, at most 63 are allowed");
	body[RECORD_HEADER_SIZE] ^= 1;
	assert_false(record_breaks_limit(body, record_size(&record), words));
	record = golden_record();
	record.late_after = -1;
	record_encode(&record, body);
	assert_true(record_breaks_limit(body, record_size(&record), words));
	assert_string_equal(words, "has an id, a topic, data or a time that is not allowed");
}

static void body_beyond_a_limit_is_corrupt(void **state)
{
	static const char *const bad[] = {"a\nb", "\x7f", "\xff", "\xc0\x80", "\xed\xa0\x80"};
	static char data[DW_DATA_MAX + 1];
	char topic[UINT8_MAX];
	struct record record = golden_record();

	(void)state;
	memset(topic, 't', sizeof topic);
	record.topic = topic;
	for (unsigned size = DW_TOPIC_MAX + 1; size <= UINT8_MAX; size++) {
		record.topic_size = (uint8_t)size;
		assert_refused(record);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		record = golden_record();
		record.topic = bad[i];
		record.topic_size = (uint8_t)strlen(bad[i]);
		assert_refused(record);
		record = golden_record();
		record.id = bad[i];
		record.id_size = (uint8_t)strlen(bad[i]);
		assert_refused(record);
	}
	record = golden_record();
	record.topic = "*"; /* dw_on() means all by it */
	record.topic_size = 1;
	assert_refused(record);
	record = golden_record();
	record.data = data;
	record.data_size = sizeof data;
	assert_refused(record);
	record = golden_record();
	record.late_after = -1;
	assert_refused(record);
}

static void body_of_a_later_version_is_newer_and_has_its_names(void **state)
{
	struct record record = {0};
	unsigned char body[GOLDEN_NEWER_SIZE];

	(void)state;
	assert_int_equal(record_decode(golden_newer, GOLDEN_NEWER_SIZE, &record), DW_ENEWER);
	assert_int_equal(record.id_size, 8);
	assert_memory_equal(record.id, "order:42", 8);
	assert_int_equal(record.topic_size, 13);
	assert_memory_equal(record.topic, "order.timeout", 13);
	assert_int_equal(record.data_size, 0);
	memcpy(body, golden_newer, sizeof body);
	for (unsigned version = RECORD_VERSION + 1; version <= UINT8_MAX; version++) {
		body[3] = (unsigned char)version;
		newer_seal(body, sizeof body);
		assert_int_equal(record_decode(body, sizeof body, &record), DW_ENEWER);
	}
	body[3] = 0; /* never was one */
	newer_seal(body, sizeof body);
	assert_int_equal(record_decode(body, sizeof body, &record), DW_ECORRUPT);
}

/* A later version may allow longer names, or keep them elsewhere. */
static void body_of_a_later_version_is_newer_whatever_its_names(void **state)
{
	enum { AT_ID_SIZE = 12, AT_TOPIC_SIZE = 13 };
	unsigned char body[GOLDEN_NEWER_SIZE];
	struct record record;
	dw_row row = {.id = "order:42", .body = body, .body_size = sizeof body};

	(void)state;
	memcpy(body, golden_newer, sizeof body);
	for (unsigned size = 0; size <= UINT8_MAX; size++) {
		body[AT_ID_SIZE] = body[AT_TOPIC_SIZE] = (unsigned char)size;
		newer_seal(body, sizeof body);
		assert_int_equal(record_decode(body, sizeof body, &record), DW_ENEWER);
		if (size > 0 && !record_is_nameless(&record))
			continue;
		assert_int_equal(record.topic_size, 0);
		assert_int_equal(record_of_row(&row, &record), DW_ENEWER);
	}
}

static void body_of_a_later_version_with_any_bit_flipped_is_corrupt(void **state)
{
	unsigned char body[GOLDEN_NEWER_SIZE];
	struct record record;

	(void)state;
	memcpy(body, golden_newer, sizeof body);
	for (size_t bit = 0; bit < 8 * sizeof body; bit++) {
		body[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_int_equal(record_decode(body, sizeof body, &record), DW_ECORRUPT);
		body[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (size_t size = 0; size < sizeof body; size++)
		assert_int_equal(record_decode(body, size, &record), DW_ECORRUPT);
}

/* A row has the id that it is looked for by. */
static void row_with_the_body_of_another_id_is_corrupt(void **state)
{
	dw_row row = {.id = "order:42", .body = golden, .body_size = GOLDEN_SIZE};
	struct record record;

	(void)state;
	assert_int_equal(record_of_row(&row, &record), DW_OK);
	row.id = "order:4";
	assert_int_equal(record_of_row(&row, &record), DW_ECORRUPT);
	row.body = golden_newer;
	row.body_size = GOLDEN_NEWER_SIZE;
	assert_int_equal(record_of_row(&row, &record), DW_ECORRUPT);
	row.id = "order:42";
	assert_int_equal(record_of_row(&row, &record), DW_ENEWER);
	row.status = DW_ECORRUPT;
	assert_int_equal(record_of_row(&row, &record), DW_ECORRUPT);
}

/* mutate changes some bytes, or the size, of one of the golden bodies; its checksum is right. */
static size_t mutate(struct rng *rng, unsigned char *body)
{
	static const struct {
		const unsigned char *bytes;
		size_t size;
	} all[] = {{golden, GOLDEN_SIZE},
		   {golden_newer, GOLDEN_NEWER_SIZE},
		   {golden_rule, GOLDEN_RULE_SIZE}};
	size_t which = (size_t)rng_below(rng, 3), size = all[which].size;
	int changes = (int)rng_below(rng, 4);

	memcpy(body, all[which].bytes, size);
	if (rng_below(rng, 4) == 0)
		size = RECORD_HEADER_SIZE + (size_t)rng_below(rng, size - RECORD_HEADER_SIZE + 1);
	while (changes-- > 0) {
		size_t at = (size_t)rng_below(rng, size);

		body[at] = (unsigned char)rng_below(rng, 256);
	}
	newer_seal(body, size);
	return size;
}

static void assert_within(const struct record *record, const unsigned char *body, size_t size)
{
	const unsigned char *end = body + size;

	assert_in_range(record->id_size, 1, DW_ID_MAX);
	assert_in_range(record->topic_size, 1, DW_TOPIC_MAX);
	assert_true((const unsigned char *)record->topic + record->topic_size <= end);
	assert_true(record->late_after >= 0);
	assert_true(record->data_size <= DW_DATA_MAX);
	if (record->data)
		assert_ptr_equal((const unsigned char *)record->data + record->data_size, end);
}

static void body_with_a_rule_is_as_it_was_written(void **state)
{
	struct record_rule rule = {.text = "cron 0 8 * * mon-fri; zone Europe/London",
				   .occurrence = INT64_C(1795507200000000),
				   .start = INT64_C(1795500000000000),
				   .until = DW_NEVER,
				   .computed = INT64_C(1795500000000001),
				   .missed = 2};
	unsigned char blocks[RECORD_BLOCKS_MAX], body[GOLDEN_RULE_SIZE];
	struct record record = golden_record(), again;
	struct record_rule found;

	(void)state;
	record.id = record.topic = "exam.today";
	record.id_size = record.topic_size = 10;
	record.late_after = 0;
	record.blocks = blocks;
	record.blocks_size = (uint16_t)record_rule_write(&rule, blocks);
	assert_int_equal(record_size(&record), GOLDEN_RULE_SIZE);
	record_encode(&record, body);
	assert_memory_equal(body, golden_rule, GOLDEN_RULE_SIZE);
	assert_int_equal(record_decode(body, GOLDEN_RULE_SIZE, &again), DW_OK);
	assert_int_equal(again.data_size, 3);
	assert_memory_equal(again.data, record.data, 3);
	assert_true(record_rule(body, &found));
	assert_string_equal(found.text, rule.text);
	assert_int_equal(found.occurrence, rule.occurrence);
	assert_int_equal(found.start, rule.start);
	assert_int_equal(found.until, rule.until);
	assert_int_equal(found.computed, rule.computed);
	assert_int_equal(found.missed, rule.missed);
	assert_false(record_rule(golden, &found));
}

static void renewed_body_differs_only_in_its_occurrence(void **state)
{
	enum { AT_FLAGS = 28 + 20 + 1, AT_TEXT = AT_FLAGS + 39 };
	unsigned char body[GOLDEN_RULE_SIZE], other[GOLDEN_RULE_SIZE];
	struct record_rule rule;
	struct record record;

	(void)state;
	memcpy(body, golden_rule, sizeof body);
	assert_true(record_rule(body, &rule));
	rule.occurrence += DW_DAYS(1);
	rule.missed = 0;
	record_renew(body, &rule);
	assert_int_equal(record_decode(body, sizeof body, &record), DW_OK);
	assert_true(record_rule(body, &rule));
	assert_int_equal(rule.occurrence, INT64_C(1795507200000000) + DW_DAYS(1));
	assert_true(record_recurs(body, golden_rule));
	memcpy(other, golden_rule, sizeof other);
	other[AT_TEXT] ^= 1;
	newer_seal(other, sizeof other);
	assert_false(record_recurs(body, other));
	other[AT_TEXT] ^= 1;
	other[sizeof other - 1] ^= 1; /* data */
	newer_seal(other, sizeof other);
	assert_false(record_recurs(body, other));
	assert_false(record_recurs(golden, golden));
}

/* A block that must be known makes the timer newer; another one is passed over and kept. */
static void unknown_block_of_this_version_says_what_to_do(void **state)
{
	unsigned char blocks[] = {9, 1, 1, 0, 'x'};
	unsigned char body[GOLDEN_SIZE + sizeof blocks];
	struct record record = golden_record();

	(void)state;
	record.blocks = blocks;
	record.blocks_size = sizeof blocks;
	record_encode(&record, body);
	assert_int_equal(record_decode(body, sizeof body, &record), DW_ENEWER);
	assert_int_equal(record.id_size, 8);
	assert_int_equal(record.data_size, 0);
	record = golden_record();
	blocks[1] = 0;
	record.blocks = blocks;
	record.blocks_size = sizeof blocks;
	record_encode(&record, body);
	assert_int_equal(record_decode(body, sizeof body, &record), DW_OK);
	assert_int_equal(record.blocks_size, sizeof blocks);
	assert_int_equal(record.data_size, 3);
	blocks[2] = 2; /* beyond the blocks */
	record.blocks = blocks;
	record_encode(&record, body);
	assert_int_equal(record_decode(body, sizeof body, &record), DW_ECORRUPT);
}

/* Whoever writes a store may give it bytes with the right checksum. A copy of exactly its size lets
 * the sanitizers see a byte that is read beyond it. */
static void body_of_any_bytes_with_a_right_checksum_is_within_the_limits(void **state)
{
	struct rng rng = seed_of_test();
	int seen[3] = {0};

	(void)state;
	for (int i = 0; i < 200000; i++) {
		unsigned char body[GOLDEN_RULE_SIZE];
		size_t size = mutate(&rng, body);
		unsigned char *copy = malloc(size);
		struct record record = {0};
		int status;

		assert_non_null(copy);
		memcpy(copy, body, size);
		status = record_decode(copy, size, &record);
		seen[status == DW_OK ? 0 : status == DW_ENEWER ? 1 : 2]++;
		if (status == DW_OK || (status == DW_ENEWER && !record_is_nameless(&record)))
			assert_within(&record, copy, size);
		free(copy);
	}
	for (int i = 0; i < 3; i++)
		assert_true(seen[i] > 1000);
}

static void body_of_random_bytes_is_corrupt(void **state)
{
	struct rng rng = seed_of_test();
	unsigned char body[64];
	struct record record;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		size_t size = (size_t)rng_below(&rng, sizeof body + 1);

		for (size_t k = 0; k < size; k++)
			body[k] = (unsigned char)rng_below(&rng, 256);
		if (size >= 8) { /* past the first checks */
			memcpy(body, golden, 4);
			memset(body + 4, 0, 4);
			body[4] = (unsigned char)size;
		}
		assert_int_equal(record_decode(body, size, &record), DW_ECORRUPT);
	}
}

static void seal_of_version_1_is_golden(void **state)
{
	dw_head head = golden_head();

	(void)state;
	assert_int_equal(record_seal(&head, golden_token, golden), 0x8263996cu);
}

/* Every bit of every field of the head, of the token and of the body's checksum. */
static void seal_changes_with_every_bit(void **state)
{
	const uint32_t seal = record_seal(&(dw_head){0}, 0, golden);
	unsigned char other[GOLDEN_SIZE];

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t one = UINT64_C(1) << bit;

		assert_int_not_equal(record_seal(&(dw_head){.generation = one}, 0, golden), seal);
		assert_int_not_equal(record_seal(&(dw_head){.due = (dw_usec)one}, 0, golden), seal);
		assert_int_not_equal(record_seal(&(dw_head){0}, one, golden), seal);
	}
	for (unsigned bit = 0; bit < 32; bit++) {
		uint32_t one = 1u << bit;

		assert_int_not_equal(record_seal(&(dw_head){.attempt = one}, 0, golden), seal);
		assert_int_not_equal(record_seal(&(dw_head){.retries = one}, 0, golden), seal);
		assert_int_not_equal(record_seal(&(dw_head){.crashes = one}, 0, golden), seal);
		memcpy(other, golden, GOLDEN_SIZE);
		other[8 + bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_int_not_equal(record_seal(&(dw_head){0}, 0, other), seal);
	}
	for (unsigned bit = 0; bit < 8; bit++) {
		uint8_t one = (uint8_t)(1u << bit);

		assert_int_not_equal(record_seal(&(dw_head){.state = one}, 0, golden), seal);
		assert_int_not_equal(record_seal(&(dw_head){.open = one}, 0, golden), seal);
	}
}

/* The same number in another field is another head. */
static void seal_tells_the_fields_apart(void **state)
{
	const uint32_t seals[] = {
	    record_seal(&(dw_head){.generation = 5}, 0, golden),
	    record_seal(&(dw_head){.due = 5}, 0, golden),
	    record_seal(&(dw_head){.attempt = 5}, 0, golden),
	    record_seal(&(dw_head){.retries = 5}, 0, golden),
	    record_seal(&(dw_head){.crashes = 5}, 0, golden),
	    record_seal(&(dw_head){.state = 5}, 0, golden),
	    record_seal(&(dw_head){.open = 5}, 0, golden),
	    record_seal(&(dw_head){0}, 5, golden),
	};
	size_t count = sizeof seals / sizeof seals[0];

	(void)state;
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++)
			assert_int_not_equal(seals[i], seals[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(body_of_version_1_is_golden),
	    cmocka_unit_test(body_decoded_is_what_was_encoded),
	    cmocka_unit_test(body_with_any_bit_flipped_is_corrupt),
	    cmocka_unit_test(body_cut_or_longer_is_corrupt),
	    cmocka_unit_test(body_at_the_limits_survives),
	    cmocka_unit_test(body_beyond_a_limit_is_told_from_a_damaged_one),
	    cmocka_unit_test(body_beyond_a_limit_is_corrupt),
	    cmocka_unit_test(body_of_a_later_version_is_newer_and_has_its_names),
	    cmocka_unit_test(body_of_a_later_version_is_newer_whatever_its_names),
	    cmocka_unit_test(body_of_a_later_version_with_any_bit_flipped_is_corrupt),
	    cmocka_unit_test(body_with_a_rule_is_as_it_was_written),
	    cmocka_unit_test(renewed_body_differs_only_in_its_occurrence),
	    cmocka_unit_test(unknown_block_of_this_version_says_what_to_do),
	    cmocka_unit_test(row_with_the_body_of_another_id_is_corrupt),
	    cmocka_unit_test(body_of_any_bytes_with_a_right_checksum_is_within_the_limits),
	    cmocka_unit_test(body_of_random_bytes_is_corrupt),
	    cmocka_unit_test(seal_of_version_1_is_golden),
	    cmocka_unit_test(seal_changes_with_every_bit),
	    cmocka_unit_test(seal_tells_the_fields_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
