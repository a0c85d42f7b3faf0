/* A Redis store on a link whose replies the test makes. There is no server, and only the test's
 * clock. The test calls the parts of the store itself. */
#ifndef DW_TESTS_STUB_LINK_H
#define DW_TESTS_STUB_LINK_H

#include "redis/link.h"
#include "store/redis/core.h"

struct stub_link {
	struct link link; /* must be first */
	dw_usec now;      /* the time of the wall clock and the steady clock */
	struct alloc alloc;
	uint64_t connection; /* 0: there is no connection */
	const char *trouble;
	unsigned unanswered; /* the number of commands without a reply */
	/* sent is called for each command, unless it is NULL. answer makes the reply to the oldest
	 * command, or returns NULL if there is no reply yet. */
	void (*sent)(struct stub_link *, int count, const char *const *words, const size_t *sizes);
	struct reply *(*answer)(struct stub_link *);
};

/* stub_env is the environment of a client whose wall and steady clock are *now. */
dw_store_env stub_env(dw_usec *now);

/* stub_open makes a client's store with this number of shards and a connection. stub_close frees
 * it. */
struct redis_store *stub_open(struct stub_link *, unsigned shards);
void stub_close(struct redis_store *);

#endif
