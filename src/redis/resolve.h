/* Looks a host name up in a separate thread, because getaddrinfo() blocks until the name server
 * answers. Nobody can stop such a thread, so a look-up that the caller gives up frees itself when
 * getaddrinfo() returns. */
#ifndef DW_REDIS_RESOLVE_H
#define DW_REDIS_RESOLVE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/alloc.h"

enum { RESOLVE_MAX = 8 };

struct resolve_address {
	struct sockaddr_storage address;
	socklen_t size;
};

struct resolve_result {
	int error; /* error code of getaddrinfo(); 0 if it succeeded */
	unsigned count;
	struct resolve_address found[RESOLVE_MAX];
};

/* resolve_number returns true if host is a numeric address; then *ret_result has that address. */
bool resolve_number(const char *host, const char *port, struct resolve_result *ret_result);

struct resolver;

/* resolve_begin starts the look-up. Returns NULL without memory, or if no thread can be started. */
struct resolver *resolve_begin(const struct alloc *, const char *host, const char *port);

/* resolve_descriptor returns a descriptor that becomes readable when the look-up is done.
 * resolve_take returns true if it is done; then *ret_result has its result. */
int resolve_descriptor(const struct resolver *);
bool resolve_take(struct resolver *, struct resolve_result *ret_result);

/* resolve_end frees the look-up, whether it is done or not. NULL is allowed. */
void resolve_end(struct resolver *);

#endif
