/* The timetable is stored once.
 *
 * The import ends with a timer that is never due, the clock. It says that every paper is stored,
 * and for which epoch, start and speed. Reminders get their handler only after the clock is stored.
 * So nothing has fired yet from a store without a clock, and the import begins again: the same ids
 * replace what a killed import left. A store with a clock is complete, and the file is not read
 * again: a reminder that has fired is gone from the store and must not come back. */
#ifndef IMPORT_H
#define IMPORT_H

#include "settings.h"

#define TOPIC "exam.reminder"
#define PATIENCE DW_SECONDS(30)

dw_usec wall_clock(void);

/* import_once: DW_OK when the timetable is in the store, from this start or from an earlier one. */
int import_once(dw *, const struct settings *);

#endif
