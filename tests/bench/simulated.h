/*
 * simulated.h: libev and libuv are told a time that does not pass by itself.
 *
 * This program defines clock_gettime(), and the dynamic linker gives it to both in place of the C
 * library's. It defines epoll_wait() and epoll_pwait(), too, so that a turn of their loops makes no
 * system call: they are charged for their timers only.
 */
#ifndef BENCH_SIMULATED_H
#define BENCH_SIMULATED_H

#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

static int64_t simulated_ns;

EXPORTED int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	(void)clock;
	ret_time->tv_sec = simulated_ns / 1000000000 + 1000;
	ret_time->tv_nsec = simulated_ns % 1000000000;
	return 0;
}

EXPORTED int epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
	(void)fd;
	(void)events;
	(void)max;
	(void)timeout_ms;
	return 0;
}

EXPORTED int epoll_pwait(int fd, struct epoll_event *events, int max, int timeout_ms,
			 const sigset_t *signals)
{
	(void)signals;
	return epoll_wait(fd, events, max, timeout_ms);
}

#endif
