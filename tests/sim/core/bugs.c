#include "sim/core/bugs.h"

#include <string.h>

#include "durawheel/wheel.h"

static const char *const names[BUG_COUNT] = {
    [BUG_ROUND_DOWN] = "round_down",         /* a deadline in whole milliseconds */
    [BUG_LEVEL_EDGE] = "level_edge",         /* a timer lost at the edge of a wheel's level */
    [BUG_STALE_SETTLE] = "stale_settle",     /* settle of whatever generation is stored */
    [BUG_PAGE_BOUNDARY] = "page_boundary",   /* the next page begins at the next deadline */
    [BUG_CLOCK_BACK] = "clock_back",         /* a clock set back is not noticed */
    [BUG_CANCEL_REVIVED] = "cancel_revived", /* cancel confirmed and not done */
    [BUG_ATTEMPT_RESET] = "attempt_reset",   /* every claim is the first one */
    [BUG_CLAIM_ANY] = "claim_any",           /* claim of whatever generation is stored */
    [BUG_ACK_BY_ID] = "ack_by_id",           /* acknowledges what was written since, too */
    [BUG_PUT_LOST] = "put_lost",             /* put confirmed and not done */
    [BUG_PUT_PHANTOM] = "put_phantom",       /* put refused and done */
    [BUG_SETTLE_LOST] = "settle_lost",       /* settle confirmed and not done */
    [BUG_WHEEL_ORDER] = "wheel_order",       /* the wheel counts in tenths of a second */
    [BUG_DATA_FLIPPED] = "data_flipped",     /* one byte of the data is another */
    [BUG_MOVE_LOST] = "move_lost",           /* move confirmed and not done */
    [BUG_MOVE_STARTED] = "move_started",     /* a client moves what the owner has claimed */
    [BUG_PURGE_LOST] = "purge_lost",         /* purge confirmed and not done */
    [BUG_AFTER_LEASE] = "after_lease",       /* the lease never ends */
    [BUG_FENCE_UNSEEN] = "fence_unseen",     /* owns again, and does not say what was between */

    [BUG_LATE_START] = "late_start",     /* starts what is due after the lease is over */
    [BUG_NO_HELLO] = "no_hello",         /* what lies in an old socket is carried out */
    [BUG_CLAIM_UNSEEN] = "claim_unseen", /* a claim names no version */
    [BUG_NEVER_OPEN] = "never_open",     /* a cancel forgets the earlier claim */
    [BUG_ACK_UNSEEN] = "ack_unseen",     /* the inbox is acknowledged by id only */
    [BUG_ATTEMPT_KEPT] = "attempt_kept", /* claiming what a dead owner had claimed */
    [BUG_PUSH_LOST] = "push_lost",       /* after a loss nothing is written again */
    [BUG_PUSH_FRESH] = "push_fresh",     /* what is written again was never attempted */
    [BUG_DELETE_LOST] = "delete_lost",   /* after a loss nothing is deleted again */
};

const char *bug_name(enum bug bug)
{
	return names[bug] ? names[bug] : "none";
}

enum bug bug_find(const char *name)
{
	for (int i = 1; i < BUG_COUNT; i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return (enum bug)i;
	return BUG_NONE;
}

/* ---- Wheel --------------------------------------------------------------------------------- */

int __real_dw_wheel_add(dw_wheel *, int64_t deadline, dw_wheel_handle *);
int __wrap_dw_wheel_add(dw_wheel *, int64_t deadline, dw_wheel_handle *);

static enum bug of_wheel;

void bug_wheel(enum bug bug)
{
	of_wheel = bug;
}

/* The linker sends the engine's calls here (--wrap). */
int __wrap_dw_wheel_add(dw_wheel *wheel, int64_t deadline, dw_wheel_handle *ret_handle)
{
	if (of_wheel == BUG_LEVEL_EDGE && deadline % (1 << 18) == 0)
		deadline = INT64_MAX;
	if (of_wheel == BUG_WHEEL_ORDER && deadline < INT64_MAX - 100000)
		deadline += 100000 - deadline % 100000;
	return __real_dw_wheel_add(wheel, deadline, ret_handle);
}
