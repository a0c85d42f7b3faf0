#include "handle/handle.h"

#include <stdio.h>
#include <unistd.h>

#include "durawheel/testing.h"
#include "base/rng.h"
#include "base/usec.h"

int handle_is_own_thread(const dw *d)
{
	return pthread_equal(d->thread, pthread_self());
}

bool handle_has_test_clock(const dw *d)
{
	return (d->options.flags & DW_TEST_CLOCK) != 0;
}

/* refuse_elsewhere logs why a call from another thread was refused, because the last error belongs
 * to the handle's thread. */
static int refuse_elsewhere(const dw *d, int status, const char *why)
{
	char line[DW_MESSAGE_SIZE];

	(void)snprintf(line, sizeof line, "a call from another thread is refused: %.190s", why);
	posts_warn(d->posts, &d->options, line);
	return status;
}

int handle_refuse(const dw *d, int status, const char *why)
{
	if (!handle_is_own_thread(d))
		return refuse_elsewhere(d, status, why);
	return engine_fail(d->engine, status, "%s", why);
}

int handle_admit_look(const dw *d)
{
	if (!d)
		return DW_EINVAL;
	if (d->pid != getpid())
		return DW_EFORK;
	return handle_is_own_thread(d) ? DW_OK : DW_ETHREAD;
}

int handle_admit(const dw *d)
{
	int status = handle_admit_look(d);

	if (status == DW_OK && d->closing)
		return handle_refuse(d, DW_ECLOSED, "the handle is being closed");
	return status;
}

int handle_admit_with(const dw *d, const void *argument, const char *why)
{
	int status = handle_admit(d);

	if (status == DW_OK && !argument)
		return handle_refuse(d, DW_EINVAL, why);
	return status;
}

int handle_admit_driver(const dw *d)
{
	int status = handle_admit_look(d);

	if (status == DW_OK && engine_in_callback(d->engine))
		return handle_refuse(d, DW_EBUSY, "not from inside a callback");
	return status == DW_OK ? handle_admit(d) : status;
}

const char *handle_make_id(dw *d, char *ret_id)
{
	return handle_is_own_thread(d) ? engine_make_id(d->engine, ret_id) : rng_id(NULL, ret_id);
}

int handle_ask(dw *d, const struct request *request)
{
	char message[DW_MESSAGE_SIZE];
	int status = handle_admit(d);

	if (status == DW_ETHREAD) {
		status = request_check(request, d->options.data_max_bytes, message);
		return status == DW_OK ? posts_send(d->posts, request)
				       : refuse_elsewhere(d, status, message);
	}
	return status == DW_OK ? request_do(request, d->engine) : status;
}

/* handle_turn returns DW_OK. In a forked child it returns DW_EFORK, because the child's copy of the
 * loop may run on, but must do nothing. */
int handle_turn(void *user)
{
	dw *d = user;
	enum health health;
	unsigned shard;
	int status;

	if (d->pid != getpid())
		return DW_EFORK;
	/* A callback may run the caller's loop, which calls this function inside a turn. Then the
	 * wake-up stays in the descriptor, for the next turn. */
	if (engine_in_callback(d->engine))
		return DW_OK;
	loop_drain(d->loop);
	status = engine_turn(d->engine);
	health = d->closing ? HEALTH_CLOSES : engine_health(d->engine);
	shard = health == HEALTH_LEASE || health == HEALTH_REFUSED || health == HEALTH_UNOWNED
		    ? engine_health_shard(d->engine)
		    : 0;
	atomic_store_explicit(&d->health, (int)health | (int)shard << HEALTH_BITS,
			      memory_order_relaxed);
	return status;
}

dw_usec handle_patience_end(dw_usec patience)
{
	struct clock real = clock_system();

	return usec_add(real.steady(real.user), usec_max(patience, 0));
}

dw_usec handle_patience_left(dw_usec end)
{
	struct clock real = clock_system();

	return usec_max(usec_sub(end, real.steady(real.user)), 0);
}

int handle_turn_until_settled(dw *d, dw_usec patience)
{
	dw_usec end = handle_patience_end(patience);

	if (handle_turn(d) != DW_OK)
		return DW_EFORK;
	while (!engine_settled(d->engine) || !posts_idle(d->posts)) {
		dw_usec left = handle_patience_left(end);

		if (left == 0)
			return DW_ETIMEOUT;
		loop_wait(d->loop, left);
		if (handle_turn(d) != DW_OK)
			return DW_EFORK;
	}
	return DW_OK;
}
