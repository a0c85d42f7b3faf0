#include "support/shortage.h"

#include <stdlib.h>

#include "support/environment.h"

/* count counts an allocation. Returns true if the allocation must fail. */
static bool count(struct shortage *shortage, const void *block, size_t size)
{
	bool fails;

	if (size == 0) {
		shortage->blocks -= block != NULL;
		return false;
	}
	shortage->calls++;
	fails =
	    shortage->fail_at > 0 && (shortage->calls == shortage->fail_at ||
				      (shortage->always && shortage->calls > shortage->fail_at));
	shortage->failed = shortage->failed || fails;
	shortage->blocks += !fails && !block;
	return fails;
}

void *shortage_resize(void *user, void *block, size_t size)
{
	struct shortage *shortage = user;
	bool fails;

	pthread_mutex_lock(&shortage->mutex);
	fails = count(shortage, block, size);
	pthread_mutex_unlock(&shortage->mutex);
	if (size == 0) {
		free(block);
		return NULL;
	}
	return fails ? NULL : realloc(block, size);
}

void shortage_begin(struct shortage *shortage, size_t nth, bool always)
{
	pthread_mutex_lock(&shortage->mutex);
	shortage->fail_at = shortage->calls + nth;
	shortage->always = always;
	pthread_mutex_unlock(&shortage->mutex);
}

void shortage_end(struct shortage *shortage)
{
	pthread_mutex_lock(&shortage->mutex);
	shortage->fail_at = 0;
	pthread_mutex_unlock(&shortage->mutex);
}

bool shortage_failed(struct shortage *shortage)
{
	bool failed;

	pthread_mutex_lock(&shortage->mutex);
	failed = shortage->failed;
	pthread_mutex_unlock(&shortage->mutex);
	return failed;
}

size_t shortage_step(void)
{
	uint64_t scale = environment_scaled(100);

	return scale >= 100 ? 1 : (size_t)(1 + 100 / scale);
}
