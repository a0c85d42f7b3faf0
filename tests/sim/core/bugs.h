/* Planted bugs: each breaks one promise the way a plausible mistake would, outside the product, in
 * what stands between the engine and its store, clock or wheel. The model must find every one. */
#ifndef SIM_BUGS_H
#define SIM_BUGS_H

enum bug {
	BUG_NONE,
	BUG_ROUND_DOWN,
	BUG_LEVEL_EDGE,
	BUG_STALE_SETTLE,
	BUG_PAGE_BOUNDARY,
	BUG_CLOCK_BACK,
	BUG_CANCEL_REVIVED,
	BUG_ATTEMPT_RESET,
	BUG_CLAIM_ANY,
	BUG_ACK_BY_ID,
	BUG_PUT_LOST,
	BUG_PUT_PHANTOM,
	BUG_SETTLE_LOST,
	BUG_WHEEL_ORDER,
	BUG_DATA_FLIPPED,
	BUG_MOVE_LOST,
	BUG_MOVE_STARTED,
	BUG_PURGE_LOST,
	BUG_AFTER_LEASE,
	BUG_FENCE_UNSEEN,
	BUG_REDIS, /* no bug: those behind it are of the simulation of the Redis store */
	BUG_LATE_START,
	BUG_NO_HELLO,
	BUG_CLAIM_UNSEEN,
	BUG_NEVER_OPEN,
	BUG_ACK_UNSEEN,
	BUG_ATTEMPT_KEPT,
	BUG_PUSH_LOST,
	BUG_PUSH_FRESH,
	BUG_DELETE_LOST,
	BUG_COUNT
};

const char *bug_name(enum bug);

/* bug_find: BUG_NONE when there is no bug of that name. */
enum bug bug_find(const char *name);

/* bug_wheel: the bug of the wheels, which are not given a sim; set before each seed. */
void bug_wheel(enum bug);

#endif
