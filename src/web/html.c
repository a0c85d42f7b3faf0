#include "web/html.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/text.h"

enum { FIRST_ROOM = 16384, FORMAT_SIZE = 128 };

static void add(struct html *html, const char *bytes, size_t size)
{
	size_t room = html->room ? html->room : FIRST_ROOM;
	char *more;

	if (html->failed)
		return;
	while (room < html->size + size + 1)
		room *= 2;
	if (room > html->room) {
		more = realloc(html->bytes, room);
		html->failed = more == NULL;
		if (!more)
			return;
		html->bytes = more;
		html->room = room;
	}
	memcpy(html->bytes + html->size, bytes, size);
	html->size += size;
	html->bytes[html->size] = '\0';
}

void html_cut(struct html *html, size_t size)
{
	if (!html->failed)
		html->size = size;
}

void html_put(struct html *html, const char *text)
{
	add(html, text, strlen(text));
}

/* put_character escapes a character that has a meaning in HTML. */
static void put_character(struct html *html, const char *bytes, size_t size)
{
	switch (*bytes) {
	case '<':
		html_put(html, "&lt;");
		break;
	case '>':
		html_put(html, "&gt;");
		break;
	case '&':
		html_put(html, "&amp;");
		break;
	case '"':
		html_put(html, "&quot;");
		break;
	case '\'':
		html_put(html, "&#39;");
		break;
	default:
		add(html, bytes, size);
	}
}

void html_text(struct html *html, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		uint32_t point;
		size_t size = text_point(text, left, &point);

		if (size > 0)
			put_character(html, text, size);
		else
			html_put(html, "\xef\xbf\xbd"); /* the replacement character U+FFFD */
		size += size == 0;
		text += size;
		left -= size;
	}
}

/* is_hidden returns true for characters that nobody sees: controls, controls of the text direction,
 * and characters that Unicode calls default-ignorable. */
static bool is_hidden(uint32_t point)
{
	static const uint32_t ranges[][2] = {
	    {0x01, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
	    {0x61c, 0x61c},     {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
	    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
	    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
	    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (point >= ranges[i][0] && point <= ranges[i][1])
			return true;
	return false;
}

void html_name(struct html *html, const char *name)
{
	size_t left = strlen(name);

	while (left > 0) {
		uint32_t point;
		size_t size = text_point(name, left, &point);

		if (size == 0)
			html_format(html, "<span class=\"dim\">\\x%02x</span>",
				    (unsigned)(unsigned char)*name);
		else if (is_hidden(point))
			html_format(html, "<span class=\"dim\">\\%c%0*" PRIx32 "</span>",
				    point > 0xffff ? 'U' : 'u', point > 0xffff ? 8 : 4, point);
		else
			put_character(html, name, size);
		size += size == 0;
		name += size;
		left -= size;
	}
}

void html_url(struct html *html, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-";

	for (; *text; text++) {
		if (strchr(plain, *text))
			add(html, text, 1);
		else
			html_format(html, "%%%02X", (unsigned)(unsigned char)*text);
	}
}

void html_format(struct html *html, const char *format, ...)
{
	char text[FORMAT_SIZE];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args); /* a longer text is cut */
	va_end(args);
	html_put(html, text);
}

void html_count(struct html *html, uint64_t count)
{
	char digits[24];
	/* The text always fits. */
	size_t size = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);

	for (size_t i = 0; i < size; i++) {
		if (i > 0 && (size - i) % 3 == 0)
			html_put(html, ",");
		add(html, &digits[i], 1);
	}
}

void html_span(struct html *html, dw_usec span)
{
	char text[TEXT_SPAN_SIZE];

	if (span <= 0) {
		html_put(html, "-");
		return;
	}
	if (span >= DW_SECONDS(10))
		span -= span % DW_SECONDS(1);
	text_span(span, span >= DW_SECONDS(1) ? 2 : 1, text);
	html_put(html, text);
}

void html_clock(struct html *html, dw_usec time)
{
	char utc[DW_TIME_SIZE], text[LOCAL_TEXT_SIZE];
	const char *offset;

	if (time <= 0 || time == DW_NEVER) {
		html_put(html, "-");
		return;
	}
	dw_format_time(time, utc);
	local_show(html->zone, time, text);
	offset = html->zone ? text + 11 + strcspn(text + 11, "+-") : "";
	html_format(html, "<time datetime=\"%s\">%.10s %.8s%s%s</time>", utc, text, text + 11,
		    *offset ? " " : "", offset);
}

void html_zone(struct html *html, const char *before)
{
	if (!html->zone)
		return;
	html_put(html, before);
	html_put(html, "zone=");
	html_url(html, html->zone_argument);
}

void html_time(struct html *html, dw_usec time, dw_usec now)
{
	char distance[TEXT_SPAN_SIZE];

	html_clock(html, time);
	if (time <= 0 || time == DW_NEVER)
		return;
	text_distance(time, now, distance);
	html_format(html, " <span class=\"dim\">%s</span>", distance);
}
