/* Time zones of stored rules that this machine does not know: its tzdata is missing or older. */
#ifndef DW_CLI_TZDATA_H
#define DW_CLI_TZDATA_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/durawheel.h"

/* What was looked up. Start with all zero. */
struct tzdata {
	json_t *zones; /* name: true if this machine knows it, else false */
	char zone[DW_RULE_TEXT_MAX + 1];
};

/* tzdata_lacks returns the zone of a stored timer if this machine does not know it, or else NULL.
 * The text lives until the next call. */
const char *tzdata_lacks(struct tzdata *, const dw_info *);

/* tzdata_tell warns of count timers with such a zone, if count is not 0, and says what to do. They
 * are no damage: an owner on another machine may know their zones. */
void tzdata_tell(uint64_t count);

void tzdata_free(struct tzdata *);

#endif
