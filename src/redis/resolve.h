/* The addresses of a host name, looked up in a thread of its own, because getaddrinfo() may block
 * for as long as a name server does not answer. Nobody can end such a thread: a look-up that is
 * given up frees itself when it is through. */
#ifndef DW_REDIS_RESOLVE_H
#define DW_REDIS_RESOLVE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/alloc.h"

enum { LOOKUP_MAX = 8 };

struct lookup_address {
	struct sockaddr_storage address;
	socklen_t size;
};

struct lookup_result {
	int error; /* of getaddrinfo(), 0: none */
	unsigned count;
	struct lookup_address found[LOOKUP_MAX];
};

/* lookup_number: true: host is an address itself, and *ret_result is it. */
bool lookup_number(const char *host, const char *port, struct lookup_result *ret_result);

struct lookup;

/* lookup_begin: NULL: no memory, or no thread. */
struct lookup *lookup_begin(const struct alloc *, const char *host, const char *port);

/* lookup_descriptor: readable when it is done. */
int lookup_descriptor(const struct lookup *);
bool lookup_take(struct lookup *, struct lookup_result *ret_result);

/* lookup_end: done or not. NULL is allowed. */
void lookup_end(struct lookup *);

#endif
