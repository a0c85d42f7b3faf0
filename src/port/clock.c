#include "port/clock.h"

#include <time.h>

#include "base/usec.h"

static dw_usec read_clock(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now); /* cannot fail for a clock that exists since Linux 2.6.39 */
	return usec_add(usec_mul(now.tv_sec, 1000000), now.tv_nsec / 1000);
}

static dw_usec read_wall(void *user)
{
	(void)user;
	return read_clock(CLOCK_REALTIME);
}

static dw_usec read_steady(void *user)
{
	(void)user;
	return read_clock(CLOCK_BOOTTIME);
}

struct clock clock_system(void)
{
	return (struct clock){.wall = read_wall, .steady = read_steady};
}

void clock_hook(struct clock *clock, dw_usec (*wall)(void *user), void *user)
{
	/* read_steady() ignores `user`, so `user` may be the argument of the hook. */
	clock->wall = wall;
	clock->user = user;
}

static dw_usec read_standing(void *user)
{
	return atomic_load((_Atomic dw_usec *)user);
}

struct clock clock_standing(_Atomic dw_usec *now)
{
	return (struct clock){.wall = read_standing, .steady = read_standing, .user = now};
}
