/* Divides a written time into its parts. cli/out/times.c finds out which time the parts mean. */
#ifndef DW_CLI_TIME_WORDS_H
#define DW_CLI_TIME_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

enum { TIME_WORDS_SIZE = 128, TIME_HINT_SIZE = 320 };

/* The parts of a time. A number is -1, and a name "", if the text has no such part. */
struct time_words {
	int year, month, day; /* as written; a month and a day come together */
	int weekday;          /* 0 is Sunday */
	int days;             /* from today: 0 is today, 1 tomorrow; or TIME_NO_DAYS */
	int hour, minute, second;
	dw_usec fraction_us;
	bool has_offset;
	dw_usec offset_us;
	char zone[TIME_WORDS_SIZE];
};
enum { TIME_NO_DAYS = -100 };

/* time_words_read divides the text. Returns DW_OK, DW_EINVAL or DW_ELIMIT. On an error ret_hint
 * says what is wrong with the text; it may be "". */
int time_words_read(const char *text, struct time_words *ret_words, char ret_hint[TIME_HINT_SIZE]);

#endif
