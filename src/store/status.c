#include "store/status.h"

#include <string.h>

dw_store_status *status_new(const struct alloc *alloc, const dw_store_status *values)
{
	const char *owner = values->owner ? values->owner : "";
	const char *report = values->owner_report ? values->owner_report : "";
	const char *standby = values->standby ? values->standby : "";
	size_t owner_size = strlen(owner) + 1;
	size_t report_size = strlen(report) + 1;
	size_t standby_size = strlen(standby) + 1;
	dw_store_status *status =
	    alloc_new(alloc, sizeof *status + owner_size + report_size + standby_size);
	char *strings = (char *)(status + 1);

	if (!status)
		return NULL;
	*status = *values;
	status->size = sizeof *status;
	status->owner = memcpy(strings, owner, owner_size);
	status->owner_report = memcpy(strings + owner_size, report, report_size);
	status->standby = memcpy(strings + owner_size + report_size, standby, standby_size);
	return status;
}
