#include "cli/outage.h"

#include <stdio.h>
#include <string.h>

#include "cli/errors.h"

void outage_init(struct outage *outage)
{
	*outage = (struct outage){.thread = pthread_self()};
}

void outage_log_line(dw_log_level level, const char *line, void *user)
{
	struct outage *outage = user;

	if (level > DW_LOG_WARN)
		return;
	(void)complain(EXIT_FAILED, "%s", line);
	if (pthread_equal(pthread_self(), outage->thread))
		(void)snprintf(outage->line, sizeof outage->line, "%s",
			       line); /* a long line is cut */
}

bool outage_is_logged(struct outage *outage, const dw_event *event)
{
	bool was = outage->is_logged;

	if (event->kind == DW_EVENT_STORE_FAILED)
		outage->is_logged = outage->line[0] && strstr(event->message, outage->line);
	else if (event->kind == DW_EVENT_STORE_BACK)
		outage->is_logged = false;
	else
		return false;
	return was || outage->is_logged;
}
