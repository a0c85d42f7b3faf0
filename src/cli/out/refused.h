/* Reads from the owner's report which shards the owner cannot use. The timers of these shards
 * wait. */
#ifndef DW_CLI_REFUSED_H
#define DW_CLI_REFUSED_H

#include <jansson.h>

#include "durawheel/durawheel.h"

/* refused_line writes which shards cannot be used, or "" if all can be used. The line quotes no
 * message of the server, so everybody may read it. */
#define REFUSED_LINE_SIZE 256
void refused_line(const json_t *report, char ret_line[REFUSED_LINE_SIZE]);

/* refused_shards returns the array of the refused shards, or NULL. Each shard has the keys "shard",
 * "since" and "why". If many shards are refused, the owner reports only some of them. */
const json_t *refused_shards(const json_t *report);

#endif
