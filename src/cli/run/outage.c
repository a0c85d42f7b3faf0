#include "cli/run/outage.h"

#include <stdio.h>
#include <string.h>

#include "cli/out/errors.h"

void outage_init(struct outage *outage)
{
	*outage = (struct outage){.thread = pthread_self()};
}

void outage_log_line(dw_log_level level, const char *line, void *user)
{
	struct outage *outage = user;

	if (level > DW_LOG_WARN)
		return;
	tell_store(level, line);
	if (pthread_equal(pthread_self(), outage->thread))
		(void)snprintf(outage->line, sizeof outage->line, "%s",
			       line); /* a long line is cut */
}

bool outage_is_logged(struct outage *outage, const dw_event *event)
{
	bool was = outage->is_logged;

	if (event->kind == DW_EVENT_STORE_SLOW)
		return outage->is_away;
	outage->is_away = event->kind == DW_EVENT_STORE_FAILED ||
			  (outage->is_away && event->kind != DW_EVENT_STORE_BACK);
	if (event->kind == DW_EVENT_STORE_FAILED)
		outage->is_logged = outage->line[0] && strstr(event->message, outage->line);
	else if (event->kind == DW_EVENT_STORE_BACK)
		outage->is_logged = false;
	else
		return false;
	return was || outage->is_logged;
}

static int read_policy(const struct options *options, dw_outage *outage)
{
	unsigned number = *outage;
	int code = options_word(options, OPT_OUTAGE, &number);

	*outage = number;
	return code;
}

int outage_read(const struct options *options, dw_options *ret_options)
{
	int code = read_policy(options, &ret_options->outage);

	if (code == EXIT_DONE && options->value[OPT_LEASE])
		code = options_duration(options, OPT_LEASE, &ret_options->lease_us);
	if (code == EXIT_DONE && options->value[OPT_LEASE] &&
	    (ret_options->lease_us < DW_SECONDS(1) || ret_options->lease_us > DW_HOURS(24)))
		code =
		    complain(EXIT_USAGE, "--lease %s: write 1s to 24h", options->value[OPT_LEASE]);
	return code;
}
