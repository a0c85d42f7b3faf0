/* What may be an id or a topic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/utf8.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void name_of_valid_text_is_accepted(void **state)
{
	static const char *const good[] = {
	    "",
	    "order:42",
	    "{user:7}:*",
	    " ~",
	    "\xc2\xa0",         /* U+00A0, the first one behind the C1 controls */
	    "\xdf\xbf",         /* U+07FF */
	    "\xe0\xa0\x80",     /* U+0800 */
	    "\xed\x9f\xbf",     /* U+D7FF, below the surrogates */
	    "\xee\x80\x80",     /* U+E000, above them */
	    "\xef\xbf\xbf",     /* U+FFFF */
	    "\xf0\x90\x80\x80", /* U+10000 */
	    "\xf4\x8f\xbf\xbf", /* U+10FFFF */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(utf8_is_name(good[i], strlen(good[i])));
}

static void name_with_control_character_is_refused(void **state)
{
	(void)state;
	assert_false(utf8_is_name("a\0b", 3));
	for (int c = 0; c < 0x20; c++)
		assert_false(utf8_is_name(&(char){(char)c}, 1));
	assert_false(utf8_is_name("\x7f", 1));
	for (int c = 0x80; c < 0xa0; c++)
		assert_false(utf8_is_name((char[2]){'\xc2', (char)c}, 2));
}

static void name_of_invalid_utf8_is_refused(void **state)
{
	static const char *const bad[] = {
	    "\x80",         /* a continuation alone */
	    "a\xbf",        /* the same */
	    "\xc3",         /* cut */
	    "\xe2\x82",     /* cut */
	    "\xf0\x9f\x98", /* cut */
	    "\xc3(" /* no continuation */,
	    "\xe2(\xa1",            /* no continuation */
	    "\xc0\x80",             /* overlong NUL */
	    "\xc1\xbf",             /* overlong */
	    "\xe0\x9f\xbf",         /* overlong */
	    "\xf0\x8f\xbf\xbf",     /* overlong */
	    "\xed\xa0\x80",         /* a surrogate */
	    "\xed\xbf\xbf",         /* a surrogate */
	    "\xf4\x90\x80\x80",     /* above U+10FFFF */
	    "\xf5\x80\x80\x80",     /* the same */
	    "\xf8\x88\x80\x80\x80", /* five bytes */
	    "\xff",
	    "\xfe",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(utf8_is_name(bad[i], strlen(bad[i])));
}

static void name_cut_by_its_size_is_refused(void **state)
{
	(void)state;
	assert_false(utf8_is_name("\xf0\x9f\x98\x80", 1));
	assert_false(utf8_is_name("\xf0\x9f\x98\x80", 3));
	assert_true(utf8_is_name("\xf0\x9f\x98\x80", 4));
}

/* Every two-byte text against the definition. */
static void name_of_two_bytes_follows_the_definition(void **state)
{
	(void)state;
	for (int a = 0; a < 256; a++) {
		for (int b = 0; b < 256; b++) {
			int ascii = a >= 0x20 && a < 0x7f && b >= 0x20 && b < 0x7f;
			int pair = a >= 0xc2 && a <= 0xdf && b >= 0x80 && b <= 0xbf &&
				   !(a == 0xc2 && b < 0xa0);

			assert_int_equal(utf8_is_name((char[2]){(char)a, (char)b}, 2),
					 ascii || pair);
		}
	}
}

static void line_is_cleaned(void **state)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
	    {"", ""},
	    {"plain", "plain"},
	    {"  both ends \n", "both ends"},
	    {"a\nb\tc\x1b[1m", "a b c [1m"},
	    {"\xc2\x80x\xc2\x9fy", "x y"}, /* C1 controls */
	    {"\xc3\xa9\xff\xc3", "\xc3\xa9??"},
	    {"\xed\xa0\x80", "???"}, /* a surrogate */
	    {"\xe2\x82\xac 5", "\xe2\x82\xac 5"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char line[64];

		assert_int_equal(utf8_clean(cases[i].text, line, sizeof line),
				 strlen(cases[i].line));
		assert_string_equal(line, cases[i].line);
	}
}

static void line_is_cut_at_a_character(void **state)
{
	(void)state;
	for (size_t size = 1; size < 12; size++) {
		char line[12];

		/* Characters of 2, 3 and 4 bytes, and one more of 1. */
		size_t length = utf8_clean("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x", line, size);

		assert_int_equal(length, size > 10  ? 10
					 : size > 9 ? 9
					 : size > 5 ? 5
					 : size > 2 ? 2
						    : 0);
		assert_true(utf8_is_name(line, length));
		assert_int_equal(line[length], '\0');
	}
}

/* Each byte at each place among printable ones, in names of one word and more. */
static void name_of_ascii_follows_the_definition(void **state)
{
	(void)state;
	for (size_t size = 1; size <= 27; size++)
		for (size_t at = 0; at < size; at++)
			for (int c = 0; c < 256; c++) {
				char name[27];

				memset(name, c % 2 ? ' ' : '~', sizeof name);
				name[at] = (char)c;
				assert_int_equal(utf8_is_name(name, size), c >= 0x20 && c < 0x7f);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(name_of_valid_text_is_accepted),
	    cmocka_unit_test(name_with_control_character_is_refused),
	    cmocka_unit_test(name_of_invalid_utf8_is_refused),
	    cmocka_unit_test(name_cut_by_its_size_is_refused),
	    cmocka_unit_test(name_of_two_bytes_follows_the_definition),
	    cmocka_unit_test(name_of_ascii_follows_the_definition),
	    cmocka_unit_test(line_is_cleaned),
	    cmocka_unit_test(line_is_cut_at_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
