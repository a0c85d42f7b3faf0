/* From a dw_rule of a caller to a struct calendar: all checks of a rule are here. */
#ifndef DW_CALENDAR_PREPARE_H
#define DW_CALENDAR_PREPARE_H

#include "calendar/next.h"

/* calendar_prepare checks the rule and loads its zone. now is the start of a rule without one.
 * Release with calendar_release(). DW_ENOMEM, or DW_EINVAL: message names the field. */
int calendar_prepare(const struct alloc *, const dw_rule *, dw_usec now,
		     struct calendar *ret_calendar, char *ret_message);
void calendar_release(const struct alloc *, struct calendar *);

#endif
