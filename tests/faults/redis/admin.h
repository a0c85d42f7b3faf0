/* Actions of an operator with redis-cli on the server of a run. Each call opens a connection of its
 * own. */
#ifndef DW_TESTS_REDIS_ADMIN_H
#define DW_TESTS_REDIS_ADMIN_H

#include <hiredis/hiredis.h>

#include "support/redis_server.h"

/* admin_ask returns the reply, which the caller frees. NULL: the server does not answer. The format
 * is that of hiredis. */
redisReply *admin_ask(const struct redis_server *, const char *format, ...);

/* admin_do aborts if the server refuses. */
void admin_do(const struct redis_server *, const char *format, ...);

/* admin_number: the value of an integer reply; -1 for any other reply. */
long long admin_number(const struct redis_server *, const char *format, ...);

#endif
