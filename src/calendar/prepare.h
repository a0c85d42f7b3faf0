/* Makes a struct calendar from a caller's dw_rule. All checks of a rule are here. */
#ifndef DW_CALENDAR_PREPARE_H
#define DW_CALENDAR_PREPARE_H

#include "calendar/next.h"

/* calendar_prepare checks the rule and loads its zone. now is the start of a rule that has none. It
 * returns DW_OK, DW_ENOMEM or DW_EINVAL. With DW_EINVAL ret_message names the field. Release the
 * calendar with calendar_release(). */
int calendar_prepare(const struct alloc *, const dw_rule *, dw_usec now,
		     struct calendar *ret_calendar, char *ret_message);
void calendar_release(const struct alloc *, struct calendar *);

#endif
