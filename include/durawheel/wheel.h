/*
 * durawheel/wheel.h: a timing wheel. Deadlines go in, due timers come out, in order.
 *
 * It is the in-memory half of durawheel and can be used alone: there is no store, event loop,
 * clock, callback, thread or I/O in it. The caller says what time it is and asks which timers are
 * due.
 *
 *     dw_wheel *wheel;
 *     dw_wheel_handle handle;
 *     dw_wheel_due due[64];
 *
 *     dw_wheel_new(&wheel, now, NULL);
 *     dw_wheel_add(wheel, now + 30 * 60 * 1000000LL, &handle);
 *     ...
 *     do {
 *             size_t n = dw_wheel_advance(wheel, now, due, 64);
 *             for (size_t i = 0; i < n; i++)
 *                     fire(dw_wheel_index(due[i].handle));
 *     } while (dw_wheel_count(wheel) && dw_wheel_next(wheel) <= now);
 *     sleep_until(dw_wheel_next_work(wheel));
 *
 * PROMISES
 *   Never early: no timer comes out before now >= its deadline, even if now goes back.
 *   In order: by deadline, and among equal deadlines by insertion, across all calls of
 *   dw_wheel_advance(). The one exception is unavoidable: a timer added with a deadline that is
 *   older than a timer already taken out.
 *   No pause: no call does more work than its comment says, and there is no cascade. The array of
 *   timers grows by realloc, which moves pages and not bytes (30 us at a million timers; up to 0.2
 *   ms once, where many more were added and cancelled before); an allocator that copies makes a
 *   pause of it. dw_wheel_reserve() avoids both.
 *
 * UNITS
 *   Time is a count of ticks in an int64_t, of any length and origin; the whole range may be used.
 *   durawheel itself uses microseconds since the Unix epoch, and the comments speak of
 *   microseconds.
 *
 * COST
 *   18 bytes a timer and 57 KiB a wheel; 4 bytes more once there were some five adds and moves for
 *   each timer that there is room for, or one that was overdue. Besides, up to 1 KiB for each of
 *   the wheel's 4,608 lists that could be needed at one time, and room to grow into, neither of
 *   which is touched before it is needed (with all of that 22 to 28 bytes a timer at a million, 66
 *   to 70 at 100,000). Add, cancel and move are O(1): a cancel writes two bits, an add one entry at
 *   the end of a list; the cancel of the last timer also clears the lists. What was cancelled is
 *   cleared away in small steps while others are added; until then it takes up to as much memory
 *   again. A timer is moved at most 7 times on its way down, less often the nearer its deadline was
 *   when it was added and the fewer are due with it. An advance with nothing to do is two compares.
 *
 * OWNERSHIP
 *   dw_wheel_new() gives a wheel, dw_wheel_free() takes it back with all that is in it. A timer has
 *   no payload: its index is small and dense, so keep an array of your own beside the wheel. An
 *   advance frees the indexes of all timers that it takes out, and the next add may use one: look
 *   up what is yours for the whole batch before you add a timer.
 *
 * ERRORS
 *   DW_OK or a negative dw_error. A failed call changes nothing. Nothing aborts, prints or logs.
 *
 * THREADS
 *   No locks and no globals. One thread at a time may use a wheel; different wheels are
 *   independent.
 *
 * SOURCE
 *   G. Varghese, T. Lauck: Hashed and Hierarchical Timing Wheels, SOSP 1987. Ours are the levels
 *   that overlap by half, so that a slot is emptied in small pieces instead of one cascade, and the
 *   exact order; src/wheel/wheel.c explains both.
 *
 * Since 0.1.0.
 */
#ifndef DURAWHEEL_WHEEL_H
#define DURAWHEEL_WHEEL_H

#include <stddef.h>
#include <stdint.h>

#include <durawheel/error.h>

#ifndef DW_API
#if defined(__GNUC__)
#define DW_API __attribute__((visibility("default")))
#else
#define DW_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The most timers one wheel holds. */
#define DW_WHEEL_TIMERS_MAX ((uint32_t)1 << 30)

typedef struct dw_wheel dw_wheel;

/*
 * dw_wheel_handle: one timer of one wheel. The low half is its index, the high half a generation.
 * It is never 0, and stale as soon as its timer has come out, was cancelled or moved: functions
 * then answer DW_ENOENT. It means nothing to another wheel: giving it to one is a mistake that may
 * not be noticed; then that wheel may lose a timer, and give two timers one index. (The generations
 * of a wheel start again after 2^32 adds and moves. To use a stale handle that was given so many
 * ago is such a mistake, too.)
 */
typedef uint64_t dw_wheel_handle;

/*
 * dw_wheel_index: the small dense number of a timer: below the largest number of timers the wheel
 * has held at one time. Unique among live timers, reused afterwards.
 */
static inline uint32_t dw_wheel_index(dw_wheel_handle handle)
{
	return handle & 0xffffffffu;
}

/* dw_wheel_due: a timer that has come out. */
typedef struct dw_wheel_due {
	dw_wheel_handle handle; /* already stale: for dw_wheel_index() and for comparing */
	int64_t deadline;
} dw_wheel_due;

/*
 * dw_wheel_allocator: where memory comes from. `resize` behaves as realloc(block, size), and frees
 * the block and returns NULL when size is 0; `user` is passed to it untouched.
 */
typedef struct dw_wheel_allocator {
	void *(*resize)(void *user, void *block, size_t size);
	void *user;
} dw_wheel_allocator;

/*
 * dw_wheel_new: make an empty wheel that stands at `now`. `allocator` is copied; NULL is malloc.
 * DW_EINVAL: ret_wheel is NULL or the allocator has no resize. DW_ENOMEM.
 */
DW_API int dw_wheel_new(dw_wheel **ret_wheel, int64_t now, const dw_wheel_allocator *allocator);

/* dw_wheel_free: give the wheel and every timer in it back. NULL is allowed. */
DW_API void dw_wheel_free(dw_wheel *wheel);

/*
 * dw_wheel_reserve: allocate now for `count` timers at one time, so that until there are more,
 * adding or moving one to a deadline that is not below dw_wheel_now() cannot fail. It allocates
 * as much again, and an eighth, for what was cancelled; where that does not suffice, it asks for
 * more, and an add for which there is none looks at all entries: O(n).
 * DW_EINVAL; DW_ENOMEM (what could be allocated stays for later use); DW_ELIMIT: more than
 * DW_WHEEL_TIMERS_MAX.
 */
DW_API int dw_wheel_reserve(dw_wheel *wheel, size_t count);

/*
 * dw_wheel_add: one more timer. Any deadline is good; one in the past comes out of the next
 * advance, before everything later, and costs O(log n), or O(1) when such deadlines are added in
 * order. DW_EINVAL; DW_ENOMEM; DW_ELIMIT: DW_WHEEL_TIMERS_MAX timers are in the wheel.
 */
DW_API int dw_wheel_add(dw_wheel *wheel, int64_t deadline, dw_wheel_handle *ret_handle);

/* dw_wheel_cancel: the timer is gone and will not come out. DW_EINVAL, DW_ENOENT. */
DW_API int dw_wheel_cancel(dw_wheel *wheel, dw_wheel_handle handle);

/*
 * dw_wheel_move: give the timer *handle another deadline. It counts as inserted now, behind others
 * with the same deadline; it keeps its index and gets a new handle, *handle, the old one is stale.
 * DW_EINVAL, DW_ENOENT, DW_ENOMEM, DW_ELIMIT: nothing was changed.
 */
DW_API int dw_wheel_move(dw_wheel *wheel, dw_wheel_handle *handle, int64_t deadline);

/* dw_wheel_count: the timers in the wheel. */
DW_API size_t dw_wheel_count(const dw_wheel *wheel);

/*
 * dw_wheel_now: the wheel's own time. It never goes back, and is at most the largest `now` it was
 * given; it stays behind while due timers may be left inside.
 */
DW_API int64_t dw_wheel_now(const dw_wheel *wheel);

/*
 * dw_wheel_advance: take out at most `max` timers with a deadline <= now, write them to `out` in
 * order of deadline and insertion, and return how many.
 *
 * The work is bounded too: besides the timers taken out at most 4 * max + 4096 are moved between
 * levels or, having been cancelled, passed over. So fewer than max, even 0, may come out while
 * timers are due, for example after a jump of the clock: call again while dw_wheel_next() <= now,
 * every call makes progress. `now` may go back; then what is not due by the new time waits. `max`
 * may be 0. NULL arguments take out nothing.
 */
DW_API size_t dw_wheel_advance(dw_wheel *wheel, int64_t now, dw_wheel_due *out, size_t max);

/*
 * dw_wheel_next: a lower bound of the earliest deadline; INT64_MAX when the wheel is empty. O(1).
 *
 * Never later than the earliest deadline, and exact when that is overdue or lies in the wheel's
 * current bucket of 1.024 ms, nothing was cancelled or moved, and the last advance was finished.
 * Otherwise it is the start of the slot the timer lies in, and a caller that sleeps until then and
 * advances gets a better answer, where few timers are in that slot the exact one. A timer far ahead
 * costs at most one such wake-up a level, and one of a few usually one. It may be the time of a
 * timer that has been cancelled or moved, until an advance passes it. So it does not promise that
 * anything is due at the time it names.
 */
DW_API int64_t dw_wheel_next(const dw_wheel *wheel);

/*
 * dw_wheel_next_work: when to call dw_wheel_advance() next, at the latest. Never later than
 * dw_wheel_next().
 *
 * It is earlier when a well filled slot should be emptied in pieces before its time comes, some 256
 * timers or more a piece; a slot with fewer than 250 asks for nothing extra. Sleeping until
 * dw_wheel_next() instead is correct, but then a million timers may have to be moved at one time.
 */
DW_API int64_t dw_wheel_next_work(const dw_wheel *wheel);

/* dw_wheel_bytes: the memory the wheel holds, itself included. */
DW_API size_t dw_wheel_bytes(const dw_wheel *wheel);

/*
 * dw_wheel_check: look at the whole wheel; 0, or a negative number that names the broken rule in
 * src/wheel/check.c. For tests and debugging: O(n).
 */
DW_API int dw_wheel_check(const dw_wheel *wheel);

#ifdef __cplusplus
}
#endif

#endif
