#include "base/reason.h"

#include <string.h>

static const char *const names[] = {
    [DW_REASON_UNKNOWN] = "UNKNOWN", [DW_REASON_RETRIES] = "RETRIES",
    [DW_REASON_CRASHED] = "CRASHED", [DW_REASON_LATE] = "LATE",
    [DW_REASON_CORRUPT] = "CORRUPT", [DW_REASON_GAVE_UP] = "GAVE_UP",
};

enum { COUNT = sizeof names / sizeof *names };

const char *dw_reason_name(dw_reason reason)
{
	unsigned number = (unsigned)reason;

	return names[number < COUNT ? number : DW_REASON_UNKNOWN];
}

dw_reason reason_find(const char *name)
{
	for (unsigned i = 1; name && i < COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return (dw_reason)i;
	return DW_REASON_UNKNOWN;
}
