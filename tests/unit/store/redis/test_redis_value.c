/* A timer as Redis keeps it. The golden bytes were made by another program and never change. */
#include <string.h>

#include "base/alloc.h"
#include "port/op.h"
#include "store/redis/wire/value.h"
#include "support/cmocka.h"
#include "support/newer.h"
#include "timer/record.h"

/* Form 3: under generation 7, due 1780306200000000, a record of version 3. */
static const unsigned char golden_newer[] =
    "\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x76\xa4\xd6\x2d\x53\x06"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x27\xa6\x40\x91\x03\x00\x8c\x95\x97\xc7"
    "\x44\x57\x54\x03\x40\x00\x00\x00\x8c\x95\x97\xc7\x08\x0d\x00\x00\xa0\xa1\xa2\xa3"
    "\xa4\xa5\xa6\xa7\xa8\xa9\xaa\xab"
    "order:42"
    "order.timeout"
    "\x01\x00\x02\x00\x00\xff\x87\x01\x05\x00"
    "daily";
enum { GOLDEN_SIZE = sizeof golden_newer - 1, RECORD_AT = 42 };

/* row_status: of a value; what the store says of it, and what is in it. */
static int row_status(const unsigned char *bytes, size_t size, dw_head *ret_head)
{
	struct alloc alloc = alloc_default();
	dw_row *row = value_row(&alloc, "order:42", 8, bytes, size);
	struct record record;
	int status;

	assert_non_null(row);
	status = record_of_row(row, &record);
	if (row->status == DW_ECORRUPT)
		assert_int_equal(status, DW_ECORRUPT);
	*ret_head = row->head;
	rows_free(&alloc, row);
	return status;
}

static void value_of_a_later_version_is_newer(void **state)
{
	dw_head head;

	(void)state;
	assert_int_equal(row_status(golden_newer, GOLDEN_SIZE, &head), DW_ENEWER);
	assert_true(head.generation == 7);
	assert_true(head.due == INT64_C(1780306200000000));
}

static void value_of_a_later_version_with_any_bit_flipped_is_damaged(void **state)
{
	unsigned char bytes[GOLDEN_SIZE];
	dw_head head;

	(void)state;
	memcpy(bytes, golden_newer, GOLDEN_SIZE);
	for (size_t bit = 0; bit < 8 * GOLDEN_SIZE; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_int_equal(row_status(bytes, GOLDEN_SIZE, &head), DW_ECORRUPT);
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (size_t size = 0; size < GOLDEN_SIZE; size++)
		assert_int_equal(row_status(bytes, size, &head), DW_ECORRUPT);
}

/* Form 3 carries a record of any version. */
static void value_with_a_whole_record_of_version_1_is_read(void **state)
{
	unsigned char bytes[RECORD_AT + 128] = {0};
	size_t size = RECORD_AT + body_of_topic("order:42", 5, bytes + RECORD_AT);
	dw_head head = {.generation = 9};

	(void)state;
	value_head_write(bytes, &head, 0, record_crc(bytes + RECORD_AT));
	bytes[36] = 3;
	memcpy(bytes + 38, bytes + RECORD_AT + 8, 4);
	assert_int_equal(row_status(bytes, size, &head), DW_OK);
	assert_true(head.generation == 9);
}

/* A packed body does not say that its topic is within the limit, nor its late_after. */
static void value_beyond_a_limit_is_damaged(void **state)
{
	unsigned char body[512];
	unsigned char bytes[512];
	char topic[DW_TOPIC_MAX + 1];
	dw_head head = {.generation = 9};
	struct record record = {.id = "order:42",
				.id_size = 8,
				.topic = topic,
				.topic_size = DW_TOPIC_MAX,
				.late_after = 1};

	(void)state;
	memset(topic, 't', sizeof topic);
	for (int i = 0; i < 3; i++) {
		size_t size;

		record.topic_size = (uint8_t)(DW_TOPIC_MAX + (i == 1));
		record.late_after = i == 2 ? -1 : 1;
		record_encode(&record, body);
		value_head_write(bytes, &head, 0, record_crc(body));
		bytes[36] = 2;
		bytes[37] = record.topic_size;
		memcpy(bytes + 38, body + 8, 4);
		memcpy(bytes + 42, body + 20, 8);
		memcpy(bytes + 50, record.topic, record.topic_size);
		size = 50 + (size_t)record.topic_size;
		assert_int_equal(row_status(bytes, size, &head), i == 0 ? DW_OK : DW_ECORRUPT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(value_of_a_later_version_is_newer),
	    cmocka_unit_test(value_of_a_later_version_with_any_bit_flipped_is_damaged),
	    cmocka_unit_test(value_with_a_whole_record_of_version_1_is_read),
	    cmocka_unit_test(value_beyond_a_limit_is_damaged),
	};

	return cmocka_run_group_tests_name("redis_value", tests, NULL, NULL);
}
