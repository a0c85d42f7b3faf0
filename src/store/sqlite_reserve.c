#include "store/sqlite_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/usec.h"
#include "port/clock.h"

#define TRY_AGAIN DW_SECONDS(1)

static dw_usec steady(void)
{
	struct clock clock = clock_system();

	return clock.steady(clock.user);
}

bool sqlite_reserve_take(struct sqlite_reserve *reserve)
{
	int fd = open(reserve->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool taken;

	reserve->tried = steady();
	if (fd < 0)
		return false;
	taken = posix_fallocate(fd, 0, SQLITE_RESERVE_SIZE) == 0;
	if (!taken)
		(void)!ftruncate(fd, 0); /* a part of it helps nobody */
	(void)close(fd);                 /* no bytes were written */
	return taken;
}

bool sqlite_reserve_spend(struct sqlite_reserve *reserve)
{
	struct stat status;

	reserve->tried = steady();
	return stat(reserve->path, &status) == 0 && status.st_size > 0 &&
	       truncate(reserve->path, 0) == 0;
}

bool sqlite_reserve_is_due(const struct sqlite_reserve *reserve)
{
	return usec_sub(steady(), reserve->tried) >= TRY_AGAIN;
}
