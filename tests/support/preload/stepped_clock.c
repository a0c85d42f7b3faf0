/* A library to preload into a process. It controls the wall clock of the process: a shared file
 * (struct stepped of faults/stepped.h) contains how far this clock is ahead of the kernel's clock.
 * A step has the same effects as in the kernel. A timerfd of CLOCK_REALTIME moves along. With
 * TFD_TIMER_CANCEL_ON_SET it becomes readable and returns ECANCELED. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "faults/stepped.h"

enum { FDS = 1024, NSEC = 1000000000 };

/* A timerfd of CLOCK_REALTIME. */
struct timer {
	bool is_one;
	bool absolute;
	bool cancels;
	bool cancelled;
	struct itimerspec spec; /* in the time of the process's clock */
};

static struct stepped *stepped;
static struct timer timers[FDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The real function is found at its first call, which may come before any constructor. */
#define REAL(name, type, ...)                                                                      \
	static type (*real)(__VA_ARGS__);                                                          \
	if (!real)                                                                                 \
	*(void **)&real = dlsym(RTLD_NEXT, #name)

static int64_t ahead(void)
{
	return stepped ? atomic_load(&stepped->ahead_us) * 1000 : 0;
}

static struct timespec shifted(struct timespec time, int64_t nsec)
{
	int64_t all = time.tv_nsec + nsec % NSEC;
	int64_t carry = all < 0 ? -1 : all / NSEC;

	return (struct timespec){.tv_sec = time.tv_sec + nsec / NSEC + carry,
				 .tv_nsec = all - carry * NSEC};
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	REAL(clock_gettime, int, clockid_t, struct timespec *);
	int status = real(clock, time);

	if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		*time = shifted(*time, ahead());
	return status;
}

static int set_real(int fd, int flags, const struct itimerspec *spec, struct itimerspec *before)
{
	REAL(timerfd_settime, int, int, int, const struct itimerspec *, struct itimerspec *);

	return real(fd, flags, spec, before);
}

/* arm arms the real timerfd. Call it under the mutex. A time in the past is due at once, because a
 * time of zero would disarm the timerfd. */
static int arm(int fd)
{
	struct itimerspec spec = timers[fd].spec;

	if (spec.it_value.tv_sec != 0 || spec.it_value.tv_nsec != 0) {
		spec.it_value = shifted(spec.it_value, -ahead());
		if (spec.it_value.tv_sec < 0)
			spec.it_value = (struct timespec){.tv_nsec = 1};
	}
	return set_real(fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

int timerfd_create(int clock, int flags)
{
	REAL(timerfd_create, int, int, int);
	int fd = real(clock, flags);

	pthread_mutex_lock(&mutex);
	if (fd >= 0 && fd < FDS)
		timers[fd] = (struct timer){.is_one = clock == CLOCK_REALTIME};
	pthread_mutex_unlock(&mutex);
	return fd;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *spec, struct itimerspec *before)
{
	int status;

	if (!stepped || fd < 0 || fd >= FDS || !timers[fd].is_one || !(flags & TFD_TIMER_ABSTIME))
		return set_real(fd, flags, spec, before);
	pthread_mutex_lock(&mutex);
	timers[fd] = (struct timer){.is_one = true,
				    .absolute = true,
				    .cancels = flags & TFD_TIMER_CANCEL_ON_SET,
				    .spec = *spec};
	status = arm(fd);
	pthread_mutex_unlock(&mutex);
	return status;
}

ssize_t read(int fd, void *bytes, size_t size)
{
	REAL(read, ssize_t, int, void *, size_t);
	ssize_t got = real(fd, bytes, size);
	bool cancelled;

	if (!stepped || fd < 0 || fd >= FDS || !timers[fd].is_one)
		return got;
	pthread_mutex_lock(&mutex);
	cancelled = timers[fd].cancelled;
	timers[fd].cancelled = false;
	pthread_mutex_unlock(&mutex);
	if (!cancelled)
		return got;
	errno = ECANCELED;
	return -1;
}

int close(int fd)
{
	REAL(close, int, int);

	if (fd >= 0 && fd < FDS) {
		pthread_mutex_lock(&mutex);
		timers[fd] = (struct timer){0};
		pthread_mutex_unlock(&mutex);
	}
	return real(fd);
}

/* step does what the kernel does when the clock is set. Call it under the mutex. */
static void step(int fd)
{
	struct timer *timer = &timers[fd];
	struct itimerspec at_once = {.it_value = {.tv_nsec = 1}};

	if (!timer->absolute)
		return;
	if (!timer->cancels) {
		(void)arm(fd);
		return;
	}
	timer->cancelled = true;
	(void)set_real(fd, TFD_TIMER_ABSTIME, &at_once, NULL);
}

static void *watch(void *unused)
{
	uint32_t seen = 0;

	(void)unused;
	for (;;) {
		uint32_t steps = atomic_load(&stepped->steps);

		if (steps == seen) {
			(void)syscall(SYS_futex, &stepped->steps, FUTEX_WAIT, steps, NULL, NULL, 0);
			continue;
		}
		seen = steps;
		pthread_mutex_lock(&mutex);
		for (int fd = 0; fd < FDS; fd++)
			step(fd);
		pthread_mutex_unlock(&mutex);
		atomic_store(&stepped->seen, seen);
		(void)syscall(SYS_futex, &stepped->seen, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("DW_STEPPED_CLOCK");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	pthread_t thread;
	sigset_t all, before;
	void *shared;

	if (fd < 0)
		return;
	shared = mmap(NULL, sizeof *stepped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (shared == MAP_FAILED)
		abort();
	stepped = shared;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, watch, NULL) != 0)
		abort();
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
