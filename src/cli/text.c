#include "cli/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* character_size: the length of the valid, printable character at the start of text, or 0. */
static size_t character_size(const unsigned char *text, size_t size)
{
	static const uint32_t least[5] = {0, 0x20, 0xa0, 0x800, 0x10000};
	unsigned char lead = text[0];
	size_t length = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	uint32_t point = length == 1 ? lead : lead & (0xffu >> (length + 1));

	if (length == 0 || length > size || lead > 0xf4 || lead == 0x7f)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	return length;
}

size_t text_step(const char *text, size_t size, char ret_form[TEXT_STEP_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char first = (unsigned char)*text;
	size_t length = character_size((const unsigned char *)text, size);

	if (length == 0) {
		memcpy(ret_form, "\\x", 2);
		ret_form[2] = digits[first >> 4];
		ret_form[3] = digits[first & 15u];
		ret_form[4] = '\0';
		return 1;
	}
	memcpy(ret_form, text, length);
	ret_form[length] = '\0';
	return length;
}

size_t text_escape(const char *text, size_t size, char *ret_form, size_t ret_size)
{
	size_t used = 0;

	for (size_t at = 0; at < size;) {
		char form[TEXT_STEP_SIZE];
		size_t length;

		at += text_step(text + at, size - at, form);
		length = strlen(form);
		if (used + length >= ret_size)
			break;
		memcpy(ret_form + used, form, length);
		used += length;
	}
	ret_form[used] = '\0';
	return used;
}

void text_print(FILE *file, const char *text, size_t size, size_t width)
{
	size_t shown = 0;

	for (size_t at = 0; at < size;) {
		char form[TEXT_STEP_SIZE];
		size_t length = text_step(text + at, size - at, form);

		at += length;
		shown += length == strlen(form) ? 1 : strlen(form);
		(void)fputs(form, file); /* ferror() remembers, see session_flush() */
	}
	for (; shown < width; shown++)
		(void)fputc(' ', file);
}
