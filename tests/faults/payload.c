#include "faults/payload.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/utf8.h"
#include "cli/out/base64.h"

static const char *const prefixes[] = {
    "order:",
    "-",
    "--topic ",
    " two  words ",
    "\"quoted\" 'and' `so`",
    "back\\slash\\n",
    "{user:7}:order:",
    "*",
    "%s%n%d",
    "'; DROP TABLE timer; --",
    "../../etc/",
    "$(id) && ",
    "<b>&amp;",
    "\xc3\xbc"
    "ml\xc3\xa4ut ",
    "\xe6\x97\xa5\xe6\x9c\xac",
    "\xf0\x9f\x95\xb0 ",
    "a very long one ________________________________________________________________________"
    "________________________________________________________________________________________"
    "__________________________________________",
};
enum { PREFIXES = sizeof prefixes / sizeof prefixes[0] };

void payload_id(size_t number, char id[DW_ID_MAX + 1])
{
	(void)snprintf(id, DW_ID_MAX + 1, "%s#%zu", prefixes[number % PREFIXES], number);
}

size_t payload_number(const char *id)
{
	const char *hash = strrchr(id, '#');
	char expected[DW_ID_MAX + 1];
	size_t number;

	if (!hash)
		return SIZE_MAX;
	number = (size_t)strtoull(hash + 1, NULL, 10);
	payload_id(number, expected);
	return strcmp(id, expected) == 0 ? number : SIZE_MAX;
}

/* fill_text writes text that includes control characters and characters of several bytes. */
static size_t fill_text(struct rng *rng, unsigned char *data, size_t size)
{
	static const char *const pieces[] = {"a",  "Z",    "\"",       "\\",
					     "\n", "\x1b", "\xc3\xa9", "\xe2\x82\xac"};
	size_t at = 0;

	while (at + 3 <= size) {
		const char *piece = pieces[rng_below(rng, sizeof pieces / sizeof pieces[0])];
		size_t length = strlen(piece);

		memcpy(data + at, piece, length);
		at += length;
	}
	return at;
}

/* fill_bytes writes any bytes, including NUL. The first one makes them invalid UTF-8. */
static size_t fill_bytes(struct rng *rng, unsigned char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[i] = (unsigned char)rng_next(rng);
	if (size > 0)
		data[0] = 0xff;
	return size;
}

size_t payload_data(uint64_t seed, size_t number, unsigned char data[PAYLOAD_MAX])
{
	struct rng rng = {seed ^ (number + 1) * UINT64_C(0x9e3779b97f4a7c15)};
	uint64_t kind = rng_below(&rng, 8);
	size_t size = (size_t)rng_below(&rng, kind < 6 ? 128 : PAYLOAD_MAX + 1);

	if (kind == 0)
		return 0;
	return kind % 2 == 0 ? fill_text(&rng, data, size) : fill_bytes(&rng, data, size);
}

int payload_is_text(const unsigned char *data, size_t size)
{
	return size == 0 || data[0] != 0xff;
}

void payload_line(FILE *file, uint64_t seed, size_t number, dw_usec due)
{
	unsigned char data[PAYLOAD_MAX];
	char id[DW_ID_MAX + 1], at[DW_TIME_SIZE];
	size_t size = payload_data(seed, number, data);
	json_t *object;

	payload_id(number, id);
	dw_format_time(due, at);
	object = json_pack("{s:s, s:s, s:s}", "id", id, "topic", PAYLOAD_TOPIC, "at", at);
	if (payload_is_text(data, size)) {
		json_object_set_new(object, "data", json_stringn((const char *)data, size));
	} else {
		char *encoded = base64_encode(data, size);

		json_object_set_new(object, "data_base64", json_string(encoded));
		free(encoded);
	}
	if (json_dumpf(object, file, JSON_COMPACT) != 0)
		abort();         /* out of memory */
	(void)fputc('\n', file); /* the caller checks */
	json_decref(object);
}
