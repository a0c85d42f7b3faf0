/* Finds time zones of stored rules that this machine does not know, because its tzdata is missing
 * or older. */
#ifndef DW_CLI_TZDATA_H
#define DW_CLI_TZDATA_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"

/* The zones that were looked up. All bytes start as zero. */
struct tzdata {
	json_t *zones; /* maps each name to true if this machine knows the zone, else to false */
	char zone[DW_RULE_TEXT_MAX + 1];
};

/* tzdata_lacks returns the zone of a stored timer if this machine does not know it. Otherwise it
 * returns NULL. The text lives until the next call. */
const char *tzdata_lacks(struct tzdata *, const dw_info *);

/* tzdata_tell warns that `count` timers have an unknown zone, and says what to do. For 0 it prints
 * nothing. Such timers are not damaged: an owner on another machine may know the zones. */
void tzdata_tell(uint64_t count);

void tzdata_free(struct tzdata *);

#endif
