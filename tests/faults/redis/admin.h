/* Actions of an operator with redis-cli on the server of a test. Each call opens its own
 * connection. */
#ifndef DW_TESTS_REDIS_ADMIN_H
#define DW_TESTS_REDIS_ADMIN_H

#include <hiredis/hiredis.h>

#include "support/redis_server.h"

/* admin_ask sends a command, in the format of hiredis. Returns the reply, which the caller frees,
 * or NULL if the server does not answer. */
redisReply *admin_ask(const struct redis_server *, const char *format, ...);

/* admin_do aborts if the server refuses. */
void admin_do(const struct redis_server *, const char *format, ...);

/* admin_number returns the value of an integer reply, or -1 for any other reply. */
long long admin_number(const struct redis_server *, const char *format, ...);

#endif
