/* Actions of an operator with redis-cli on the server of a run. Each call opens a connection of its
 * own. */
#ifndef DW_TESTS_REDIS_ADMIN_H
#define DW_TESTS_REDIS_ADMIN_H

#include <hiredis/hiredis.h>

#include "support/redis_server.h"

/* admin_ask: the reply, the caller's; NULL: the server does not answer. Format as in hiredis. */
redisReply *admin_ask(const struct redis_server *, const char *format, ...);

/* admin_do aborts if the server refuses. */
void admin_do(const struct redis_server *, const char *format, ...);

/* admin_number: of an integer reply, -1 for anything else. */
long long admin_number(const struct redis_server *, const char *format, ...);

#endif
