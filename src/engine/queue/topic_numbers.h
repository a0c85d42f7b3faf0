/* The numbers of the owner's topics: how many timers there are, how late they start, and why due
 * timers wait. */
#ifndef DW_ENGINE_TOPIC_NUMBERS_H
#define DW_ENGINE_TOPIC_NUMBERS_H

#include <stdbool.h>

#include "durawheel/topic.h"

struct engine;
struct topic;

enum { WAITS_COUNT = DW_WAITS_ZONE + 1 };

/* topic_numbers_count fills in what the owner's memory knows of the topic's timers. */
void topic_numbers_count(const struct engine *, const struct topic *, dw_topic_info *);

/* topic_numbers_tell writes the numbers of all topics into the store, if they have changed. */
void topic_numbers_tell(struct engine *);

/* topic_numbers_waits counts the timers that are due, by the reason why they wait. It returns true
 * if a count will change soon by itself. */
bool topic_numbers_waits(struct engine *, uint64_t ret_counts[WAITS_COUNT]);

#endif
