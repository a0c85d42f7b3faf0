/* A timetable of exams, as a file with the heading unit,subject,tier,start,minutes has it. */
#ifndef TIMETABLE_H
#define TIMETABLE_H

#include <stddef.h>

#include <durawheel/durawheel.h>

struct paper {
	dw_usec reminder; /* in the time of the timetable */
	char id[DW_ID_MAX + 1];
	char text[256];  /* what the reminder says */
	long day;        /* of its start, by the local clock: days since 1970 */
	char title[224]; /* "09:00 Drama (8261/W)" */
};

struct timetable {
	struct paper *papers; /* the caller frees them */
	size_t count;
};

/* timetable_load reads the file; each paper's reminder comes `remind` before its start. Returns 0,
 * or -1 and words on stderr. */
int timetable_load(const char *file, dw_usec remind, struct timetable *ret_table);

/* timetable_begin moves all days, so that the first one is that of `midnight`. DW_NEVER: they
 * stay. */
void timetable_begin(struct timetable *, dw_usec midnight);

#endif
