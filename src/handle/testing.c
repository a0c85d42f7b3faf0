/* Handles with DW_TEST_CLOCK. Only dw_test_advance() moves their clock. */
#include "durawheel/testing.h"

#include "base/usec.h"
#include "handle/handle.h"

#define TURNS_MAX 100000u /* limit of turns at one time of the clock; more are an endless loop */

/* turn_at_this_moment does turns until there is nothing to do before the clock moves. */
static int turn_at_this_moment(dw *d)
{
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		int status = handle_turn(d);

		if (status != DW_OK)
			return status;
		if (!loop_is_woken(d->loop) && loop_armed(d->loop) > d->test_now)
			return DW_OK;
	}
	return handle_refuse(d, DW_ELIMIT, "there is always something due at once");
}

int dw_test_advance(dw *d, dw_usec until)
{
	int status = handle_admit_driver(d);

	if (status == DW_OK && !handle_has_test_clock(d))
		status = handle_refuse(d, DW_EINVAL, "options.flags had no DW_TEST_CLOCK");
	if (status == DW_OK && until == DW_NEVER)
		status = handle_refuse(d, DW_EINVAL, "the time never comes: name a moment");
	if (status == DW_OK)
		status = turn_at_this_moment(d);
	while (status == DW_OK && d->test_now < until) {
		d->test_now = usec_min(loop_armed(d->loop), until);
		status = turn_at_this_moment(d);
	}
	return status;
}
