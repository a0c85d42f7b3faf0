#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *rng, uint64_t limit)
{
	/* The high word of a 128-bit product needs no division. Its bias is negligible (Lemire
	 * 2019). */
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)(((wide)rng_next(rng) * limit) >> 64);
}

uint64_t rng_seed(void)
{
	struct timespec now;
	uint64_t seed;

	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
		return seed;
	/* Early in boot the kernel has no entropy. The time and the pid then differ from those of
	 * other processes. */
	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
	return ((uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 48;
}

const char *rng_id(struct rng *rng, char *ret_id)
{
	uint64_t high = rng ? rng_next(rng) : rng_seed();
	uint64_t low = rng ? rng_next(rng) : rng_seed();

	(void)snprintf(ret_id, RNG_ID_SIZE, "%016" PRIx64 "%016" PRIx64, high, low);
	return ret_id;
}
