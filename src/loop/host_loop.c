#include "loop/host_loop.h"

#include <ev.h>

#include "durawheel/error.h"

struct host_loop {
	struct alloc alloc;
	host_loop_turn_fn turn;
	void *user;
	struct ev_loop *ev;
	struct ev_io watcher;
};

static void on_readable(struct ev_loop *ev, struct ev_io *watcher, int events)
{
	struct host_loop *host = watcher->data;

	(void)events;
	/* In a forked child turn() fails, because the child may not turn. Without this stop, the
	 * descriptor would stay readable for ever. */
	if (host->turn(host->user) != DW_OK)
		ev_io_stop(ev, watcher);
}

struct host_loop *host_loop_new(const struct alloc *alloc, host_loop_turn_fn turn, void *user)
{
	struct host_loop *host = alloc_new(alloc, sizeof *host);

	if (host)
		*host = (struct host_loop){.alloc = *alloc, .turn = turn, .user = user};
	return host;
}

void host_loop_enter(struct host_loop *host, struct ev_loop *ev, int fd)
{
	host->ev = ev;
	ev_io_init(&host->watcher, on_readable, fd, EV_READ);
	host->watcher.data = host;
	ev_io_start(ev, &host->watcher);
}

void host_loop_free(struct host_loop *host)
{
	struct alloc alloc;

	if (!host)
		return;
	alloc = host->alloc;
	if (host->ev)
		ev_io_stop(host->ev, &host->watcher);
	alloc_free(&alloc, host);
}
