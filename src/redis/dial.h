/* Making a connection: the name is looked up, and its addresses are tried one after the other. Each
 * address gets a share of the time that is left. So an address that never answers does not keep us
 * from one that does. Nothing blocks: the epoll set has what it waits for. */
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
	struct resolver *resolver; /* even if it outlasted the attempt it was begun for */
	bool looking;              /* its descriptor is in the set */
	struct resolve_result addresses;
	unsigned next;         /* address to try */
	int fd;                /* that connects; -1: none */
	int error;             /* errno of the last address */
	dw_usec deadline;      /* of all */
	dw_usec turn_deadline; /* of this address */
};

void dial_init(struct dial *, const struct alloc *, const struct redis_url *, int epoll_fd);

/* Both: after DIAL_FAILED ret_words (DW_MESSAGE_SIZE) say why. dial_work also gives up what is
 * overdue. */
enum dial_verdict dial_begin(struct dial *, dw_usec now, dw_usec deadline, char *ret_words);
enum dial_verdict dial_work(struct dial *, dw_usec now, char *ret_words);
dw_usec dial_due(const struct dial *);

/* dial_take, after DIAL_DONE: the connected socket, which is in the set for EPOLLOUT. */
int dial_take(struct dial *);

void dial_stop(struct dial *);

/* dial_free: forked: this is a forked child. Its parent still uses the epoll set and the thread. */
void dial_free(struct dial *, bool forked);

#endif
