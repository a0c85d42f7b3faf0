#include "redis/url_text.h"

#include <string.h>

#include "base/message.h"

/* The compiler may leave out a memset before a free, but not explicit_bzero. */
void url_wipe(const struct alloc *alloc, char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	alloc_free(alloc, text);
}

int url_copy(struct url_reading *reading, const char *text, size_t size, char **ret_copy)
{
	char *copy = alloc_new(reading->alloc, size + 1);

	if (!copy)
		return DW_ENOMEM;
	memcpy(copy, text, size);
	*ret_copy = copy;
	return DW_OK;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* decode replaces each escape like %41 by its character, in place. Returns false for a % without
 * two hexadecimal digits, and for a NUL. */
static bool decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++, to++) {
		bool escaped = *from == '%';
		int high = escaped ? nibble(from[1]) : 0;
		int low = escaped && high >= 0 ? nibble(from[2]) : 0;

		if (high < 0 || low < 0 || (escaped && high + low == 0))
			return false;
		*to = escaped ? (char)(unsigned char)(high * 16 + low) : *from;
		from += escaped ? 2 : 0;
	}
	*to = '\0';
	return true;
}

int url_escaped(struct url_reading *reading, const char *text, size_t size, char **ret_copy)
{
	char *copy = NULL;
	int status = url_copy(reading, text, size, &copy);

	if (status != DW_OK)
		return status;
	if (!decode(copy)) {
		url_wipe(reading->alloc, copy);
		return message_refuse(reading->message,
				      "in the Redis URL a %% is not followed by two hexadecimal "
				      "digits other than 00: %%25 is a %% itself");
	}
	*ret_copy = copy;
	return DW_OK;
}

bool url_number(const char *text, size_t size, unsigned max, unsigned *ret_number)
{
	unsigned number = 0;

	if (size == 0 || size > 6)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = 10 * number + (unsigned)(text[i] - '0');
	}
	if (number > max)
		return false;
	*ret_number = number;
	return true;
}

bool url_is_host(const char *text, size_t size, const char *more)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (size_t i = 0; i < size; i++)
		if (!memchr(letters, text[i], sizeof letters - 1) &&
		    !(text[i] >= '0' && text[i] <= '9') && !strchr(more, text[i]))
			return false;
	return size > 0 && size <= 253;
}
