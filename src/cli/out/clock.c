#include "cli/out/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t clock_utc(dw_usec time, char ret_text[DW_TIME_SIZE])
{
	size_t length;

	dw_format_time(time, ret_text);
	length = strlen(ret_text) - 1;
	if (time % DW_SECONDS(1) == 0)
		length -= strlen(".000000");
	ret_text[length] = '\0';
	return length;
}

void clock_local(dw_usec time, const dw_local *local, char ret_text[DW_TIME_SIZE])
{
	size_t length = clock_utc(time + local->offset_us, ret_text);
	long long offset = llabs((long long)(local->offset_us / DW_SECONDS(1)));

	/* The year has four digits, so the text fits. */
	(void)snprintf(ret_text + length, DW_TIME_SIZE - length,
		       offset % 60 ? "%c%02lld:%02lld:%02lld" : "%c%02lld:%02lld",
		       local->offset_us < 0 ? '-' : '+', offset / 3600, offset / 60 % 60,
		       offset % 60);
}

void clock_note(dw_usec time, const dw_local *local, char ret_note[CLOCK_NOTE_SIZE])
{
	char missing[DW_TIME_SIZE];

	ret_note[0] = '\0';
	if (local->shift_us > 0) {
		(void)clock_utc(time + local->offset_us - local->shift_us, missing);
		(void)snprintf(ret_note, CLOCK_NOTE_SIZE,
			       "the clock goes forward: %.5s does not exist",
			       strchr(missing, 'T') + 1); /* the note fits */
	} else if (local->passing > 0) {
		(void)snprintf(ret_note, CLOCK_NOTE_SIZE, "comes twice: the %s",
			       local->passing == 1 ? "first" : "second");
	}
}
