/* What the owner's report says of shards: how many the store has, how many of them this owner
 * fires, and which it is refused. It says nothing of shards that others have, so that readers may
 * add the reports of several owners. */
#ifndef DW_ENGINE_REPORT_SHARDS_H
#define DW_ENGINE_REPORT_SHARDS_H

#include <stdbool.h>
#include <stddef.h>

struct engine;

/* report_shards adds these fields to a report of so many bytes. Returns the size of the whole
 * text, which leaves room for its end. */
size_t report_shards(struct engine *, char *text, size_t used);

/* report_refuses reads such a report of any owner: returns true if the shard is refused to it, and
 * writes the words of the server, which are cut if they are long. */
bool report_refuses(const char *report, unsigned shard, char *ret_words, size_t size);

#endif
