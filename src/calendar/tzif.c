/* A file has two blocks. The first has times of 32 bits, for old programs, and is skipped
 * here. The second has times of 64 bits, and a footer behind it. */
#include "calendar/tzif.h"

#include <string.h>

#include "durawheel/durawheel.h"

enum { HEADER_SIZE = 44, COUNTS_AT = 20, TYPE_SIZE = 6, LEAP_SIZE = 12 };

/* RFC 8536, 3.2: offsets are within 25 and 26 hours. */
#define OFFSET_MIN (-89999)
#define OFFSET_MAX 93599

/* RFC 8536, 3.2: no change is before the Big Bang, which is 2^59 seconds before 1970. Some files
 * have this time in their first change. */
#define TIME_MAX (INT64_C(1) << 59)

/* The counts in a header, in their order. */
struct tzif_counts {
	uint64_t isut, isstd, leap, time, type, name;
};

/* Where the parts of the second block begin. */
struct tzif_parts {
	struct tzif_counts count;
	const unsigned char *times, *indexes, *types;
	const char *footer;
	size_t footer_size;
};

static uint64_t big_endian(const unsigned char *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

/* read_header returns true if size bytes begin with a header of version 2 or later. */
static bool read_header(const unsigned char *bytes, size_t size, struct tzif_counts *ret_counts)
{
	const unsigned char *at = bytes + COUNTS_AT;

	if (size < HEADER_SIZE || memcmp(bytes, "TZif", 4) != 0 || bytes[4] < '2')
		return false;
	*ret_counts = (struct tzif_counts){
	    big_endian(at, 4),      big_endian(at + 4, 4),  big_endian(at + 8, 4),
	    big_endian(at + 12, 4), big_endian(at + 16, 4), big_endian(at + 20, 4),
	};
	return true;
}

/* block_size returns the number of bytes behind the header. */
static uint64_t block_size(const struct tzif_counts *count, unsigned time_size)
{
	return count->time * (time_size + 1) + count->type * TYPE_SIZE + count->name +
	       count->leap * (time_size + 4) + count->isstd + count->isut;
}

/* find_parts finds the parts of the second block. It returns NULL, or words that say what is
 * wrong. */
static const char *find_parts(const unsigned char *bytes, size_t size, struct tzif_parts *ret_parts)
{
	struct tzif_counts count;
	uint64_t skipped;
	const unsigned char *data;

	if (!read_header(bytes, size, &count))
		return "is not a TZif file of version 2 or later";
	skipped = HEADER_SIZE + block_size(&count, 4);
	if (skipped > size)
		return "ends too early";
	bytes += skipped;
	size -= (size_t)skipped;
	if (!read_header(bytes, size, &count))
		return "has no block with times of 64 bits";
	skipped = HEADER_SIZE + block_size(&count, 8);
	if (skipped > size)
		return "ends too early";
	data = bytes + HEADER_SIZE;
	*ret_parts = (struct tzif_parts){
	    .count = count,
	    .times = data,
	    .indexes = data + count.time * 8,
	    .types = data + count.time * 9,
	    .footer = (const char *)bytes + skipped,
	    .footer_size = size - (size_t)skipped,
	};
	return NULL;
}

/* read_offset reads the offset of a type of time. It returns NULL, or words that say what is
 * wrong. */
static const char *read_offset(const struct tzif_parts *parts, uint64_t type, int32_t *ret_offset)
{
	int32_t offset;

	if (type >= parts->count.type)
		return "names a type of time that it has not";
	offset = (int32_t)(uint32_t)big_endian(parts->types + type * TYPE_SIZE, 4);
	if (offset < OFFSET_MIN || offset > OFFSET_MAX)
		return "has an offset of more than a day";
	*ret_offset = offset;
	return NULL;
}

/* read_changes reads the changes into the table. It returns NULL, or words that say what is
 * wrong. It leaves out a change to the same offset, because there only the name of the offset
 * changes. */
static const char *read_changes(const struct tzif_parts *parts, struct zone_table *table)
{
	int64_t last = INT64_MIN;
	int32_t offset = 0;
	const char *fault = read_offset(parts, 0, &offset);

	table->first = offset;
	for (uint64_t i = 0; i < parts->count.time && !fault; i++) {
		struct zone_change change = {
		    .at = (int64_t)big_endian(parts->times + i * 8, 8),
		};

		fault = read_offset(parts, parts->indexes[i], &change.offset);
		if (!fault && (change.at < -TIME_MAX || change.at > TIME_MAX))
			fault = "has a change before the Big Bang, or as far ahead";
		if (!fault && change.at <= last)
			fault = "has changes that are not in order";
		if (!fault && change.offset != offset)
			table->changes[table->count++] = change;
		last = change.at;
		offset = change.offset;
	}
	table->footer_from = last;
	return fault;
}

/* read_footer reads the footer. It returns NULL, or words that say what is wrong. If the footer
 * is empty, the rule for later times is not known. */
static const char *read_footer(const struct tzif_parts *parts, struct footer *ret_footer)
{
	const char *text = parts->footer + 1, *end;

	*ret_footer = (struct footer){0};
	if (parts->footer_size == 0 || *parts->footer != '\n')
		return "has no footer";
	end = memchr(text, '\n', parts->footer_size - 1);
	if (!end)
		return "has a footer without end";
	if (end == text || footer_parse(text, (size_t)(end - text), ret_footer))
		return NULL;
	return "has a footer that is not a POSIX time zone";
}

int tzif_read(const struct alloc *alloc, const unsigned char *bytes, size_t size,
	      struct zone_table **ret_table, const char **ret_fault)
{
	struct tzif_parts parts;
	struct zone_table *table;
	const char *fault = find_parts(bytes, size, &parts);

	if (!fault && parts.count.leap > 0)
		fault = "counts leap seconds, which Unix time does not";
	if (fault) {
		*ret_fault = fault;
		return DW_EINVAL;
	}
	table = alloc_new(alloc, sizeof *table + parts.count.time * sizeof table->changes[0]);
	if (!table)
		return DW_ENOMEM;
	fault = read_changes(&parts, table);
	if (!fault)
		fault = read_footer(&parts, &table->footer);
	if (fault) {
		alloc_free(alloc, table);
		*ret_fault = fault;
		return DW_EINVAL;
	}
	*ret_table = table;
	return DW_OK;
}
