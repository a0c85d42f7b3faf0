/* Makes a connection: looks the name up, and tries its addresses one after the other. Each address
 * gets a share of the time that is left, so an address that never answers does not keep us from one
 * that answers. Nothing blocks: the epoll set watches the descriptor for which the attempt
 * waits. */
#ifndef DW_REDIS_DIAL_H
#define DW_REDIS_DIAL_H

#include "durawheel/durawheel.h"
#include "redis/resolve.h"
#include "redis/url.h"

enum dial_verdict { DIAL_GOES_ON, DIAL_DONE, DIAL_FAILED };

struct dial {
	struct alloc alloc;
	const struct redis_url *url;
	int epoll_fd;
	struct resolver *resolver; /* may still be running from an earlier attempt */
	bool looking;              /* the epoll set watches the resolver's descriptor */
	struct resolve_result addresses;
	unsigned next;         /* index of the address to try next */
	int fd;                /* the socket that is being connected; -1 if there is none */
	int error;             /* errno of the last address that failed */
	bool is_refused;       /* no server listens at any of the addresses that were tried */
	dw_usec deadline;      /* when the whole attempt must end (steady clock) */
	dw_usec turn_deadline; /* when the next address is tried (steady clock) */
};

void dial_init(struct dial *, const struct alloc *, const struct redis_url *, int epoll_fd);

/* dial_begin begins an attempt. dial_work continues it, and gives up an address that takes too
 * long. After DIAL_FAILED ret_words (DW_MESSAGE_SIZE bytes) say why. */
enum dial_verdict dial_begin(struct dial *, dw_usec now, dw_usec deadline, char *ret_words);
enum dial_verdict dial_work(struct dial *, dw_usec now, char *ret_words);
dw_usec dial_due(const struct dial *);

/* dial_take returns the connected socket after DIAL_DONE. The epoll set watches the socket for
 * EPOLLOUT. */
int dial_take(struct dial *);

void dial_stop(struct dial *);

/* dial_free frees the parts of the dialling. `forked` means that this is a forked child, whose
 * parent still uses the epoll set and the thread. */
void dial_free(struct dial *, bool forked);

#endif
