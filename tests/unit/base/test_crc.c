/* CRC-32C against the samples of RFC 3720, B.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/crc.h"

static void crc_of_check_string_is_known(void **state)
{
	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283u);
}

static void crc_of_rfc3720_samples_is_known(void **state)
{
	unsigned char bytes[32];

	(void)state;
	memset(bytes, 0, sizeof bytes);
	assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x8a9136aau);
	memset(bytes, 0xff, sizeof bytes);
	assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x62a8ab43u);
	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(crc32c(0, bytes, sizeof bytes), 0x46dd794eu);
}

static void crc_of_nothing_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(crc32c(0, "", 0), 0);
	assert_int_equal(crc32c(0x12345678u, "", 0), 0x12345678u);
}

static void crc_in_pieces_is_the_crc_of_all(void **state)
{
	static const char text[] = "the quick brown fox jumps over the lazy dog";
	size_t size = sizeof text - 1;

	(void)state;
	for (size_t cut = 0; cut <= size; cut++)
		assert_int_equal(crc32c(crc32c(0, text, cut), text + cut, size - cut),
				 crc32c(0, text, size));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(crc_of_check_string_is_known),
	    cmocka_unit_test(crc_of_rfc3720_samples_is_known),
	    cmocka_unit_test(crc_of_nothing_changes_nothing),
	    cmocka_unit_test(crc_in_pieces_is_the_crc_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
