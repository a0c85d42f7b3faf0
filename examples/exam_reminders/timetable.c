#include "timetable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "csv.h"

/* offset_of: how far the local time of an RFC 3339 time that was parsed is ahead of UTC. */
static dw_usec offset_of(const char *time_text)
{
	size_t size = strlen(time_text);
	int hours, minutes;
	char sign;

	if (size < 6 || sscanf(time_text + size - 6, "%c%2d:%2d", &sign, &hours, &minutes) != 3)
		return 0; /* it ends in Z */
	return (sign == '-' ? -1 : 1) * (DW_HOURS(hours) + DW_MINUTES(minutes));
}

/* describe writes the line to print: "08:30 +01:00 Mon 15 May  in 30 min: Drama (8261/W)". */
static int describe(struct paper *p, char *const field[CSV_FIELDS_MAX], dw_usec remind)
{
	const char *start = field[3];
	dw_usec offset = offset_of(start);
	const char *zone = start[strlen(start) - 1] == 'Z' ? "UTC" : start + strlen(start) - 6;
	time_t local = (time_t)((p->reminder + offset) / DW_SECONDS(1));
	char clock[8], day[16];
	struct tm tm;
	int size;

	if (!gmtime_r(&local, &tm) || strftime(clock, sizeof clock, "%H:%M", &tm) == 0 ||
	    strftime(day, sizeof day, "%a %d %b", &tm) == 0)
		return -1;
	size = snprintf(p->text, sizeof p->text, "%s %s %s  in %lld min: %s (%s)", clock, zone, day,
			(long long)(remind / DW_MINUTES(1)), field[1], field[0]);
	for (char *c = p->text; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' '; /* a field in quotes may hold line ends */
	return size > 0 && (size_t)size < sizeof p->text ? 0 : -1;
}

/* note_day keeps when the paper starts by the local clock, and its name for the list of a day. */
static int note_day(struct paper *p, char *const field[CSV_FIELDS_MAX], dw_usec start)
{
	dw_usec local = start + offset_of(field[3]);
	long minute = (long)(local % DW_DAYS(1) / DW_MINUTES(1));
	int size = snprintf(p->title, sizeof p->title, "%02ld:%02ld %s (%s)", minute / 60,
			    minute % 60, field[1], field[0]);

	p->day = (long)(local / DW_DAYS(1));
	for (char *c = p->title; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	return size > 0 && (size_t)size < sizeof p->title ? 0 : -1;
}

/* fill_paper: row and unit name the paper, so that importing the file again finds the same ids. */
static int fill_paper(struct paper *p, size_t row, char *const field[CSV_FIELDS_MAX],
		      dw_usec remind)
{
	dw_usec start;
	int size = snprintf(p->id, sizeof p->id, "paper:%zu:%s", row, field[0]);

	if (size < 0 || (size_t)size >= sizeof p->id || dw_parse_time(field[3], &start) != DW_OK)
		return -1;
	p->reminder = start - remind;
	return note_day(p, field, start) < 0 ? -1 : describe(p, field, remind);
}

/* read_papers: every record behind the heading; -1, and words on stderr, at the first bad one. */
static int read_papers(char *text, const char *file, dw_usec remind, struct timetable *ret_table)
{
	char *field[CSV_FIELDS_MAX];
	int fields;

	if (csv_cut(&text, field) != 5 || strcmp(field[0], "unit") != 0 ||
	    strcmp(field[1], "subject") != 0 || strcmp(field[3], "start") != 0) {
		fprintf(stderr, "%s: must begin with unit,subject,tier,start,minutes\n", file);
		return -1;
	}
	while ((fields = csv_cut(&text, field)) != 0) {
		struct paper *p = &ret_table->papers[ret_table->count];

		if (fields != 5 || fill_paper(p, ret_table->count + 1, field, remind) < 0) {
			fprintf(stderr, "%s: paper %zu is not unit,subject,tier,start,minutes\n",
				file, ret_table->count + 1);
			return -1;
		}
		ret_table->count++;
	}
	return 0;
}

int timetable_load(const char *file, dw_usec remind, struct timetable *ret_table)
{
	char *text = csv_read(file);
	size_t lines = 1;
	int result = -1;

	if (!text)
		return -1;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	ret_table->count = 0;
	ret_table->papers = calloc(lines, sizeof *ret_table->papers);
	if (ret_table->papers)
		result = read_papers(text, file, remind, ret_table);
	free(text);
	return result;
}

void timetable_begin(struct timetable *table, dw_usec midnight)
{
	long first = 0;

	for (size_t i = 0; i < table->count; i++)
		if (i == 0 || table->papers[i].day < first)
			first = table->papers[i].day;
	for (size_t i = 0; midnight != DW_NEVER && i < table->count; i++)
		table->papers[i].day += (long)(midnight / DW_DAYS(1)) - first;
}
