#include "loop/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/usec.h"

/* When no deadline is armed, the timerfd is set to the year 2200. So it still notices when the
 * clock is set. */
#define FAR_AHEAD DW_SECONDS(7258118400)

struct loop {
	struct alloc alloc;
	struct clock clock;
	int hooked_clock;
	int epoll_fd;
	int timer_fd;
	int event_fd;
	dw_usec armed;    /* the time for which the timerfd is armed, or ARMED_UNKNOWN */
	atomic_int woken; /* set by a wake-up; a spin sees it without a system call */
	atomic_int stopped;
	/* These are times of the kernel's wall clock; see loop_overdue(). */
	_Atomic dw_usec due;      /* when a turn is needed */
	_Atomic dw_usec woken_at; /* when the loop was woken; 0: not woken */
	_Atomic dw_usec began;    /* when the present turn began; 0: none */
};

#define ARMED_UNKNOWN (DW_NEVER - 1)

/* ---- Arming and waking --------------------------------------------------------------------- */

static dw_usec wall(void)
{
	struct clock real = clock_system();

	return real.wall(real.user);
}

static void set_time(_Atomic dw_usec *time, dw_usec value)
{
	atomic_store_explicit(time, value, memory_order_relaxed);
}

static dw_usec time_of(const _Atomic dw_usec *time)
{
	return atomic_load_explicit(time, memory_order_relaxed);
}

dw_usec loop_overdue(const struct loop *loop)
{
	dw_usec woken_at = time_of(&loop->woken_at);
	dw_usec began = time_of(&loop->began);
	dw_usec since = time_of(&loop->due);

	since = woken_at ? usec_min(since, woken_at) : since;
	since = began ? usec_min(since, began) : since;
	return usec_max(usec_sub(wall(), since), 0);
}

void loop_begin(struct loop *loop)
{
	set_time(&loop->woken_at, 0);
	set_time(&loop->due, wall());
}

/* kernel_time converts `at` to the kernel's clock, from which a hooked clock may differ. */
static dw_usec kernel_time(const struct loop *loop, dw_usec at)
{
	struct clock real = clock_system();

	if (!loop->hooked_clock || at >= FAR_AHEAD)
		return at;
	return usec_add(real.wall(NULL), usec_sub(at, loop->clock.wall(loop->clock.user)));
}

static void arm(void *user, dw_usec at)
{
	struct loop *loop = user;
	struct itimerspec spec = {.it_interval = {0}};
	dw_usec time;

	set_time(&loop->began, 0);
	if (at == loop->armed)
		return;
	time = usec_max(1, usec_min(kernel_time(loop, at), FAR_AHEAD));
	spec.it_value =
	    (struct timespec){.tv_sec = time / 1000000, .tv_nsec = time % 1000000 * 1000};
	/* ECANCELED means that the clock was set meanwhile. The timer is armed nevertheless. Its
	 * descriptor stays readable until the next turn, which looks at the clocks. */
	(void)timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &spec,
			      NULL);
	loop->armed = at;
	set_time(&loop->due, time);
}

static void wake(void *user)
{
	struct loop *loop = user;
	uint64_t one = 1;
	int saved = errno; /* a signal handler may call dw_stop() */

	if (atomic_exchange(&loop->woken, 1) == 0)
		set_time(&loop->woken_at, wall());
	while (write(loop->event_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	errno = saved;
}

struct loop_port loop_port(struct loop *loop)
{
	return (struct loop_port){.arm = arm, .wake = wake, .user = loop};
}

int loop_fd(const struct loop *loop)
{
	return loop->epoll_fd;
}

dw_usec loop_armed(const struct loop *loop)
{
	return loop->armed;
}

bool loop_is_woken(const struct loop *loop)
{
	return atomic_load(&loop->woken) != 0;
}

void loop_drain(struct loop *loop)
{
	uint64_t count;

	set_time(&loop->began, wall());
	set_time(&loop->woken_at, 0);
	atomic_store(&loop->woken, 0);
	(void)!read(loop->event_fd, &count, sizeof count); /* EAGAIN: there was no wake-up */
	if (read(loop->timer_fd, &count, sizeof count) > 0 || errno == ECANCELED)
		loop->armed = ARMED_UNKNOWN;
}

void loop_wait(struct loop *loop, dw_usec patience)
{
	struct pollfd readable = {.fd = loop->epoll_fd, .events = POLLIN};
	struct timespec timeout = {.tv_sec = patience / 1000000,
				   .tv_nsec = patience % 1000000 * 1000};

	if (patience > 0)
		(void)ppoll(&readable, 1, &timeout, NULL); /* after EINTR the caller waits again */
}

/* ---- Running ------------------------------------------------------------------------------- */

/* spin reads the clock until due. The steady clock limits the time, because the wall clock may be
 * set back. */
static void spin(const struct loop *loop, dw_usec due, dw_usec most)
{
	dw_usec begin = loop->clock.steady(loop->clock.user);

	while (!atomic_load(&loop->woken) && loop->clock.wall(loop->clock.user) < due &&
	       usec_sub(loop->clock.steady(loop->clock.user), begin) < most)
		;
}

void loop_sleep(struct loop *loop, dw_usec due, dw_usec most)
{
	struct epoll_event event;
	/* The loop spins only before a firing, and not before a report or a claim. */
	int spins = most > 0 && due == loop->armed;

	if (spins)
		arm(loop, usec_sub(due, most));
	(void)epoll_wait(loop->epoll_fd, &event, 1, -1); /* after EINTR the turn finds no work */
	if (spins && usec_sub(due, loop->clock.wall(loop->clock.user)) <= most)
		spin(loop, due, most);
}

int loop_take_stop(struct loop *loop)
{
	return atomic_exchange(&loop->stopped, 0);
}

void loop_stop(struct loop *loop)
{
	atomic_store(&loop->stopped, 1);
	wake(loop);
}

/* ---- Making and freeing -------------------------------------------------------------------- */

static int watch(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};

	return fd < 0 ? -1 : epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

int loop_watch(struct loop *loop, int fd)
{
	return watch(loop->epoll_fd, fd) < 0 ? DW_ESYS : DW_OK;
}

void loop_unwatch(struct loop *loop, int fd)
{
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd,
			NULL); /* cannot fail: fd is in the set */
}

static int open_descriptors(struct loop *loop)
{
	loop_begin(loop);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	loop->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (loop->epoll_fd < 0 || watch(loop->epoll_fd, loop->timer_fd) < 0 ||
	    watch(loop->epoll_fd, loop->event_fd) < 0)
		return DW_ESYS;
	return DW_OK;
}

int loop_new(struct loop **ret_loop, const struct alloc *alloc, const struct clock *clock,
	     int hooked_clock)
{
	struct loop *loop = alloc_new(alloc, sizeof *loop);

	if (!loop)
		return DW_ENOMEM;
	*loop = (struct loop){.alloc = *alloc,
			      .clock = *clock,
			      .hooked_clock = hooked_clock,
			      .epoll_fd = -1,
			      .timer_fd = -1,
			      .event_fd = -1,
			      .armed = ARMED_UNKNOWN};
	if (open_descriptors(loop) != DW_OK) {
		int saved = errno;

		loop_free(loop);
		errno = saved;
		return DW_ESYS;
	}
	*ret_loop = loop;
	return DW_OK;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		(void)close(fd); /* close() of these descriptors reports no error */
}

void loop_free(struct loop *loop)
{
	struct alloc alloc = loop->alloc;

	close_if_open(loop->timer_fd);
	close_if_open(loop->event_fd);
	close_if_open(loop->epoll_fd);
	alloc_free(&alloc, loop);
}
