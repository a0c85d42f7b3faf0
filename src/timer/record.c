#include "timer/record.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "base/utf8.h"

enum {
	AT_VERSION = 3,
	AT_SIZE = 4,
	AT_CRC = 8,
	AT_ID_SIZE = 12,
	AT_TOPIC_SIZE = 13,
	AT_ZERO = 14,
	AT_DATA_SIZE = 16,
	AT_LATE_AFTER = 20,
	AT_ID = RECORD_HEADER_SIZE,
	BLOCK_HEAD_SIZE = 4,
	BLOCK_MUST = 1, /* flag: a reader that does not know the tag leaves the timer alone */
	TAG_RULE = 1,
	TAG_SERIES = 2,
	TAG_KEEP = 3,
	TIME_SIZE = 8, /* size of a block that is one time or duration */
	RULE_START = 8,
	RULE_UNTIL = 16,
	RULE_COMPUTED = 24,
	RULE_MISSED = 32,
	RULE_TEXT = 36,
	SEAL_SIZE = 8 + 8 + 4 + 4 + 4 + 1 + 1 + 8 + 4,
};

static const unsigned char magic[3] = {'D', 'W', 'T'};

size_t record_size(const struct record *record)
{
	return RECORD_HEADER_SIZE + record->id_size + record->topic_size + record->blocks_size +
	       (size_t)record->data_size;
}

/* body_crc computes the checksum of the body, without the four bytes that store it. */
static uint32_t body_crc(const unsigned char *body, size_t size)
{
	uint32_t crc = crc32c(0, body, AT_CRC);

	return crc32c(crc, body + AT_ID_SIZE, size - AT_ID_SIZE);
}

/* write_fields writes everything but the checksum. */
static void write_fields(const struct record *record, unsigned char *ret_body)
{
	size_t size = record_size(record);
	unsigned char *at = ret_body + AT_ID;

	assert(record->id_size > 0 && record->topic_size > 0);
	memset(ret_body, 0, RECORD_HEADER_SIZE);
	memcpy(ret_body, magic, sizeof magic);
	ret_body[AT_VERSION] = record->blocks_size > 0 ? 2 : 1;
	bytes_put(ret_body + AT_SIZE, size, 4);
	ret_body[AT_ID_SIZE] = record->id_size;
	ret_body[AT_TOPIC_SIZE] = record->topic_size;
	bytes_put(ret_body + AT_DATA_SIZE, record->data_size, 4);
	bytes_put(ret_body + AT_LATE_AFTER, (uint64_t)record->late_after, 8);
	memcpy(at, record->id, record->id_size);
	at += record->id_size;
	memcpy(at, record->topic, record->topic_size);
	at += record->topic_size;
	if (record->blocks_size > 0)
		memcpy(at, record->blocks, record->blocks_size);
	if (record->data_size)
		memcpy(at + record->blocks_size, record->data, record->data_size);
}

void record_encode(const struct record *record, unsigned char *ret_body)
{
	write_fields(record, ret_body);
	bytes_put(ret_body + AT_CRC, body_crc(ret_body, record_size(record)), 4);
}

uint32_t record_crc(const void *body)
{
	return (uint32_t)bytes_get((const unsigned char *)body + AT_CRC, 4);
}

void record_restore(const struct record *record, const unsigned char *crc, unsigned char *ret_body)
{
	write_fields(record, ret_body);
	memcpy(ret_body + AT_CRC, crc, 4);
}

/* is_intact returns true if a durawheel, perhaps a newer one, has written these bytes. */
static bool is_intact(const unsigned char *bytes, size_t size)
{
	return size >= RECORD_HEADER_SIZE && memcmp(bytes, magic, sizeof magic) == 0 &&
	       bytes[AT_VERSION] >= 1 && bytes_get(bytes + AT_SIZE, 4) == size &&
	       bytes_get(bytes + AT_CRC, 4) == body_crc(bytes, size);
}

static bool is_name(const char *name, size_t size, size_t max)
{
	return size > 0 && size <= max && utf8_is_name(name, size);
}

/* has_names returns true if id and topic are within the limits of the API. The topic "*" is not
 * valid, because it means all topics. */
static bool has_names(const struct record *record, size_t size)
{
	return RECORD_HEADER_SIZE + (size_t)record->id_size + record->topic_size <= size &&
	       is_name(record->id, record->id_size, DW_ID_MAX) &&
	       is_name(record->topic, record->topic_size, DW_TOPIC_MAX) &&
	       !(record->topic_size == 1 && record->topic[0] == '*');
}

/* check_rule returns true if these are the bytes of a rule. */
static bool check_rule(const unsigned char *bytes, size_t size)
{
	return size > RULE_TEXT + 1u && size <= RULE_TEXT + DW_RULE_TEXT_MAX + 1u &&
	       strnlen((const char *)bytes + RULE_TEXT, size - RULE_TEXT) == size - RULE_TEXT - 1 &&
	       (dw_usec)bytes_get(bytes, 8) >= 0 && (dw_usec)bytes_get(bytes + RULE_START, 8) >= 0;
}

/* check_blocks returns DW_OK, DW_ECORRUPT, or DW_ENEWER if there is an unknown block that a reader
 * must know. */
static int check_blocks(const unsigned char *at, size_t size)
{
	const unsigned char *end = at + size;
	int status = DW_OK;
	unsigned tag = 0;

	while (at < end) {
		size_t left = (size_t)(end - at), block;

		if (left < BLOCK_HEAD_SIZE || at[0] <= tag)
			return DW_ECORRUPT;
		tag = at[0];
		block = (size_t)bytes_get(at + 2, 2);
		if (block > left - BLOCK_HEAD_SIZE)
			return DW_ECORRUPT;
		if (tag == TAG_RULE && !check_rule(at + BLOCK_HEAD_SIZE, block))
			return DW_ECORRUPT;
		if ((tag == TAG_SERIES || tag == TAG_KEEP) && block != TIME_SIZE)
			return DW_ECORRUPT;
		if (tag > TAG_KEEP && at[1] & BLOCK_MUST)
			status = DW_ENEWER;
		at += BLOCK_HEAD_SIZE + block;
	}
	return status;
}

/* read_blocks sets blocks and data of a record of version 2, whose id and topic are known. */
static int read_blocks(const unsigned char *bytes, size_t size, struct record *record)
{
	size_t left = size - (RECORD_HEADER_SIZE + (size_t)record->id_size + record->topic_size);
	const unsigned char *at = bytes + size - left;

	if (bytes[AT_VERSION] == 1)
		return DW_OK;
	if (record->data_size > left || left - record->data_size > RECORD_BLOCKS_MAX)
		return DW_ECORRUPT;
	record->blocks = at;
	record->blocks_size = (uint16_t)(left - record->data_size);
	record->data = at + record->blocks_size;
	return check_blocks(at, record->blocks_size);
}

int record_decode(const void *body, size_t size, struct record *ret_record)
{
	const unsigned char *bytes = body;
	static const struct record nameless = {.id = "", .topic = ""};
	struct record record = {0};
	int status;

	if (!is_intact(bytes, size))
		return DW_ECORRUPT;
	record.id = (const char *)bytes + AT_ID;
	record.id_size = bytes[AT_ID_SIZE];
	record.topic = record.id + record.id_size;
	record.topic_size = bytes[AT_TOPIC_SIZE];
	if (bytes[AT_VERSION] > RECORD_VERSION) {
		*ret_record = has_names(&record, size) ? record : nameless;
		return DW_ENEWER;
	}
	if (!has_names(&record, size))
		return DW_ECORRUPT;
	record.data = record.topic + record.topic_size;
	record.data_size = (uint32_t)bytes_get(bytes + AT_DATA_SIZE, 4);
	record.late_after = (dw_usec)bytes_get(bytes + AT_LATE_AFTER, 8);
	if (bytes_get(bytes + AT_ZERO, 2) != 0 || record.data_size > DW_DATA_MAX ||
	    record.late_after < 0)
		return DW_ECORRUPT;
	status = read_blocks(bytes, size, &record);
	if (status == DW_ECORRUPT || record_size(&record) != size)
		return DW_ECORRUPT;
	if (status == DW_ENEWER) {
		record.blocks_size = 0;
		record.data_size = 0;
		record.data = NULL;
	}
	*ret_record = record;
	return status;
}

/* ---- The rule ------------------------------------------------------------------------------ */

static void put_numbers(unsigned char *at, const struct record_rule *rule)
{
	bytes_put(at, (uint64_t)rule->occurrence, 8);
	bytes_put(at + RULE_START, (uint64_t)rule->start, 8);
	bytes_put(at + RULE_UNTIL, (uint64_t)rule->until, 8);
	bytes_put(at + RULE_COMPUTED, (uint64_t)rule->computed, 8);
	bytes_put(at + RULE_MISSED, rule->missed, 4);
}

size_t record_rule_write(const struct record_rule *rule, unsigned char *ret_blocks)
{
	size_t size = strlen(rule->text) + 1;
	unsigned char *at = ret_blocks + BLOCK_HEAD_SIZE;

	assert(size > 1 && size <= DW_RULE_TEXT_MAX + 1u);
	ret_blocks[0] = TAG_RULE;
	ret_blocks[1] = BLOCK_MUST;
	bytes_put(ret_blocks + 2, RULE_TEXT + size, 2);
	put_numbers(at, rule);
	memcpy(at + RULE_TEXT, rule->text, size);
	return BLOCK_HEAD_SIZE + RULE_TEXT + size;
}

/* size_of returns the size of an intact body. */
static size_t size_of(const unsigned char *body)
{
	return (size_t)bytes_get(body + AT_SIZE, 4);
}

/* rule_at returns where the numbers of an intact body's rule begin, or 0 if it has no rule. The
 * rule has the lowest tag, so it is the first block. */
static size_t rule_at(const unsigned char *body)
{
	size_t at = RECORD_HEADER_SIZE + (size_t)body[AT_ID_SIZE] + body[AT_TOPIC_SIZE];

	if (body[AT_VERSION] != 2 || size_of(body) - bytes_get(body + AT_DATA_SIZE, 4) <= at ||
	    body[at] != TAG_RULE)
		return 0;
	return at + BLOCK_HEAD_SIZE;
}

bool record_rule(const void *body, struct record_rule *ret_rule)
{
	size_t offset = rule_at(body);
	const unsigned char *at = (const unsigned char *)body + offset;

	if (offset == 0)
		return false;
	*ret_rule = (struct record_rule){.text = (const char *)at + RULE_TEXT,
					 .occurrence = (dw_usec)bytes_get(at, 8),
					 .start = (dw_usec)bytes_get(at + RULE_START, 8),
					 .until = (dw_usec)bytes_get(at + RULE_UNTIL, 8),
					 .computed = (dw_usec)bytes_get(at + RULE_COMPUTED, 8),
					 .missed = (uint32_t)bytes_get(at + RULE_MISSED, 4)};
	return true;
}

void record_renew(unsigned char *body, const struct record_rule *rule)
{
	unsigned char *at = body + rule_at(body);

	assert(at > body);
	put_numbers(at, rule);
	bytes_put(body + AT_CRC, body_crc(body, size_of(body)), 4);
}

/* ---- Times --------------------------------------------------------------------------------- */

/* write_time writes a block that is one time or duration. A reader that does not know the tag may
 * ignore the block. */
static size_t write_time(unsigned tag, dw_usec time, unsigned char *ret_blocks)
{
	ret_blocks[0] = (unsigned char)tag;
	ret_blocks[1] = 0;
	bytes_put(ret_blocks + 2, TIME_SIZE, 2);
	bytes_put(ret_blocks + BLOCK_HEAD_SIZE, (uint64_t)time, 8);
	return BLOCK_HEAD_SIZE + TIME_SIZE;
}

/* read_time returns the time or duration in the block with this tag of an intact body. It returns 0
 * if there is no such block. */
static dw_usec read_time(const unsigned char *body, unsigned tag)
{
	size_t at = RECORD_HEADER_SIZE + (size_t)body[AT_ID_SIZE] + body[AT_TOPIC_SIZE];
	size_t end = size_of(body) - bytes_get(body + AT_DATA_SIZE, 4);

	if (body[AT_VERSION] != 2)
		return 0;
	while (at < end && body[at] < tag)
		at += BLOCK_HEAD_SIZE + (size_t)bytes_get(body + at + 2, 2);
	return at < end && body[at] == tag ? (dw_usec)bytes_get(body + at + BLOCK_HEAD_SIZE, 8) : 0;
}

size_t record_series_write(dw_usec since, unsigned char *ret_blocks)
{
	return write_time(TAG_SERIES, since, ret_blocks);
}

dw_usec record_series(const void *body)
{
	return read_time(body, TAG_SERIES);
}

size_t record_keep_write(dw_usec keep, unsigned char *ret_blocks)
{
	return write_time(TAG_KEEP, keep, ret_blocks);
}

dw_usec record_keep(const void *body)
{
	return read_time(body, TAG_KEEP);
}

/* ---- Comparing ----------------------------------------------------------------------------- */

bool record_recurs(const void *body, const void *other)
{
	const unsigned char *a = body, *b = other;
	size_t at = rule_at(a), size = size_of(a);

	return at > 0 && size == size_of(b) && rule_at(b) == at && memcmp(a, b, AT_CRC) == 0 &&
	       memcmp(a + AT_ID_SIZE, b + AT_ID_SIZE, at - AT_ID_SIZE) == 0 &&
	       memcmp(a + at + RULE_TEXT, b + at + RULE_TEXT, size - at - RULE_TEXT) == 0;
}

/* ---- Limits -------------------------------------------------------------------------------- */

bool record_breaks_limit(const void *body, size_t size, char ret_words[RECORD_WORDS_SIZE])
{
	const unsigned char *bytes = body;
	struct record record;

	if (!is_intact(bytes, size) || record_decode(body, size, &record) != DW_ECORRUPT)
		return false;
	if (bytes[AT_TOPIC_SIZE] > DW_TOPIC_MAX)
		(void)snprintf(ret_words, RECORD_WORDS_SIZE,
			       "has a topic of %u bytes, at most %d are allowed",
			       (unsigned)bytes[AT_TOPIC_SIZE], DW_TOPIC_MAX);
	else
		(void)snprintf(ret_words, RECORD_WORDS_SIZE,
			       "has an id, a topic, data or a time that is not allowed");
	return true; /* the words always fit */
}

int record_of_row(const dw_row *row, struct record *ret_record)
{
	struct record record;
	int status = DW_ECORRUPT;

	if (row->status != DW_ECORRUPT)
		status = record_decode(row->body, row->body_size, &record);
	if (status == DW_ECORRUPT)
		return status;
	if (!record_is_nameless(&record) &&
	    (strlen(row->id) != record.id_size || memcmp(row->id, record.id, record.id_size) != 0))
		return DW_ECORRUPT;
	*ret_record = record;
	return status;
}

unsigned record_version(const void *body)
{
	return ((const unsigned char *)body)[AT_VERSION];
}

uint32_t record_seal(const dw_head *head, uint64_t token, const void *body)
{
	unsigned char bytes[SEAL_SIZE];
	unsigned char *at = bytes;

	bytes_put(at, head->generation, 8);
	bytes_put(at += 8, (uint64_t)head->due, 8);
	bytes_put(at += 8, head->attempt, 4);
	bytes_put(at += 4, head->retries, 4);
	bytes_put(at += 4, head->crashes, 4);
	bytes_put(at += 4, head->state, 1);
	bytes_put(at += 1, head->open, 1);
	bytes_put(at += 1, token, 8);
	memcpy(at + 8, (const unsigned char *)body + AT_CRC, 4);
	return crc32c(0, bytes, sizeof bytes);
}
