/* Random and mutated cron expressions, rules and zone files: each is read or refused, and what was
 * read keeps its promises. The sanitizers see the rest. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "calendar/next.h"
#include "calendar/rule_text.h"
#include "calendar/tzif.h"
#include "support/seed.h"

enum { TEXT_SIZE = 160, FILE_SIZE = 16384 };

/* draw_text joins random pieces. */
static void draw_text(struct rng *rng, const char *const *pieces, size_t count, char *ret_text)
{
	size_t used = 0;

	ret_text[0] = '\0';
	for (uint64_t left = 1 + rng_below(rng, 24); left > 0 && used < TEXT_SIZE / 2; left--) {
		const char *piece = pieces[rng_below(rng, count)];

		used += (size_t)snprintf(ret_text + used, TEXT_SIZE - used, "%s", piece);
	}
}

/* mutate changes a few bytes. */
static void mutate(struct rng *rng, char *bytes, size_t size)
{
	for (uint64_t left = rng_below(rng, 5); left > 0 && size > 0; left--) {
		size_t at = (size_t)rng_below(rng, size);

		bytes[at] = (char)rng_next(rng);
	}
}

/* check_cron: the times of an expression grow, and each is the first one from itself on. */
static void check_cron(struct rng *rng, const struct cron *cron)
{
	int64_t local = (int64_t)rng_below(rng, UINT64_C(8000) * 365 * 86400);

	for (int i = 0; i < 4; i++) {
		int64_t next = cron_from(cron, local);

		if (next == INT64_MAX)
			return;
		assert_true(next >= local);
		assert_true(cron_from(cron, next) == next);
		local = next + 1;
	}
}

static void cron_of_random_text_is_read_or_refused(void **state)
{
	static const char *const pieces[] = {
	    "0",   "1",   "5",   "29",     "31", "59",  " ", " ",  " ",   " ",
	    "*",   "*",   "?",   "/",      "-",  ",",   "L", "#",  "mon", "SUN",
	    "jan", "dec", "L-2", "@daily", "7",  "*/2", "W", "\t", "x",   "99999999999"};
	struct rng rng = seed_of_test();
	uint64_t count = environment_scaled(200000), read = 0;

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		char text[TEXT_SIZE], message[DW_MESSAGE_SIZE] = "";
		struct cron cron;
		int status;

		draw_text(&rng, pieces, sizeof pieces / sizeof pieces[0], text);
		mutate(&rng, text, rng_below(&rng, 4) == 0 ? strlen(text) : 0);
		status = cron_parse(text, &cron, message);
		assert_true(status == DW_OK || status == DW_EINVAL);
		assert_true((status == DW_OK) == (message[0] == '\0'));
		if (status != DW_OK)
			continue;
		read++;
		check_cron(&rng, &cron);
	}
	printf("%" PRIu64 " of %" PRIu64 " are expressions\n", read, count);
}

static void rule_of_random_text_is_read_or_refused(void **state)
{
	static const char *const pieces[] = {
	    "every 90s",
	    "cron 0 8 * * mon-fri",
	    "cron @daily",
	    ";",
	    ";",
	    "; ",
	    "zone UTC",
	    "zone Europe/London",
	    "zone ../x",
	    "start 2026-06-01T09:30:00Z",
	    "end 2027-06-01T09:30:00+02:00",
	    "count 7",
	    "jitter 1ms",
	    "missed skip",
	    "missed all",
	    "missed-after 5m",
	    "missed-age 2h",
	    "except 2026-12-25",
	    ",2026-12-28",
	    " ",
	};
	struct rng rng = seed_of_test();

	(void)state;
	for (uint64_t i = 0; i < environment_scaled(50000); i++) {
		char text[TEXT_SIZE], first[DW_RULE_TEXT_MAX], second[DW_RULE_TEXT_MAX];
		dw_rule *rule;

		draw_text(&rng, pieces, sizeof pieces / sizeof pieces[0], text);
		mutate(&rng, text, rng_below(&rng, 4) == 0 ? strlen(text) : 0);
		if (dw_rule_parse(text, &rule, NULL) != DW_OK)
			continue;
		assert_in_range(rule_write(rule, first, sizeof first), 1, sizeof first - 1);
		dw_rule_free(rule);
		assert_int_equal(dw_rule_parse(first, &rule, NULL), DW_OK);
		(void)rule_write(rule, second, sizeof second);
		assert_string_equal(first, second);
		dw_rule_free(rule);
	}
}

/* check_zone: spans hold the moment that was asked for, and occurrences grow. */
static void check_zone(struct rng *rng, struct zone_table *table)
{
	struct calendar calendar = {.zone = table, .end = DW_NEVER};
	char message[DW_MESSAGE_SIZE];
	dw_usec time = (dw_usec)rng_below(rng, UINT64_C(200) * 365 * 86400) * 1000000;
	dw_local local;

	assert_int_equal(cron_parse("30 1 * * *", &calendar.cron, message), DW_OK);
	for (int i = 0; i < 10 && time != DW_NEVER; i++) {
		struct zone_span span = zone_span_at(table, time / 1000000);
		dw_usec next;

		assert_true(span.begin <= time / 1000000 && time / 1000000 < span.end);
		calendar_local(&calendar, time, &local);
		next = calendar_next(&calendar, time);
		assert_true(next > time);
		time = next;
	}
}

/* read_sample reads a zone of tzdata. */
static size_t read_sample(const char *path, char *bytes)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	assert_non_null(file);
	size = fread(bytes, 1, FILE_SIZE, file);
	(void)fclose(file);
	assert_in_range(size, 44, FILE_SIZE - 1);
	return size;
}

/* give copies the bytes to a block of just their size, so that a sanitizer sees each byte read
 * behind them, and checks what is read. Returns whether it is a zone. */
static bool give(struct rng *rng, const char *bytes, size_t size)
{
	const struct alloc alloc = alloc_default();
	unsigned char *exact = malloc(size ? size : 1);
	struct zone_table *table;
	const char *fault = NULL;
	int status;

	assert_non_null(exact);
	memcpy(exact, bytes, size);
	status = tzif_read(&alloc, exact, size, &table, &fault);
	free(exact);
	assert_true(status == DW_OK || (status == DW_EINVAL && fault));
	if (status != DW_OK)
		return false;
	check_zone(rng, table);
	alloc_free(&alloc, table);
	return true;
}

static void zone_of_mutated_bytes_is_read_or_refused(void **state)
{
	static const char *const paths[] = {
	    "/usr/share/zoneinfo/Europe/London", "/usr/share/zoneinfo/Africa/Casablanca",
	    "/usr/share/zoneinfo/Asia/Kolkata", "/usr/share/zoneinfo/America/Scoresbysund"};
	struct rng rng = seed_of_test();
	uint64_t count = environment_scaled(40000), read = 0;

	(void)state;
	for (uint64_t i = 0; i < count; i++) {
		char bytes[FILE_SIZE];
		size_t size = read_sample(paths[i % 4], bytes), tail;

		if (rng_below(&rng, 4) == 0)
			size = (size_t)rng_below(&rng, size);
		mutate(&rng, bytes, rng_below(&rng, 2) ? size : size < 44 ? size : 44);
		tail = size < 60 ? size : 60; /* the footer */
		mutate(&rng, bytes + size - tail, tail);
		read += give(&rng, bytes, size);
	}
	printf("%" PRIu64 " of %" PRIu64 " are zones\n", read, count);
	assert_true(read > 0);
}

/* make_file writes a file of version 2 without changes and with that footer. Returns its size. */
static size_t make_file(char *bytes, const char *footer)
{
	char header[44] = "TZif2";
	size_t size = 0;

	header[39] = 1; /* types */
	header[43] = 1; /* bytes of names */
	for (int block = 0; block < 2; block++) {
		memcpy(bytes + size, header, sizeof header);
		memset(bytes + size + sizeof header, 0, 7);
		size += sizeof header + 7;
	}
	return size + (size_t)snprintf(bytes + size, TEXT_SIZE, "\n%s\n", footer);
}

static void zone_footer_is_read_or_refused(void **state)
{
	static const struct {
		const char *footer;
		int january, july; /* offsets in hours; 99: refused */
	} samples[] = {
	    {"", 0, 0},
	    {"UTC0", 0, 0},
	    {"GMT0BST,M3.5.0/1,M10.5.0", 0, 1},
	    {"AEST-10AEDT,M10.1.0,M4.1.0/3", 11, 10},
	    {"IST-1GMT0,M10.5.0,M3.5.0/1", 0, 1},
	    {"ABC3EDT4,0/0,J365/23", -4, -4}, /* summer time all year: RFC 8536, 3.3.1 */
	    {"EST5EDT,0/0,J365/25", -4, -4},
	    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -2, -1},
	    {"AA0", 99, 99},
	    {"GMT0BST", 99, 99},
	    {"GMT25", 99, 99},
	    {"GMT0BST,M13.5.0,M10.5.0", 99, 99},
	    {"GMT0BST,M3.5.0/168,M10.5.0", 99, 99},
	    {"GMT0BST,J0,J1", 99, 99},
	    {"GMT0BST,M3.5.0/1,M10.5.0x", 99, 99},
	    {"<GMT0", 99, 99},
	};
	const struct alloc alloc = alloc_default();

	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		char bytes[FILE_SIZE];
		size_t size = make_file(bytes, samples[i].footer);
		struct zone_table *table;
		const char *fault;
		int status = tzif_read(&alloc, (unsigned char *)bytes, size, &table, &fault);

		assert_int_equal(status, samples[i].january == 99 ? DW_EINVAL : DW_OK);
		if (status != DW_OK)
			continue;
		for (int64_t year = 1971; year < 2400; year += 7) {
			int64_t january = civil_number((struct civil_day){year, 1, 15}) * 86400;
			int64_t july = civil_number((struct civil_day){year, 7, 15}) * 86400;

			assert_int_equal(zone_span_at(table, january).offset,
					 samples[i].january * 3600);
			assert_int_equal(zone_span_at(table, july).offset, samples[i].july * 3600);
		}
		alloc_free(&alloc, table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cron_of_random_text_is_read_or_refused),
	    cmocka_unit_test(rule_of_random_text_is_read_or_refused),
	    cmocka_unit_test(zone_of_mutated_bytes_is_read_or_refused),
	    cmocka_unit_test(zone_footer_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
