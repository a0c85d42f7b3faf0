/* Tests of your own handlers: a clock that stands still until the test moves it.
 *
 *	dw_options options = {.size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};
 *	dw *d;
 *	dw_open(&d, &options, NULL);
 *	dw_on(d, "order.timeout", cancel_order, &orders);
 *	dw_after(d, "order.timeout", "order:42", DW_MINUTES(30), NULL, 0);
 *	dw_test_advance(d, dw_now(d) + DW_MINUTES(30) - 1);
 *	assert(!orders.cancelled);
 *	dw_test_advance(d, dw_now(d) + 1);
 *	assert(orders.cancelled);
 *	dw_close(d, 0);
 *
 * The engine is that of production: claims, retries and their backoff, holds, batches, late
 * limits, dead letters and events. Only the clocks and the store differ. examples/test_orders.c is
 * a test of a program with cmocka.
 *
 * TIME begins at DW_TEST_START in each handle, and passes only in dw_test_advance(). dw_now(d)
 * reads it. Each handler starts exactly at its deadline: firing->now is firing->due, unless the
 * deadline had already passed at the put.
 *
 * DETERMINISM. Two runs of the same calls do the same. That includes ids that durawheel makes on
 * the handle's thread, and the jitter of retries.
 *
 * THREADS. All callbacks run inside dw_test_advance(), or another call that turns, on the thread
 * that calls it. That includes the handlers of dw_on_worker(), which need options.workers as
 * always. Other threads may call the handle as always. Their calls are done in the next turn, so
 * join them before dw_test_advance() to keep the order.
 *
 * FAILED ASSERTIONS of a test framework often leave by longjmp(), which must not leave a callback.
 * So a handler records what it sees, and the test asserts it after dw_test_advance(). */
#ifndef DURAWHEEL_TESTING_H
#define DURAWHEEL_TESTING_H

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* options.flags: the handle has such a clock. DW_EINVAL of dw_open(): the store is not "memory:",
 * or options.clock is set. dw_run() is refused (DW_EINVAL), because it would wait without end. */
#define DW_TEST_CLOCK 2u

#define DW_TEST_START DW_SECONDS(1893456000) /* 2030-01-01T00:00:00Z */

/* dw_test_advance lets the time pass until `until`, and does all that is due on the way: each
 * thing at its own moment, in the order of the moments. What a handler puts for a moment before
 * `until` is done, too. If `until` is not later than dw_now(), no time passes, and all is done
 * that is due now. An exception of C++ that leaves a handler leaves this call; call it again for
 * the rest.
 *  DW_EINVAL  the handle has no such clock, or until is DW_NEVER
 *  DW_EBUSY   called from inside a callback
 *  DW_ELIMIT  100,000 turns without time passing: handlers go on putting timers that are due at
 *             once */
DW_API int dw_test_advance(dw *, dw_usec until);

#ifdef __cplusplus
}
#endif

#endif
