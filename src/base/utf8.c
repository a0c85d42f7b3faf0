#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* decode reads one code point of at most size bytes. It returns its length, or 0 if it is
 * invalid. */
static size_t decode(const unsigned char *text, size_t size, uint32_t *ret_point)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char lead = text[0];
	size_t length = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	uint32_t point = length == 1 ? lead : lead & (0xffu >> (length + 1));

	if (length == 0 || length > size || lead > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret_point = point;
	return length;
}

static bool is_control(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

/* is_plain_word returns true if all eight bytes are printable ASCII. Then no byte of the difference
 * or of the sum has a borrow or a carry, and no byte has its highest bit set. Otherwise the first
 * byte that is not printable has this bit in one of the three words. */
static bool is_plain_word(const char *text)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word;

	memcpy(&word, text, sizeof word);
	return ((word | (word - 0x20 * ones) | (word + ones)) & 0x80 * ones) == 0;
}

/* is_plain returns true if the text, of at least eight bytes, is printable ASCII. The last eight
 * bytes are looked at together, even if some of them were looked at before. */
static bool is_plain(const char *text, size_t size)
{
	const char *last = text + size - 8;

	for (; text < last; text += 8)
		if (!is_plain_word(text))
			return false;
	return is_plain_word(last);
}

bool utf8_is_name(const char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;

	if (size >= 8 && is_plain(text, size))
		return true; /* most names are plain ASCII */
	while (size > 0) {
		uint32_t point = *at;
		size_t length = point < 0x80 ? 1 : decode(at, size, &point);

		if (length == 0 || is_control(point))
			return false;
		at += length;
		size -= length;
	}
	return true;
}

size_t utf8_clean(const char *text, char *ret_line, size_t size)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t used = 0;

	while (*at && used + 1 < size) {
		uint32_t point = '?';
		size_t length = decode(at, strnlen((const char *)at, 4), &point);

		if (length == 0 || is_control(point)) {
			ret_line[used] = length == 0 ? '?' : ' ';
			at += length ? length : 1;
			used += used > 0 || ret_line[used] != ' ';
		} else if (used + length >= size) {
			break;
		} else {
			memcpy(ret_line + used, at, length);
			at += length;
			used += used > 0 || point != ' ' ? length : 0;
		}
	}
	while (used > 0 && ret_line[used - 1] == ' ')
		used--;
	ret_line[used] = '\0';
	return used;
}
