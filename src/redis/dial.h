/* A connection being made: the name is looked up, and the addresses are tried in turn. Each has its
 * share of the time that is left, so that one that swallows everything does not stand before one
 * that answers. Never blocks; what it waits for is in the epoll set. */
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

/* dial_free: forked: in a child, whose parent goes on with the same set and the same thread. */
void dial_free(struct dial *, bool forked);

#endif
