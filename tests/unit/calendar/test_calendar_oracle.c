/* Rules beside an oracle that knows neither spans nor bits. It walks through the minutes around a
 * change of a zone, asks libc what the clocks show, and marks what matches. libc reads the zones by
 * itself. By default some changes of each zone of tzdata; with DW_LONG=1 all from 2000 to 2099. */
#include "support/cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calendar/zone.h"
#include "durawheel/durawheel.h"
#include "support/seed.h"

enum {
	DAYS = 5,
	MINUTES = DAYS * 1440,
	AROUND = 2 * 86400, /* the walk begins so many seconds before the change */
	SHIFT_MAX = 1560,   /* minutes; no clock is moved by more */
	NAMES_MAX = 1000,
	NAME_SIZE = 64
};
#define YEAR_2000 INT64_C(946684800)
#define YEAR_2037 INT64_C(2114380800)
#define YEAR_2100 INT64_C(4102444800)

/* A schedule as its text and as sets. */
struct wanted {
	char text[160];
	bool minute[60], hour[24], day[32], month[13], weekday[7];
	bool last;                 /* L */
	int nth_weekday, nth_week; /* of mon#2; 0 weeks: none */
	bool day_star, weekday_star, interval;
};

/* The minutes around a change. */
struct walk {
	int64_t begin;           /* seconds, at a whole minute */
	int64_t offset[MINUTES]; /* minutes */
	bool marked[MINUTES];
};

static char names[NAMES_MAX][NAME_SIZE];
static size_t name_count;

/* read_names: every zone and link of tzdata. */
static int read_names(void **state)
{
	FILE *file = fopen("/usr/share/zoneinfo/tzdata.zi", "r");
	char line[256];

	(void)state;
	if (!file)
		return -1;
	while (fgets(line, sizeof line, file) && name_count < NAMES_MAX)
		if (sscanf(line, "Z %63s", names[name_count]) == 1 ||
		    sscanf(line, "L %*s %63s", names[name_count]) == 1)
			name_count++;
	(void)fclose(file);
	return name_count > 300 ? 0 : -1;
}

static struct tm clock_at(int64_t second)
{
	time_t time = (time_t)second;
	struct tm tm;

	assert_non_null(localtime_r(&time, &tm));
	return tm;
}

static void use_zone(const char *name)
{
	assert_int_equal(setenv("TZ", name, 1), 0);
	tzset();
}

/* draw_set draws a field of numbers, and appends it to the text. Returns whether it begins with
 * '*'. */
static bool draw_set(struct rng *rng, struct wanted *wanted, bool *set, int least, int most)
{
	size_t used = strlen(wanted->text), size = sizeof wanted->text - used;
	int kind = (int)rng_below(rng, 4), step = 2 + (int)rng_below(rng, 10);
	int first = least + (int)rng_below(rng, (uint64_t)(most - least + 1));

	if (kind == 0 || kind == 1) {
		step = kind == 0 ? 1 : step > most ? most : step;
		for (int i = least; i <= most; i += step)
			set[i] = true;
		(void)snprintf(wanted->text + used, size, step == 1 ? "* " : "*/%d ", step);
		return true;
	}
	if (kind == 2) {
		int last = first + (int)rng_below(rng, (uint64_t)(most - first + 1));

		for (int i = first; i <= last; i++)
			set[i] = true;
		(void)snprintf(wanted->text + used, size, "%d-%d ", first, last);
		return false;
	}
	step = least + (int)rng_below(rng, (uint64_t)(most - least + 1));
	set[first] = set[step] = true;
	(void)snprintf(wanted->text + used, size, "%d,%d ", first, step);
	return false;
}

/* draw_fixed draws a list of two numbers. */
static void draw_fixed(struct rng *rng, struct wanted *wanted, bool *set, int below)
{
	size_t used = strlen(wanted->text);
	int one = (int)rng_below(rng, (uint64_t)below), two = (int)rng_below(rng, (uint64_t)below);

	set[one] = set[two] = true;
	(void)snprintf(wanted->text + used, sizeof wanted->text - used, "%d,%d ", one, two);
}

/* draw draws a schedule: mostly hours of the night at which clocks are moved, on any day. */
static struct wanted draw(struct rng *rng)
{
	struct wanted wanted = {.text = ""};
	bool directed = rng_below(rng, 2) == 0, minutes = false, hours = false;
	size_t used;

	if (directed)
		draw_fixed(rng, &wanted, wanted.minute, 60);
	else
		minutes = draw_set(rng, &wanted, wanted.minute, 0, 59);
	if (directed)
		draw_fixed(rng, &wanted, wanted.hour, 5);
	else
		hours = draw_set(rng, &wanted, wanted.hour, 0, 23);
	wanted.interval = minutes || hours;
	used = strlen(wanted.text);
	if (directed) {
		wanted.day_star = wanted.weekday_star = true;
		memset(wanted.day, true, sizeof wanted.day);
		memset(wanted.month, true, sizeof wanted.month);
		memset(wanted.weekday, true, sizeof wanted.weekday);
		(void)snprintf(wanted.text + used, sizeof wanted.text - used, "* * *");
		return wanted;
	}
	wanted.day_star = draw_set(rng, &wanted, wanted.day, 1, 31);
	used = strlen(wanted.text);
	wanted.last = !wanted.day_star && rng_below(rng, 2) == 0;
	if (wanted.last)
		(void)snprintf(wanted.text + used - 1, sizeof wanted.text - used, ",L ");
	(void)draw_set(rng, &wanted, wanted.month, 1, 12);
	wanted.weekday_star = draw_set(rng, &wanted, wanted.weekday, 0, 6);
	used = strlen(wanted.text);
	wanted.nth_week = wanted.weekday_star ? 0 : (int)rng_below(rng, 6);
	wanted.nth_weekday = (int)rng_below(rng, 7);
	if (wanted.nth_week > 0)
		(void)snprintf(wanted.text + used - 1, sizeof wanted.text - used, ",%d#%d",
			       wanted.nth_weekday, wanted.nth_week);
	return wanted;
}

/* matches: does the schedule name this local minute? */
static bool matches(const struct wanted *wanted, int64_t local)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	time_t time = (time_t)(local * 60);
	struct tm tm;
	bool leap, day, weekday;

	if (!wanted->minute[(local % 60 + 60) % 60])
		return false;
	assert_non_null(gmtime_r(&time, &tm));
	if (!wanted->hour[tm.tm_hour] || !wanted->month[tm.tm_mon + 1])
		return false;
	leap = tm.tm_mon == 1 && (tm.tm_year % 4 == 0 && tm.tm_year != 200);
	day = wanted->day[tm.tm_mday] || (wanted->last && tm.tm_mday == lengths[tm.tm_mon] + leap);
	weekday = wanted->weekday[tm.tm_wday] ||
		  (tm.tm_wday == wanted->nth_weekday && wanted->nth_week > 0 &&
		   (tm.tm_mday + 6) / 7 == wanted->nth_week);
	if (wanted->day_star || wanted->weekday_star)
		return day && weekday;
	return day || weekday;
}

/* read_clocks notes what libc's clocks show in each minute around the change. False: an offset is
 * no whole minute. */
static bool read_clocks(struct walk *walk, int64_t change)
{
	walk->begin = (change - AROUND) / 60 * 60;
	for (int i = 0; i < MINUTES; i++) {
		long offset = clock_at(walk->begin + i * 60).tm_gmtoff;

		if (offset % 60 != 0)
			return false;
		walk->offset[i] = offset / 60;
	}
	return true;
}

static void mark(struct walk *walk, int64_t at)
{
	if (at >= 0 && at < MINUTES)
		walk->marked[at] = true;
}

/* mark_all marks the minutes of the schedule. at counts from the walk's begin. */
static void mark_all(struct walk *walk, const struct wanted *wanted)
{
	static bool seen[MINUTES + 2 * SHIFT_MAX];
	int64_t begin = walk->begin / 60, base = walk->offset[0] - SHIFT_MAX;

	memset(seen, false, sizeof seen);
	memset(walk->marked, false, sizeof walk->marked);
	for (int at = 0; at < MINUTES; at++) {
		int64_t offset = walk->offset[at];
		bool *passed = &seen[at + offset - base];

		if (at > 0 && !wanted->interval) /* what the clock has just skipped */
			for (int64_t skipped = at + walk->offset[at - 1]; skipped < at + offset;
			     skipped++)
				if (matches(wanted, begin + skipped))
					mark(walk, skipped - walk->offset[at - 1]);
		if ((wanted->interval || !*passed) && matches(wanted, begin + at + offset))
			mark(walk, at);
		*passed = true;
	}
}

/* compare: are the marks behind the first day the occurrences of the rule? Clocks before the walk
 * are not seen, so the first day only tells what has passed. */
static void compare(struct walk *walk, const struct wanted *wanted, const char *zone)
{
	static dw_usec times[MINUTES];
	char message[DW_MESSAGE_SIZE] = "";
	dw_rule rule = {.size = sizeof rule, .cron = wanted->text, .zone = zone};
	int from = 1440, found, at = 0;

	rule.end = (walk->begin + (MINUTES - SHIFT_MAX) * 60) * 1000000;
	found =
	    dw_rule_next(&rule, (walk->begin + from * 60) * 1000000 - 1, times, MINUTES, message);
	if (found < 0 && strstr(message, "never comes"))
		return;
	assert_string_equal(message, "");
	mark_all(walk, wanted);
	for (int i = from; i <= MINUTES - SHIFT_MAX; i++) {
		dw_usec time = (walk->begin + i * 60) * 1000000;
		bool found_here = at < found && times[at] == time;

		if (found_here != walk->marked[i])
			print_error("%s; zone %s: %lld is %s\n", wanted->text, zone,
				    (long long)(time / 1000000),
				    found_here ? "too much" : "missing");
		assert_int_equal(found_here, walk->marked[i]);
		at += found_here;
	}
	assert_int_equal(at, found);
}

/* look_at_changes compares schedules at changes of the zone: one of `each` of them. */
static size_t look_at_changes(struct rng *rng, const char *name, uint64_t each)
{
	static struct walk walk;
	const struct alloc alloc = alloc_default();
	char message[DW_MESSAGE_SIZE];
	struct zone_table *table;
	size_t schedules = 0;
	int64_t change = YEAR_2000;
	bool is_last; /* the table of the file ends about here */

	assert_int_equal(zone_load(&alloc, name, &table, message), DW_OK);
	use_zone(name);
	for (;;) {
		change = zone_span_at(table, change).end;
		if (change >= YEAR_2100)
			break;
		is_last = change >= YEAR_2037 && change < YEAR_2037 + 2 * INT64_C(366) * 86400;
		if (rng_below(rng, is_last ? 4 : each) != 0 || !read_clocks(&walk, change))
			continue;
		for (int i = 0; i < 4; i++, schedules++) {
			struct wanted wanted = draw(rng);

			compare(&walk, &wanted, name);
		}
	}
	alloc_free(&alloc, table);
	return schedules;
}

static void rule_at_each_change_agrees_with_the_oracle(void **state)
{
	struct rng rng = seed_of_test();
	uint64_t each = environment_number("DW_LONG", 0) ? 1 : 1 + 4000 / environment_scaled(100);
	size_t schedules = 0;

	(void)state;
	for (size_t i = 0; i < name_count; i++)
		schedules += look_at_changes(&rng, names[i], each);
	printf("%zu zones, %zu schedules, 0 differ\n", name_count, schedules);
	assert_true(schedules > environment_scaled(1000));
}

/* any_second: often where the tables of the files end, and their footers go on. */
static int64_t any_second(struct rng *rng)
{
	if (rng_below(rng, 3) == 0)
		return YEAR_2037 + (int64_t)rng_below(rng, 2 * 366 * UINT64_C(86400));
	return (int64_t)rng_below(rng, (uint64_t)YEAR_2100 * 2);
}

static void look_at_span(struct zone_span span, int64_t second)
{
	int64_t end = span.end < YEAR_2100 ? span.end : YEAR_2100;

	assert_int_equal(span.offset, clock_at(second).tm_gmtoff);
	assert_true(span.begin <= second && second < span.end);
	if (span.begin > 0) {
		assert_int_equal(span.before, clock_at(span.begin - 1).tm_gmtoff);
		assert_int_equal(span.offset, clock_at(span.begin).tm_gmtoff);
	}
	if (span.end < YEAR_2100)
		assert_true(clock_at(span.end).tm_gmtoff != span.offset);
	for (int64_t at = second; at < end; at += (end - second) / 12 + 1)
		assert_int_equal(span.offset, clock_at(at).tm_gmtoff);
}

static void zone_at_any_moment_agrees_with_libc(void **state)
{
	const struct alloc alloc = alloc_default();
	struct rng rng = seed_of_test();
	char message[DW_MESSAGE_SIZE];

	(void)state;
	for (size_t i = 0; i < name_count; i++) {
		struct zone_table *table;

		assert_int_equal(zone_load(&alloc, names[i], &table, message), DW_OK);
		use_zone(names[i]);
		for (uint64_t k = environment_scaled(300); k > 0; k--) {
			int64_t second = any_second(&rng);

			look_at_span(zone_span_at(table, second), second);
		}
		alloc_free(&alloc, table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(zone_at_any_moment_agrees_with_libc),
	    cmocka_unit_test(rule_at_each_change_agrees_with_the_oracle),
	};

	return cmocka_run_group_tests(tests, read_names, NULL);
}
