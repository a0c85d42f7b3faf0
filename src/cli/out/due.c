#include "cli/out/due.h"

#include <stdbool.h>
#include <unistd.h>

#include "cli/out/durations.h"
#include "cli/out/errors.h"
#include "cli/out/times.h"
#include "cli/session.h"

dw_usec due_after(dw_usec now, dw_usec delay)
{
	return delay > DW_NEVER - now ? DW_NEVER : now + delay;
}

static struct time_place place_of(const struct options *options)
{
	return (struct time_place){.now = session_now(), .zone = options->value[OPT_ZONE]};
}

int zone_is_known(const struct options *options)
{
	char fault[LOCAL_FAULT_SIZE];
	struct local_zone zone;
	int status;

	if (!options->value[OPT_ZONE])
		return EXIT_DONE;
	status = local_zone_find(options->value[OPT_ZONE], &zone, fault);
	return status == DW_OK ? EXIT_DONE : complain(exit_of(status), "--zone: %s", fault);
}

/* echo prints how a time was understood. */
static void echo(enum option_id id, const struct time_read *read, const struct time_place *place)
{
	char text[TIME_ECHO_SIZE];
	const char *what = id == OPT_FROM         ? "from"
			   : id == OPT_UNTIL      ? "until"
			   : id == OPT_DUE_FROM   ? "due from"
			   : id == OPT_DUE_BEFORE ? "due before"
						  : "due";

	if (!read->is_understood && !isatty(STDERR_FILENO))
		return;
	time_echo(read, place, text);
	(void)complain(EXIT_DONE, "%s %s", what, text);
}

static int refuse_duration(const struct options *options, enum option_id id, int status)
{
	const struct time_place place = place_of(options);
	const char *text = options->value[id];
	char fault[TIME_FAULT_SIZE];
	struct time_read read;
	bool is_time = status == DW_EINVAL && time_of(text, &place, &read, fault) == DW_OK;

	return complain(EXIT_USAGE, "--%s \"%.300s\" %s", options_name(id), text,
			is_time ? "is a time and not a duration: write it behind --at"
				: duration_fault(text, status));
}

static int delay_of_option(const struct options *options, enum option_id id, dw_usec *ret_due)
{
	const struct time_place place = place_of(options);
	struct time_read read = {.is_understood = false};
	dw_usec delay;
	int status = duration_of(options->value[id], &delay);

	if (status != DW_OK)
		return refuse_duration(options, id, status);
	*ret_due = read.time = due_after(place.now, delay);
	echo(id, &read, &place);
	return EXIT_DONE;
}

/* time_hint returns the end of an error message, which says what else the option or --in
 * accepts. */
static const char *time_hint(enum option_id id, const char *text)
{
	if (id == OPT_DUE_FROM || id == OPT_DUE_BEFORE)
		return ", or a duration from now, as 5min";
	return id == OPT_AT && is_duration(text) ? "; --in takes durations" : "";
}

int moment_of_option(const struct options *options, enum option_id id, dw_usec *ret_time)
{
	const struct time_place place = place_of(options);
	const char *text = options->value[id];
	char fault[TIME_FAULT_SIZE];
	struct time_read read;
	int status = time_of(text, &place, &read, fault);

	if (status != DW_OK)
		return complain(status == DW_ENOMEM ? EXIT_FAILED : EXIT_USAGE,
				"--%s \"%.300s\" %s%s", options_name(id), text, fault,
				time_hint(id, text));
	*ret_time = read.time;
	echo(id, &read, &place);
	return EXIT_DONE;
}

int due_of_option(const struct options *options, enum option_id id, dw_usec *ret_due)
{
	if (is_duration(options->value[id]))
		return delay_of_option(options, id, ret_due);
	return moment_of_option(options, id, ret_due);
}

int due_of_options(const struct options *options, const char *command, dw_usec *ret_due)
{
	int code;

	if (!options->value[OPT_IN] == !options->value[OPT_AT])
		return complain(EXIT_USAGE,
				"%s: exactly one of --in DURATION and --at TIME is required",
				command);
	if (options->value[OPT_IN] && options->value[OPT_ZONE])
		return complain(EXIT_USAGE, "%s: --in counts from now: --zone is for --at",
				command);
	code = zone_is_known(options);
	if (code != EXIT_DONE)
		return code;
	return options->value[OPT_AT] ? moment_of_option(options, OPT_AT, ret_due)
				      : delay_of_option(options, OPT_IN, ret_due);
}

int shown_zone(const struct options *options, struct local_zone *ret_zone,
	       const struct local_zone **ret_shown)
{
	char fault[LOCAL_FAULT_SIZE];
	int status;

	*ret_shown = NULL;
	if (!options->value[OPT_ZONE] && !options->value[OPT_LOCAL])
		return EXIT_DONE;
	if (options->value[OPT_ZONE] && options->value[OPT_LOCAL])
		return complain(EXIT_USAGE, "write --zone or --local, not both");
	status = options->value[OPT_ZONE]
		     ? local_zone_find(options->value[OPT_ZONE], ret_zone, fault)
		     : local_zone_of_machine(ret_zone, fault);
	if (status != DW_OK)
		return complain(exit_of(status), "--%s: %s",
				options->value[OPT_ZONE] ? "zone" : "local", fault);
	*ret_shown = ret_zone;
	return EXIT_DONE;
}
