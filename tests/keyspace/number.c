/* Converts numbers in words as Redis does. */
#include "keyspace/inside.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* integer_of accepts only a text that Redis itself would write. */
bool integer_of(struct bytes bytes, int64_t *ret_integer)
{
	char text[24];
	char again[24];

	if (bytes.size == 0 || bytes.size >= sizeof text)
		return false;
	memcpy(text, bytes.at, bytes.size);
	text[bytes.size] = '\0';
	errno = 0;
	*ret_integer = strtoll(text, NULL, 10);
	(void)snprintf(again, sizeof again, "%" PRId64, *ret_integer);
	return errno == 0 && strcmp(text, again) == 0;
}

/* digits_of reads a whole number of at most 18 digits, which most scores are. It is faster than
 * strtod(). */
static bool digits_of(struct bytes bytes, double *ret_number)
{
	bool is_negative = bytes.size > 0 && bytes.at[0] == '-';
	int64_t number = 0;

	if (bytes.size > 18 || bytes.size == (size_t)is_negative)
		return false;
	for (size_t i = is_negative; i < bytes.size; i++) {
		if (bytes.at[i] < '0' || bytes.at[i] > '9')
			return false;
		number = 10 * number + (bytes.at[i] - '0');
	}
	*ret_number = is_negative ? -(double)number : (double)number;
	return true;
}

bool score_of(struct bytes bytes, double *ret_score)
{
	char text[64];
	char *end;

	if (digits_of(bytes, ret_score))
		return true;

	if (bytes.size == 0 || bytes.size >= sizeof text || strchr(" \t\n\v\f\r", bytes.at[0]))
		return false;
	memcpy(text, bytes.at, bytes.size);
	text[bytes.size] = '\0';
	*ret_score = strtod(text, &end);
	return end == text + bytes.size && !isnan(*ret_score);
}

/* is_whole returns true if %.17g would write the number as a plain integer. Writing an integer is
 * faster. */
static bool is_whole(double number)
{
	return number > -1e16 && number < 1e16 && number == (double)(int64_t)number &&
	       !(number == 0 && signbit(number));
}

struct bytes score_text(double score, char room[32])
{
	int size = is_whole(score) ? snprintf(room, 32, "%" PRId64, (int64_t)score)
				   : snprintf(room, 32, isinf(score) ? "%f" : "%.17g", score);

	return (struct bytes){room, (size_t)size};
}
