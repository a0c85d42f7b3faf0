/* exam_reminders --daily: every weekday at 08:00 in London, but on no bank holiday, the exams of
 * the day. It is one recurring timer, and it needs no import: put again at each start, it stays as
 * it is. */
#ifndef DAILY_H
#define DAILY_H

#include "settings.h"

/* daily_run opens the store and lists until a signal comes or, with --until, until the last list.
 * Returns the status of the program. */
int daily_run(const struct settings *);

#endif
