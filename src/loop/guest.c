#include "loop/guest.h"

#include <ev.h>

#include "durawheel/error.h"

struct guest {
	struct alloc alloc;
	guest_turn_fn turn;
	void *user;
	struct ev_loop *ev;
	struct ev_io watcher;
};

static void on_readable(struct ev_loop *ev, struct ev_io *watcher, int events)
{
	struct guest *guest = watcher->data;

	(void)events;
	/* In a forked child the descriptor stays readable for ever, as nobody may turn there. */
	if (guest->turn(guest->user) != DW_OK)
		ev_io_stop(ev, watcher);
}

struct guest *guest_new(const struct alloc *alloc, guest_turn_fn turn, void *user)
{
	struct guest *guest = alloc_new(alloc, sizeof *guest);

	if (guest)
		*guest = (struct guest){.alloc = *alloc, .turn = turn, .user = user};
	return guest;
}

void guest_enter(struct guest *guest, struct ev_loop *ev, int fd)
{
	guest->ev = ev;
	ev_io_init(&guest->watcher, on_readable, fd, EV_READ);
	guest->watcher.data = guest;
	ev_io_start(ev, &guest->watcher);
}

void guest_free(struct guest *guest)
{
	struct alloc alloc;

	if (!guest)
		return;
	alloc = guest->alloc;
	if (guest->ev)
		ev_io_stop(guest->ev, &guest->watcher);
	alloc_free(&alloc, guest);
}
