/*
 * durawheel/wheel.h: a timing wheel. You add deadlines; due timers come out, in order.
 *
 * The wheel is the in-memory half of durawheel and can be used alone. It contains no store, event
 * loop, clock, callback, thread or I/O. The caller tells it the time and asks which timers are due.
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
 *   dw_wheel_advance(). There is one unavoidable exception: a timer added with a deadline that is
 *   earlier than that of a timer already taken out.
 *   No pause: no call does more work than its comment says, and there is no cascade. The array of
 *   timers grows by realloc, which moves pages instead of copying bytes. This takes 30 us at a
 *   million timers, and up to 0.2 ms once if many more were added and cancelled before. If your
 *   allocator copies, growing causes a pause. dw_wheel_reserve() avoids both.
 *
 * UNITS
 *   Time is a count of ticks in an int64_t. A tick may have any length, and the count any origin;
 *   the whole range may be used. durawheel itself uses microseconds since the Unix epoch, and the
 *   comments speak of microseconds.
 *
 * COST
 *   A wheel takes 57 KiB, and a timer 18 bytes. Each timer takes 4 bytes more once any timer has
 *   been overdue, or after about five adds and moves for each timer that the wheel has room for.
 *   The wheel also allocates up to 1 KiB for each of its 4,608 lists that may be needed at one
 *   time, and room to grow. Neither is touched before it is needed. With both, a timer takes 22 to
 *   28 bytes at a million timers, and 66 to 70 at 100,000.
 *   Add, cancel and move are O(1). A cancel writes two bits; an add writes one entry at the end of
 *   a list. The cancel of the last timer also clears the lists. The entries of cancelled timers are
 *   removed in small steps while others are added. Until then they take up to as much memory again.
 *   A timer moves down at most 7 times. It moves less often if its deadline was near when it was
 *   added, or if few timers are due with it. An advance with nothing to do is two compares.
 *
 * OWNERSHIP
 *   dw_wheel_new() creates a wheel. dw_wheel_free() frees it with all its timers. A timer has no
 *   payload: its index is small and dense, so keep an array of your own beside the wheel. An
 *   advance frees the indexes of all timers that it takes out, and the next add may reuse one.
 *   Therefore look up your payloads for the whole batch before you add a timer.
 *
 * ERRORS
 *   DW_OK or a negative dw_error. A failed call changes nothing. No call aborts, prints or logs.
 *
 * THREADS
 *   There are no locks and no globals. One thread at a time may use a wheel; different wheels are
 *   independent.
 *
 * SOURCE
 *   G. Varghese, T. Lauck: Hashed and Hierarchical Timing Wheels, SOSP 1987. Two things are new
 *   here. The levels overlap by half, so a slot is emptied in small pieces instead of one cascade.
 *   And the order is exact. src/wheel/wheel.c explains both.
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
 * dw_wheel_handle: one timer of one wheel. The low half is its index, the high half a generation. A
 * handle is never 0.
 *
 * A handle is stale once its timer has come out, was cancelled or was moved. Functions then return
 * DW_ENOENT.
 *
 * Never give a handle to another wheel. The wheel may not notice, and may then lose a timer or give
 * one index to two timers. The same holds for a stale handle after 2^32 more adds and moves,
 * because the generations of a wheel then start again.
 */
typedef uint64_t dw_wheel_handle;

/*
 * dw_wheel_index returns the small dense number of a timer. This number is below the largest number
 * of timers that the wheel has held at one time. It is unique among live timers and reused
 * afterwards.
 */
static inline uint32_t dw_wheel_index(dw_wheel_handle handle)
{
	return handle & 0xffffffffu;
}

/* A timer that has come out. */
typedef struct dw_wheel_due {
	dw_wheel_handle handle; /* already stale: only for dw_wheel_index() and comparisons */
	int64_t deadline;
} dw_wheel_due;

/*
 * dw_wheel_allocator is the source of memory. `resize` behaves like realloc(block, size). If size
 * is 0, it frees the block and returns NULL. `user` is passed to it unchanged.
 */
typedef struct dw_wheel_allocator {
	void *(*resize)(void *user, void *block, size_t size);
	void *user;
} dw_wheel_allocator;

/*
 * dw_wheel_new creates an empty wheel whose time is `now`. `allocator` is copied; NULL means
 * malloc. DW_EINVAL: ret_wheel is NULL or the allocator has no resize. DW_ENOMEM.
 */
DW_API int dw_wheel_new(dw_wheel **ret_wheel, int64_t now, const dw_wheel_allocator *allocator);

/* dw_wheel_free frees the wheel and every timer in it. NULL is allowed. */
DW_API void dw_wheel_free(dw_wheel *wheel);

/*
 * dw_wheel_reserve allocates memory for `count` timers at one time. While there are not more, an
 * add or a move to a deadline at or after dw_wheel_now() cannot fail.
 *
 * It also allocates room for as many dead entries of cancelled timers and an eighth more. If that
 * room does not suffice, the wheel asks for more memory. If it gets none, that add looks at all
 * entries: O(n).
 *
 * DW_EINVAL. DW_ENOMEM: the memory that could be allocated stays for later use. DW_ELIMIT: count is
 * more than DW_WHEEL_TIMERS_MAX.
 */
DW_API int dw_wheel_reserve(dw_wheel *wheel, size_t count);

/*
 * dw_wheel_add adds a timer. Any deadline is valid. A timer with a deadline in the past comes out
 * of the next advance, before all later ones. Such an add costs O(log n), or O(1) if such deadlines
 * are added in order. DW_EINVAL. DW_ENOMEM. DW_ELIMIT: the wheel holds DW_WHEEL_TIMERS_MAX timers.
 */
DW_API int dw_wheel_add(dw_wheel *wheel, int64_t deadline, dw_wheel_handle *ret_handle);

/* dw_wheel_cancel removes a timer, so that it will not come out. DW_EINVAL, DW_ENOENT. */
DW_API int dw_wheel_cancel(dw_wheel *wheel, dw_wheel_handle handle);

/*
 * dw_wheel_move gives the timer *handle another deadline. The timer counts as inserted now, after
 * others with the same deadline. It keeps its index and gets a new handle in *handle; the old
 * handle is stale. DW_EINVAL, DW_ENOENT, DW_ENOMEM, DW_ELIMIT: nothing was changed.
 */
DW_API int dw_wheel_move(dw_wheel *wheel, dw_wheel_handle *handle, int64_t deadline);

/* dw_wheel_count returns the number of timers in the wheel. */
DW_API size_t dw_wheel_count(const dw_wheel *wheel);

/*
 * dw_wheel_now returns the wheel's own time. It never goes back and is never later than the largest
 * `now` that the wheel was given. It stays behind while due timers may be left inside.
 */
DW_API int64_t dw_wheel_now(const dw_wheel *wheel);

/*
 * dw_wheel_advance takes out at most `max` timers with a deadline <= now, writes them to `out` in
 * order of deadline and insertion, and returns their number.
 *
 * The work is bounded too. Besides the timers taken out, at most 4 * max + 4096 entries are moved
 * between levels or skipped as cancelled. Therefore fewer than max timers, even 0, may come out
 * while timers are due, for example after a jump of the clock. Call again while dw_wheel_next() <=
 * now: every call makes progress.
 *
 * `now` may go back; timers that are not due by the new time then wait. `max` may be 0. If an
 * argument is NULL, no timer comes out.
 */
DW_API size_t dw_wheel_advance(dw_wheel *wheel, int64_t now, dw_wheel_due *out, size_t max);

/*
 * dw_wheel_next returns a lower bound of the earliest deadline; INT64_MAX if the wheel is empty.
 * O(1).
 *
 * The result is never later than the earliest deadline. It is exact if no timer was cancelled or
 * moved, the last advance was finished, and the earliest deadline is overdue or in the wheel's
 * current bucket of 1.024 ms.
 *
 * Otherwise it is the start of the timer's slot. A caller that sleeps until then and advances gets
 * a better answer, and the exact one if the slot has few timers. A timer far ahead costs at most
 * one such wake-up for each level. A timer in a slot with few others usually costs one.
 *
 * The result may be the time of a cancelled or moved timer until an advance passes it. Therefore a
 * timer need not be due at that time.
 */
DW_API int64_t dw_wheel_next(const dw_wheel *wheel);

/*
 * dw_wheel_next_work returns the latest time for the next dw_wheel_advance(). It is never later
 * than dw_wheel_next().
 *
 * It is earlier if a well-filled slot should be emptied in pieces before its time comes. A piece
 * has about 256 timers or more; a slot with fewer than 250 needs no extra call. Sleeping until
 * dw_wheel_next() is also correct, but then a million timers may have to be moved at one time.
 */
DW_API int64_t dw_wheel_next_work(const dw_wheel *wheel);

/* dw_wheel_bytes returns the size of the memory that the wheel holds, including itself. */
DW_API size_t dw_wheel_bytes(const dw_wheel *wheel);

/*
 * dw_wheel_check checks the whole wheel. Returns 0, or a negative number that names the broken rule
 * in src/wheel/check.c. For tests and debugging: O(n).
 */
DW_API int dw_wheel_check(const dw_wheel *wheel);

#ifdef __cplusplus
}
#endif

#endif
