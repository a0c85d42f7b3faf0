/* A Redis store on a link that a test answers: no server, no time but the test's. The test calls
 * the parts of the store itself. */
#ifndef DW_TESTS_STUB_LINK_H
#define DW_TESTS_STUB_LINK_H

#include "redis/link.h"
#include "store/redis/core.h"

struct stub_link {
	struct link link; /* first */
	dw_usec now;      /* wall and steady clock */
	struct alloc alloc;
	uint64_t connection; /* 0: there is none */
	const char *trouble;
	unsigned unanswered; /* commands without a reply */
	/* sent is told each command; NULL: nobody. answer makes the reply to the oldest command;
	 * NULL: there is none yet. */
	void (*sent)(struct stub_link *, int count, const char *const *words, const size_t *sizes);
	struct reply *(*answer)(struct stub_link *);
};

/* stub_env is the environment of a client whose wall and steady clock are *now. */
dw_store_env stub_env(dw_usec *now);

/* stub_open makes a client's store with so many shards and a connection. stub_close frees it. */
struct redis_store *stub_open(struct stub_link *, unsigned shards);
void stub_close(struct redis_store *);

#endif
