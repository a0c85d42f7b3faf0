#include "store/fallback/origin.h"

#include <string.h>

#include "base/usec.h"

/* A change of the clock by less than this is not written into the file. */
#define AHEAD_CHANGES DW_MILLISECONDS(50)

static void read_text(char *room, size_t room_size, const char **text, const char *end)
{
	size_t size = strnlen(*text, (size_t)(end - *text));
	size_t kept = size < room_size ? size : room_size - 1;

	memcpy(room, *text, kept);
	room[kept] = '\0';
	*text += size < (size_t)(end - *text) ? size + 1 : size;
}

void origin_read(struct origin *origin, const struct row_words *words, const void *body,
		 size_t size)
{
	const char *text = body;

	origin->ahead = (dw_usec)words->base;
	origin->floor = words->floor;
	read_text(origin->server.era, sizeof origin->server.era, &text, (const char *)body + size);
	read_text(origin->server.address, sizeof origin->server.address, &text,
		  (const char *)body + size);
}

dw_op *origin_op(const struct alloc *alloc, const char *name, const struct origin *origin)
{
	char body[sizeof origin->server.era + sizeof origin->server.address];
	size_t era_size = strlen(origin->server.era) + 1;
	size_t address_size = strlen(origin->server.address) + 1;

	memcpy(body, origin->server.era, era_size);
	memcpy(body + era_size, origin->server.address, address_size);
	return row_op(
	    alloc, name,
	    &(struct row_write){.id = ORIGIN_ID,
				.words = &(struct row_words){.what = ROW_ORIGIN,
							     .base = (uint64_t)origin->ahead,
							     .floor = origin->floor},
				.body = body,
				.body_size = era_size + address_size,
				.is_vital = true});
}

static bool is_same_era(const struct origin *origin, const dw_origin *server)
{
	return server->era[0] && strcmp(origin->server.era, server->era) == 0;
}

bool origin_differs(const struct origin *origin, const dw_origin *server)
{
	return origin->server.address[0] && strcmp(origin->server.address, server->address) != 0 &&
	       !is_same_era(origin, server);
}

bool origin_is_old(const struct origin *origin, const dw_origin *server, dw_usec ahead)
{
	dw_usec change = usec_sub(ahead, origin->ahead);

	return (server->era[0] && !is_same_era(origin, server)) || change > AHEAD_CHANGES ||
	       change < -AHEAD_CHANGES;
}
