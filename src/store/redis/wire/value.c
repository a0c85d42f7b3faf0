#include "store/redis/wire/value.h"

#include <string.h>

#include "base/bytes.h"
#include "port/op.h"
#include "timer/record.h"

enum {
	AT_OPEN = 1,
	AT_RETRIES = 2,
	AT_CRASHES = 3,
	AT_ATTEMPT = 4,
	AT_VER = 8,
	AT_DUE = 16,
	AT_CLAIM = 24,
	AT_CHECK = 32,
	AT_FORM = 36,
	AT_TOPIC_SIZE = 37,
	AT_CRC = 38,
	AT_LATE_AFTER = 42,
	AT_RECORD = 42,
	RECORD_CRC = 8, /* offset of the crc in a record */
	FORM_PLAIN = 1,
	FORM_LATE = 2,
	FORM_RECORD = 3,
	FORM_WHY = 16 /* added to one of the other forms if there is a text of dw_set_why() */
};

uint32_t value_check(const unsigned char *head, uint32_t crc)
{
	static const uint32_t factors[] = {40503, 52163, 60497, 39769, 45503,
					   57037, 33923, 63793, 50021};
	uint64_t sum = 64951;

	for (unsigned i = 0; i < 8; i++)
		sum += bytes_get(head + (size_t)4 * i, 4) * factors[i];
	return (uint32_t)((sum + (uint64_t)crc * factors[8]) % UINT64_C(4294967291));
}

int64_t value_score(dw_usec due)
{
	return due < 1 ? 1 : due > VALUE_SCORE_MAX ? VALUE_SCORE_MAX : due;
}

size_t value_pack(const void *bytes, size_t size, unsigned char *ret_packed)
{
	struct record record;
	unsigned char *at = ret_packed + VALUE_BODY_MIN;

	if (record_decode(bytes, size, &record) != DW_OK)
		return 0;
	if (record.blocks_size > 0) {
		ret_packed[0] = FORM_RECORD;
		ret_packed[1] = 0;
		memcpy(ret_packed + 2, (const unsigned char *)bytes + RECORD_CRC, 4);
		memcpy(at, bytes, size);
		return VALUE_BODY_MIN + size;
	}
	ret_packed[0] = record.late_after ? FORM_LATE : FORM_PLAIN;
	ret_packed[1] = record.topic_size;
	memcpy(ret_packed + 2, (const unsigned char *)bytes + RECORD_CRC, 4);
	if (record.late_after) {
		bytes_put(at, (uint64_t)record.late_after, 8);
		at += 8;
	}
	memcpy(at, record.topic, record.topic_size);
	at += record.topic_size;
	if (record.data_size)
		memcpy(at, record.data, record.data_size);
	return (size_t)(at - ret_packed) + record.data_size;
}

static void read_head(const unsigned char *bytes, dw_head *ret_head)
{
	*ret_head = (dw_head){.generation = bytes_get(bytes + AT_VER, 8),
			      .due = (dw_usec)bytes_get(bytes + AT_DUE, 8),
			      .attempt = (uint32_t)bytes_get(bytes + AT_ATTEMPT, 4),
			      .retries = bytes[AT_RETRIES],
			      .crashes = bytes[AT_CRASHES],
			      .state = bytes[0],
			      .open = bytes[AT_OPEN]};
}

static unsigned char byte_of(uint32_t number)
{
	return number < 255 ? (unsigned char)number : 255;
}

void value_head_write(unsigned char *ret_head, const dw_head *head, uint64_t claim, uint32_t crc)
{
	ret_head[0] = head->state;
	ret_head[AT_OPEN] = head->open;
	ret_head[AT_RETRIES] = byte_of(head->retries);
	ret_head[AT_CRASHES] = byte_of(head->crashes);
	bytes_put(ret_head + AT_ATTEMPT, head->attempt, 4);
	bytes_put(ret_head + AT_VER, head->generation, 8);
	bytes_put(ret_head + AT_DUE, (uint64_t)head->due, 8);
	bytes_put(ret_head + AT_CLAIM, claim, 8);
	bytes_put(ret_head + AT_CHECK, value_check(ret_head, crc), 4);
}

bool value_head(const void *bytes, size_t size, dw_head *ret_head)
{
	if (size != VALUE_HEAD_SIZE)
		return false;
	read_head(bytes, ret_head);
	return true;
}

size_t value_add_why(unsigned char *value, size_t size, const char *text, size_t text_size)
{
	if (text_size == 0)
		return size;
	value[AT_FORM] |= FORM_WHY;
	memcpy(value + size, text, text_size);
	value[size + text_size] = (unsigned char)text_size;
	return size + text_size + 1;
}

/* cut_why finds the text of dw_set_why() at the end of a value, and returns the size of the value
 * without it. Returns 0 if the value is too short to have the text. */
static size_t cut_why(const unsigned char *bytes, size_t size, struct why *ret_why)
{
	*ret_why = (struct why){0};
	if (!bytes || size <= AT_FORM || !(bytes[AT_FORM] & FORM_WHY))
		return size;
	ret_why->size = bytes[size - 1];
	if (size < AT_RECORD + 1u + ret_why->size)
		return 0;
	ret_why->text = (const char *)bytes + size - 1 - ret_why->size;
	return size - 1 - ret_why->size;
}

static unsigned form_of(const unsigned char *bytes)
{
	return bytes[AT_FORM] & ~(unsigned)FORM_WHY;
}

/* unpack reads the parts of the record, without the id. Returns false if value_pack cannot have
 * written these bytes. */
static bool unpack(const unsigned char *bytes, size_t size, struct record *ret_record)
{
	size_t at = AT_LATE_AFTER;
	struct record record = {0};

	if (size < at || (form_of(bytes) != FORM_PLAIN && form_of(bytes) != FORM_LATE))
		return false;
	if (form_of(bytes) == FORM_LATE) {
		if (size < at + 8)
			return false;
		record.late_after = (dw_usec)bytes_get(bytes + at, 8);
		at += 8;
	}
	record.topic_size = bytes[AT_TOPIC_SIZE];
	if (record.topic_size == 0 || size < at + record.topic_size ||
	    size - at - record.topic_size > DW_DATA_MAX)
		return false;
	record.topic = (const char *)bytes + at;
	record.data = bytes + at + record.topic_size;
	record.data_size = (uint32_t)(size - at - record.topic_size);
	*ret_record = record;
	return true;
}

static bool is_sound(const unsigned char *bytes)
{
	uint32_t crc = (uint32_t)bytes_get(bytes + AT_CRC, 4);

	return bytes[0] <= DW_CLAIMED && bytes_get(bytes + AT_CHECK, 4) == value_check(bytes, crc);
}

/* damaged_row makes a row of a damaged value, with as much of its head as can be read; missing
 * bytes are zero, as in the scripts. bytes is NULL if there is no value. */
static dw_row *damaged_row(const struct alloc *alloc, const char *id, const unsigned char *bytes,
			   size_t size)
{
	unsigned char head[VALUE_HEAD_SIZE] = {0};
	dw_row *row = row_new(alloc, id, NULL, 0);

	if (!row)
		return NULL;
	row->status = DW_ECORRUPT;
	row->deleted = !bytes;
	if (bytes)
		memcpy(head, bytes, size < sizeof head ? size : sizeof head);
	read_head(head, &row->head);
	return row;
}

/* record_row makes the row of a value whose body is a whole record (form 3). */
static dw_row *record_row(const struct alloc *alloc, const char *id, const unsigned char *bytes,
			  size_t size, const struct why *why)
{
	const unsigned char *body = bytes + AT_RECORD;
	size_t body_size = size - AT_RECORD;
	struct record record;
	int status = record_decode(body, body_size, &record);
	dw_row *row;

	if (status == DW_ECORRUPT || !is_sound(bytes) || bytes[AT_TOPIC_SIZE] != 0 ||
	    record_crc(body) != bytes_get(bytes + AT_CRC, 4))
		return damaged_row(alloc, id, bytes, size);
	row = row_new_told(alloc, id, body, body_size, why);
	if (!row)
		return NULL;
	row->status = status;
	read_head(bytes, &row->head);
	return row;
}

dw_row *value_row(const struct alloc *alloc, const char *id, size_t id_size, const void *bytes,
		  size_t size)
{
	char name[DW_ID_MAX + 1];
	struct record record;
	struct why why;
	dw_row *row;

	/* An id that another program wrote may have any length, and may contain a NUL. It is cut
	 * there or at DW_ID_MAX. */
	id_size = strnlen(id, id_size < DW_ID_MAX ? id_size : DW_ID_MAX);
	memcpy(name, id, id_size);
	name[id_size] = '\0';
	size = cut_why(bytes, size, &why);
	if (bytes && size >= AT_RECORD && form_of(bytes) == FORM_RECORD)
		return record_row(alloc, name, bytes, size, &why);
	if (!bytes || !unpack(bytes, size, &record) || !is_sound(bytes) || id_size == 0)
		return damaged_row(alloc, name, bytes, size);
	record.id = name;
	record.id_size = (uint8_t)id_size;
	row = row_new_told(alloc, name, NULL, record_size(&record), &why);
	if (!row)
		return NULL;
	record_restore(&record, (const unsigned char *)bytes + AT_CRC, row_room(row));
	read_head(bytes, &row->head);
	return row;
}
