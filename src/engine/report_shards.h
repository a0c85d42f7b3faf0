/* What the owner's report says of shards: how many the store has, how many of them this owner
 * fires, and which the server refuses. It says nothing of shards that others have, so that readers
 * may add the reports of several owners. */
#ifndef DW_ENGINE_REPORT_SHARDS_H
#define DW_ENGINE_REPORT_SHARDS_H

#include <stdbool.h>
#include <stddef.h>

struct engine;

/* report_shards adds these fields to a report of `used` bytes. It returns the size of the whole
 * text, and leaves space for the end of the report. */
size_t report_shards(struct engine *, char *text, size_t used);

/* report_refuses reads such a report of any owner. It returns true if the server refuses the shard
 * to that owner. Then it writes the words of the server, which are truncated if they are long. */
bool report_refuses(const char *report, unsigned shard, char *ret_words, size_t size);

#endif
