#include "cli/out/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t size)
{
	const unsigned char *from = bytes;
	char *text = malloc((size + 2) / 3 * 4 + 1);
	char *to = text;

	if (!text)
		return NULL;
	for (size_t at = 0; at < size; at += 3) {
		size_t left = size - at;
		uint32_t group = (uint32_t)from[at] << 16;

		group |= left > 1 ? (uint32_t)from[at + 1] << 8 : 0;
		group |= left > 2 ? (uint32_t)from[at + 2] : 0;
		*to++ = alphabet[group >> 18];
		*to++ = alphabet[group >> 12 & 63u];
		*to++ = left > 1 ? alphabet[group >> 6 & 63u] : '=';
		*to++ = left > 2 ? alphabet[group & 63u] : '=';
	}
	*to = '\0';
	return text;
}

/* value_of returns the value of a letter, from 0 to 63, or -1 for any other character. */
static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* decode_group decodes four letters, of which the last `padding` are '='. The bits after the last
 * byte must be zero, so that each value has one encoding. */
static bool decode_group(const char *text, size_t padding, unsigned char *ret_bytes)
{
	uint32_t group = 0;

	for (size_t i = 0; i < 4; i++) {
		int value = i < 4 - padding ? value_of(text[i]) : 0;

		if (value < 0)
			return false;
		group = group << 6 | (uint32_t)value;
	}
	for (size_t i = 0; i < 3 - padding; i++)
		ret_bytes[i] = (unsigned char)(group >> (16 - 8 * i));
	return padding == 0 || (group & (padding == 1 ? 0xffu : 0xffffu)) == 0;
}

bool base64_decode(const char *text, size_t length, void **ret_bytes, size_t *ret_size)
{
	size_t padding = 0;
	unsigned char *bytes;

	if (length % 4 != 0)
		return false;
	while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
		padding++;
	bytes = malloc(length / 4 * 3 + 1);
	for (size_t at = 0; bytes && at < length; at += 4) {
		size_t here = at + 4 == length ? padding : 0;

		if (!decode_group(text + at, here, bytes + at / 4 * 3)) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (!bytes)
		return false;
	*ret_bytes = bytes;
	*ret_size = length / 4 * 3 - padding;
	return true;
}
