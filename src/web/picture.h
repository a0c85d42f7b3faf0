/* Writes a picture of numbers: bars in SVG, and the same numbers as a table. The browser draws it
 * without JavaScript. Screen readers get the title and a description, and the table. */
#ifndef DW_WEB_PICTURE_H
#define DW_WEB_PICTURE_H

#include <jansson.h>

#include "web/html.h"

#define PICTURE_UNKNOWN (-1)

struct picture {
	const char *key;          /* names the picture in the page */
	const char *title;        /* what the picture shows */
	const char *where;        /* what each bar stands for: the head of the first column */
	const char *what;         /* what is counted: the head of the second column */
	bool has_times;           /* each bar stands for a time, in the zone of the page */
	const char *kind;         /* the class of the bars */
	const char *none;         /* the words if all numbers are 0 */
	const json_int_t *values; /* 0 or more, or PICTURE_UNKNOWN */
	size_t count;
	const char *const *axis; /* words below the picture, from the left to the right */
	size_t axis_count;
	/* writes what bar i stands for */
	void (*label)(struct html *, const struct picture *, size_t i);
	dw_usec from; /* the time of the first bar, for `label` */
};

/* picture_begin writes the title. The caller then writes a line about the picture, and picture_end
 * writes the bars and the table. */
void picture_begin(struct html *, const struct picture *);
void picture_end(struct html *, const struct picture *);

#endif
