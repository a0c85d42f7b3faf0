/* A descriptor that is readable when the engine has work: a private epoll set with a timerfd for
 * the next deadline and an eventfd for wake-ups. Any event loop can watch it. The library's own
 * loop alternates loop_sleep() and a turn. The timerfd is absolute, so setting the clock cancels
 * it; this also wakes the loop. */
#ifndef DW_LOOP_LOOP_H
#define DW_LOOP_LOOP_H

#include <stdbool.h>

#include "base/alloc.h"
#include "port/clock.h"
#include "port/loop.h"

struct loop;

/* loop_new makes a loop. It returns DW_OK, DW_ENOMEM or DW_ESYS. With DW_ESYS errno says why. If
 * hooked_clock is true, deadlines are times of `clock` instead of CLOCK_REALTIME. */
int loop_new(struct loop **ret_loop, const struct alloc *, const struct clock *, int hooked_clock);
void loop_free(struct loop *);

struct loop_port loop_port(struct loop *);
int loop_fd(const struct loop *);

/* loop_watch makes the loop's descriptor readable when fd is, until loop_unwatch(). Call
 * loop_unwatch() before closing fd. loop_watch returns DW_OK, or DW_ESYS with the reason in
 * errno. */
int loop_watch(struct loop *, int fd);
void loop_unwatch(struct loop *, int fd);

/* loop_armed returns the time for which the last turn has armed the loop. loop_is_woken returns
 * true if a wake-up came after the last loop_drain(). */
dw_usec loop_armed(const struct loop *);
bool loop_is_woken(const struct loop *);

/* loop_overdue returns for how long a turn has been overdue, or 0. A turn that is not over is
 * overdue since it began. Any thread may call it. */
dw_usec loop_overdue(const struct loop *);

/* loop_begin says that the first turn is due now. The time that was spent on opening does not count
 * as overdue. */
void loop_begin(struct loop *);

/* loop_drain makes the descriptor unreadable again. Call it before a turn. */
void loop_drain(struct loop *);

/* loop_wait blocks until the descriptor is readable, at most for patience. */
void loop_wait(struct loop *, dw_usec patience);

/* loop_sleep blocks until the descriptor is readable. If the loop is armed for a firing at due, it
 * returns at due, and spins for the last part of the time, at most `most`. */
void loop_sleep(struct loop *, dw_usec due, dw_usec most);

/* loop_stop wakes the loop, and makes the next loop_take_stop() return 1, once. Any thread or
 * signal handler may call it. */
void loop_stop(struct loop *);
int loop_take_stop(struct loop *);

#endif
