/* One descriptor that is readable when the engine has work: a private epoll set with an absolute
 * timerfd for the next deadline and an eventfd for wake-ups. Any loop can watch it; ours is
 * loop_sleep and a turn, again and again. A clock that is set cancels the timerfd, which wakes too.
 */
#ifndef DW_LOOP_LOOP_H
#define DW_LOOP_LOOP_H

#include "base/alloc.h"
#include "port/clock.h"
#include "port/loop.h"

struct loop;

/* loop_new: DW_OK, DW_ENOMEM, DW_ESYS (errno says why). With hooked_clock, deadlines are on clock
 * and not on CLOCK_REALTIME. */
int loop_new(struct loop **ret_loop, const struct alloc *, const struct clock *, int hooked_clock);
void loop_free(struct loop *);

struct loop_port loop_port(struct loop *);
int loop_fd(const struct loop *);

/* loop_watch: the loop's descriptor is readable when fd is, too, until loop_unwatch(), which comes
 * before fd is closed. DW_OK, DW_ESYS (errno says why). */
int loop_watch(struct loop *, int fd);
void loop_unwatch(struct loop *, int fd);

/* loop_drain makes the descriptor unreadable again: before a turn. */
void loop_drain(struct loop *);

/* loop_wait blocks until the descriptor is readable, at most for patience. */
void loop_wait(struct loop *, dw_usec patience);

/* loop_sleep blocks until the descriptor is readable. If the turn that is armed is that of a firing
 * at due, it returns at due, and spins for the last part of the time, of length most. */
void loop_sleep(struct loop *, dw_usec due, dw_usec most);

/* loop_stop makes the next loop_take_stop return 1, once, and wakes. Any thread, signal handlers
 * too. */
void loop_stop(struct loop *);
int loop_take_stop(struct loop *);

#endif
