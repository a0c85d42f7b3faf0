#include "cli/out/text.h"

#include <inttypes.h>
#include <string.h>

size_t text_point(const char *text, size_t size, uint32_t *ret_point)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char lead = bytes[0];
	size_t length = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	uint32_t point = length == 1 ? lead : lead & (0xffu >> (length + 1));

	if (length == 0 || length > size || lead > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (bytes[i] & 0x3fu);
	}
	if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*ret_point = point;
	return length;
}

/* character_size returns the length of the valid, printable character at the start of text. Returns
 * 0 if there is none. */
static size_t character_size(const char *text, size_t size)
{
	uint32_t point;
	size_t length = text_point(text, size, &point);

	return length > 0 && point >= 0x20 && (point < 0x7f || point > 0x9f) ? length : 0;
}

/* turns_text returns true if this valid character is a Unicode control for the direction of text.
 * Such a control makes a terminal show an id in another order. They are U+061C, U+200E, U+200F,
 * U+202A to U+202E and U+2066 to U+2069. */
static bool turns_text(const unsigned char *text, size_t length)
{
	if (length == 2)
		return text[0] == 0xd8 && text[1] == 0x9c;
	if (length != 3 || text[0] != 0xe2)
		return false;
	return (text[1] == 0x80 &&
		(text[2] == 0x8e || text[2] == 0x8f || (text[2] >= 0xaa && text[2] <= 0xae))) ||
	       (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
}

bool text_is_clean(const char *text, size_t size)
{
	size_t length = 1;

	for (size_t at = 0; at < size && length > 0; at += length)
		length = character_size(text + at, size - at);
	return length > 0;
}

size_t text_step(const char *text, size_t size, char ret_form[TEXT_STEP_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char first = (unsigned char)*text;
	size_t length = character_size(text, size);

	if (length == 0 || turns_text((const unsigned char *)text, length)) {
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
		(void)fputs(form, file); /* session_flush() reports a failed write */
	}
	for (; shown < width; shown++)
		(void)fputc(' ', file);
}

size_t text_width(const char *text, size_t size)
{
	size_t width = 0;

	for (size_t at = 0; at < size;) {
		char form[TEXT_STEP_SIZE];
		size_t length = text_step(text + at, size - at, form);

		at += length;
		width += length == strlen(form) ? 1 : strlen(form);
	}
	return width;
}

const char *text_shell_word(const char *text, char ret_word[TEXT_SHELL_SIZE])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.,:/@%+=-";
	bool is_plain = *text && text[strspn(text, plain)] == '\0';
	size_t used = (size_t)snprintf(ret_word, TEXT_SHELL_SIZE, "%s%s", *text == '-' ? "-- " : "",
				       is_plain ? "" : "'"); /* it fits */

	for (; *text && used < TEXT_SHELL_SIZE - 6; text++) {
		/* A quote becomes '\'': it ends the quoted text, adds an escaped quote, and begins
		 * another quoted text. */
		if (*text == '\'') {
			memcpy(ret_word + used, "'\\''", 4);
			used += 4;
		} else {
			ret_word[used++] = *text;
		}
	}
	if (!is_plain)
		ret_word[used++] = '\'';
	ret_word[used] = '\0';
	return ret_word;
}

void text_span(dw_usec duration, int units, char ret_text[TEXT_SPAN_SIZE])
{
	static const struct {
		dw_usec size;
		const char *name;
	} all[] = {{DW_DAYS(1), "d"},    {DW_HOURS(1), "h"},         {DW_MINUTES(1), "m"},
		   {DW_SECONDS(1), "s"}, {DW_MILLISECONDS(1), "ms"}, {1, "us"}};
	enum { ALL = sizeof all / sizeof all[0] };
	size_t used = 0;

	(void)snprintf(ret_text, TEXT_SPAN_SIZE, "0s");
	for (int i = 0; i < ALL && units > 0; i++) {
		dw_usec count = duration / all[i].size;

		duration %= all[i].size;
		if (count > 0) /* the buffer fits the longest text */
			used += (size_t)snprintf(ret_text + used, TEXT_SPAN_SIZE - used,
						 "%" PRId64 "%s", count, all[i].name);
		units -= used > 0;
	}
}

void text_distance(dw_usec time, dw_usec now, char ret_text[TEXT_SPAN_SIZE])
{
	char span[TEXT_SPAN_SIZE];
	bool past = time <= now;
	dw_usec span_us;

	ret_text[0] = '\0';
	if (time == DW_NEVER)
		return;
	/* Only a very early time is too far from `now`, because `now` is not negative. */
	span_us = !past ? time - now : time < now - DW_NEVER ? DW_NEVER : now - time;
	if (span_us >= DW_SECONDS(1))
		span_us -= span_us % DW_SECONDS(1);
	text_span(span_us, span_us >= DW_SECONDS(1) ? 2 : 1, span);
	(void)snprintf(ret_text, TEXT_SPAN_SIZE, past ? "%.50s ago" : "in %.50s", span);
}
