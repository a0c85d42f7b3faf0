#include "base/ascii.h"

#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool ascii_is_for(const char *text, const char *other, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (lower(text[i]) != lower(other[i]))
			return false;
		if (text[i] == '\0')
			break;
	}
	return true;
}

bool ascii_is(const char *text, const char *other)
{
	return ascii_is_for(text, other, strlen(other) + 1);
}

bool ascii_begins(const char *text, const char *beginning)
{
	return ascii_is_for(text, beginning, strlen(beginning));
}
