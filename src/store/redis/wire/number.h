/* Reads an item of a reply as a number. */
#ifndef DW_STORE_REDIS_NUMBER_H
#define DW_STORE_REDIS_NUMBER_H

#include <stdbool.h>
#include <stdlib.h>

#include "redis/reply.h"

static inline bool is_number(const struct reply *reply)
{
	return reply->kind == REPLY_INTEGER;
}

/* reply_number returns the number in an integer item or in a bulk item of digits. For any other
 * item it returns 0. */
static inline int64_t reply_number(const struct reply *reply)
{
	if (is_number(reply))
		return reply->integer;
	return reply->kind == REPLY_BULK ? strtoll(reply->bytes, NULL, 10) : 0;
}

#endif
