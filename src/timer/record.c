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
	SEAL_SIZE = 8 + 8 + 4 + 4 + 4 + 1 + 1 + 8 + 4,
};

static const unsigned char magic[3] = {'D', 'W', 'T'};

size_t record_size(const struct record *record)
{
	return RECORD_HEADER_SIZE + record->id_size + record->topic_size +
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
	ret_body[AT_VERSION] = RECORD_VERSION;
	bytes_put(ret_body + AT_SIZE, size, 4);
	ret_body[AT_ID_SIZE] = record->id_size;
	ret_body[AT_TOPIC_SIZE] = record->topic_size;
	bytes_put(ret_body + AT_DATA_SIZE, record->data_size, 4);
	bytes_put(ret_body + AT_LATE_AFTER, (uint64_t)record->late_after, 8);
	memcpy(at, record->id, record->id_size);
	at += record->id_size;
	memcpy(at, record->topic, record->topic_size);
	at += record->topic_size;
	if (record->data_size)
		memcpy(at, record->data, record->data_size);
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

/* is_intact: true if a durawheel, perhaps a newer one, has written these bytes. */
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

/* has_names: true if id and topic are within the limits of the API. The topic "*" is not, because
 * it means all topics. */
static bool has_names(const struct record *record, size_t size)
{
	return RECORD_HEADER_SIZE + (size_t)record->id_size + record->topic_size <= size &&
	       is_name(record->id, record->id_size, DW_ID_MAX) &&
	       is_name(record->topic, record->topic_size, DW_TOPIC_MAX) &&
	       !(record->topic_size == 1 && record->topic[0] == '*');
}

int record_decode(const void *body, size_t size, struct record *ret_record)
{
	const unsigned char *bytes = body;
	static const struct record nameless = {.id = "", .topic = ""};
	struct record record = {0};

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
	    record.late_after < 0 || record_size(&record) != size)
		return DW_ECORRUPT;
	*ret_record = record;
	return DW_OK;
}

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
