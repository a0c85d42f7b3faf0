/* Reads times from the command line, and prints how they were understood. */
#ifndef DW_CLI_DUE_H
#define DW_CLI_DUE_H

#include "cli/options.h"
#include "cli/out/local_time.h"
#include "durawheel/durawheel.h"

/* due_of_options reads --in or --at. Exactly one of them must be given. Returns EXIT_DONE, or
 * complains. */
int due_of_options(const struct options *, const char *command, dw_usec *ret_due);

/* due_of_option reads one option that was given. Its value is a time or a duration from now.
 * Returns EXIT_DONE, or complains. */
int due_of_option(const struct options *, enum option_id, dw_usec *ret_due);

/* moment_of_option reads one option that was given. Its value is a time. If the time was given in
 * words or in a zone, or if stderr is a terminal, it prints on stderr how it understood the time.
 * Returns EXIT_DONE, or complains. */
int moment_of_option(const struct options *, enum option_id, dw_usec *ret_time);

/* due_after returns now + delay, but at most DW_NEVER. */
dw_usec due_after(dw_usec now, dw_usec delay);

/* zone_is_known refuses a --zone that this machine does not know, even if no time needs it. Returns
 * EXIT_DONE, or complains. */
int zone_is_known(const struct options *);

/* shown_zone finds the zone in which times are shown: the zone of --zone, or with --local the
 * machine's. It writes the zone to ret_zone and points *ret_shown to it. Without both options
 * *ret_shown is NULL, and times are shown in UTC. Returns EXIT_DONE, or complains. */
int shown_zone(const struct options *, struct local_zone *ret_zone,
	       const struct local_zone **ret_shown);

#endif
